//! Writes the bytes of a snapshot, piece by piece.

use crc32fast::Hasher;

use super::{
    DOMAIN, EXPRESSIONS, HEADER_BYTES, MAGIC, NAMES, NUMBERS, SECTION_BYTES, STRINGS, SUM_BYTES,
    VERSION, VERSION_NAMED,
};
use crate::bind::Undefined;
use crate::domain::{AttributeType, Domain};
use crate::index::Sources;
use crate::names::Names;
use crate::snapshot::Snapshot;
use crate::state::State;

/// Size of the pieces of large sections.
const PIECE_BYTES: usize = 64 * 1024;

impl Snapshot {
    /// Writes the snapshot as a file: calls `append` with one piece after the other. Equal snapshots give equal
    /// bytes.
    ///
    /// # Errors
    /// The first error of `append`.
    pub fn save<E>(&self, append: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.save_named(&Names::new(), append)
    }

    /// The same with the names of subscriptions; those of ids that do not exist are left out. Without names the file
    /// is that of [`save`](Self::save).
    ///
    /// # Errors
    /// The first error of `append`.
    pub fn save_named<E>(
        &self,
        names: &Names,
        append: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let state = self.state();
        let merged;
        let sources = match state.parts.as_slice() {
            [part] if part.dead_count == 0 => &part.index.sources,
            _ => {
                merged = all(state);
                &merged
            }
        };
        let dictionary = &state.dictionary;
        let strings_bytes = 4 + dictionary
            .strings()
            .map(|text| 4 + text.len())
            .sum::<usize>();
        let (domain, numbers) = (domain(&state.domain), numbers(state));
        let expressions_bytes = 8 + sources.len() * 12 + sources.words() * 4;
        let sections = [
            domain.len(),
            strings_bytes,
            numbers.len(),
            expressions_bytes,
        ];
        let named: Vec<_> = names
            .iter()
            .filter(|(id, _)| sources.ids.binary_search(id).is_ok())
            .collect();
        let names_bytes = 4 + named
            .iter()
            .map(|(_, name)| 13 + name.as_str().len())
            .sum::<usize>();
        let around = SECTION_BYTES + SUM_BYTES;
        let mut length = HEADER_BYTES + sections.iter().map(|bytes| bytes + around).sum::<usize>();
        let version = match named.is_empty() {
            true => VERSION,
            false => {
                length += around + names_bytes;
                VERSION_NAMED
            }
        };
        let mut out = Out {
            append,
            sum: Hasher::new(),
        };
        out.header(version, state.undefined, length as u64)?;
        out.section(DOMAIN, domain.len(), |out| out.bytes(&domain))?;
        out.section(STRINGS, strings_bytes, |out| {
            out.bytes(&(dictionary.strings_len() as u32).to_le_bytes())?;
            out.all(dictionary.strings(), |text, piece| {
                piece.extend((text.len() as u32).to_le_bytes());
                piece.extend_from_slice(text.as_bytes());
            })
        })?;
        out.section(NUMBERS, numbers.len(), |out| out.bytes(&numbers))?;
        out.section(EXPRESSIONS, expressions_bytes, |out| {
            out.bytes(&(sources.len() as u32).to_le_bytes())?;
            out.bytes(&(sources.words() as u32).to_le_bytes())?;
            out.all(sources.ids.iter(), |id, piece| {
                piece.extend(id.0.to_le_bytes());
            })?;
            let word = |word: &u32, piece: &mut Vec<u8>| piece.extend(word.to_le_bytes());
            out.all(sources.ends().iter(), word)?;
            out.all(sources.all_words().iter(), word)
        })?;
        if named.is_empty() {
            return Ok(());
        }
        out.section(NAMES, names_bytes, |out| {
            out.bytes(&(named.len() as u32).to_le_bytes())?;
            out.all(named.iter(), |(id, name), piece| {
                piece.extend(id.0.to_le_bytes());
                piece.push(u8::from(name.is_integer()));
                piece.extend((name.as_str().len() as u32).to_le_bytes());
                piece.extend_from_slice(name.as_str().as_bytes());
            })
        })
    }
}

/// All live expressions, in the order of their ids.
fn all(state: &State) -> Sources {
    let mut sources = Sources::default();
    for part in &state.parts {
        sources.append(&part.index.sources, |slot| part.is_alive(slot));
    }
    sources.sorted(|_| true)
}

fn domain(domain: &Domain) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend((domain.attributes().len() as u32).to_le_bytes());
    for attribute in domain.attributes() {
        let (code, low, high) = match attribute.kind() {
            AttributeType::Boolean => (0, 0, 0),
            AttributeType::Integer { min, max } => (1, min as u64, max as u64),
            AttributeType::Float { min, max } => (2, min.to_bits(), max.to_bits()),
            AttributeType::String { distinct_max } => (3, 0, distinct_max),
            AttributeType::IntegerList { min, max } => (4, min as u64, max as u64),
            AttributeType::StringList { distinct_max } => (5, 0, distinct_max),
            AttributeType::IntegerEnum { distinct_max } => (6, 0, distinct_max),
            AttributeType::Segments => (7, 0, 0),
            AttributeType::Frequency => (8, 0, 0),
        };
        out.extend([code, u8::from(attribute.allows_undefined())]);
        out.extend(low.to_le_bytes());
        out.extend(high.to_le_bytes());
        out.extend((attribute.name().len() as u32).to_le_bytes());
        out.extend_from_slice(attribute.name().as_bytes());
    }
    out
}

fn numbers(state: &State) -> Vec<u8> {
    let dictionary = &state.dictionary;
    let mut out = Vec::new();
    let count = |out: &mut Vec<u8>, count: usize| out.extend((count as u32).to_le_bytes());
    let (elements, segments, caps) = dictionary.sizes();
    count(&mut out, elements);
    for (attribute, value) in (0..elements as u32).filter_map(|id| dictionary.element(id)) {
        out.extend(attribute.to_le_bytes());
        out.extend(value.to_le_bytes());
    }
    count(&mut out, segments);
    for (attribute, id) in (0..segments as u32).filter_map(|slot| dictionary.segment(slot)) {
        out.extend(attribute.to_le_bytes());
        out.extend(id.to_le_bytes());
    }
    count(&mut out, caps);
    for (kind, by_address, id, namespace) in
        (0..caps as u32).filter_map(|slot| dictionary.cap(slot))
    {
        out.extend([kind.code(), u8::from(by_address)]);
        out.extend(id.to_le_bytes());
        out.extend(namespace.to_le_bytes());
    }
    let values = dictionary.values();
    count(&mut out, values.len());
    for (attribute, value) in values {
        out.extend(attribute.to_le_bytes());
        out.extend(value.to_le_bytes());
    }
    let attributes = state.domain.attributes().len();
    out.extend((0..attributes).map(|attribute| u8::from(dictionary.wants_text(attribute))));
    out
}

struct Out<A> {
    append: A,
    sum: Hasher,
}

impl<A: FnMut(&[u8]) -> Result<(), E>, E> Out<A> {
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), E> {
        self.sum.update(bytes);
        (self.append)(bytes)
    }

    /// Appends the checksum of the bytes since the last one.
    fn close(&mut self) -> Result<(), E> {
        let sum = std::mem::take(&mut self.sum).finalize();
        (self.append)(&sum.to_le_bytes())
    }

    fn header(&mut self, version: u32, undefined: Undefined, length: u64) -> Result<(), E> {
        self.bytes(&MAGIC)?;
        self.bytes(&version.to_le_bytes())?;
        self.bytes(&u32::from(undefined == Undefined::Unknown).to_le_bytes())?;
        self.bytes(&length.to_le_bytes())?;
        self.close()
    }

    fn section(
        &mut self,
        name: [u8; 4],
        length: usize,
        content: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.bytes(&name)?;
        self.bytes(&(length as u64).to_le_bytes())?;
        content(self)?;
        self.close()
    }

    /// Appends many small items in larger pieces.
    fn all<T>(
        &mut self,
        things: impl Iterator<Item = T>,
        mut write: impl FnMut(T, &mut Vec<u8>),
    ) -> Result<(), E> {
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        for thing in things {
            write(thing, &mut piece);
            if piece.len() >= PIECE_BYTES {
                self.bytes(&piece)?;
                piece.clear();
            }
        }
        self.bytes(&piece)
    }
}
