//! Reads a snapshot from the bytes of a file; checks everything before using it.

use std::sync::Arc;

use super::{
    DOMAIN, EXPRESSIONS, HEADER_BYTES, MAGIC, NAMES, NUMBERS, SECTION_BYTES, STRINGS, SUM_BYTES,
    VERSION, VERSION_NAMED, words,
};
use crate::SubscriptionId;
use crate::betree::WORDS_MAX;
use crate::bind::Undefined;
use crate::dictionary::{Dictionary, STRINGS_MAX};
use crate::domain::{AttributeType, Domain};
use crate::error::{Error, ErrorKind, Result};
use crate::expr::CapKind;
use crate::index::Sources;
use crate::names::{Name, Names};
use crate::snapshot::Snapshot;
use crate::state::State;

impl Snapshot {
    /// Loads a file that [`save`](Self::save) wrote. Builds programs and the index again. Memory is in
    /// proportion to the bytes.
    ///
    /// # Errors
    /// A file of another format or version, a truncated file, and a corrupt file, with the offset of the first
    /// wrong byte that was found.
    pub fn load(bytes: &[u8]) -> Result<Self> {
        Self::load_named(bytes).map(|(snapshot, _)| snapshot)
    }

    /// The same with the names of subscriptions, if the file has any.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub fn load_named(bytes: &[u8]) -> Result<(Self, Names)> {
        let (version, undefined) = header(bytes)?;
        let mut file = Bytes {
            bytes,
            at: HEADER_BYTES,
            end: bytes.len(),
        };
        let domain = file.section(DOMAIN, domain)?;
        let mut dictionary = Dictionary::new(domain.attributes().len());
        file.section(STRINGS, |part| strings(part, &mut dictionary))?;
        file.section(NUMBERS, |part| numbers(part, &domain, &mut dictionary))?;
        let sources = file.section(EXPRESSIONS, |part| expressions(part, &domain, &dictionary))?;
        let names = match version {
            VERSION_NAMED => file.section(NAMES, |part| names(part, &sources))?,
            _ => Names::new(),
        };
        dictionary.settle();
        if file.at < file.end {
            return Err(corrupt("data after the last section", file.at));
        }
        let state = State::compiled(Arc::new(domain), Arc::new(dictionary), undefined, sources);
        Ok((Self::new(state), names))
    }
}

/// The version, and what undefined attributes are.
fn header(bytes: &[u8]) -> Result<(u32, Undefined)> {
    let known = bytes.len().min(MAGIC.len());
    if bytes.is_empty() || bytes[..known] != MAGIC[..known] {
        let at = bytes
            .iter()
            .zip(MAGIC)
            .take_while(|(a, b)| **a == *b)
            .count();
        return Err(Error::new(ErrorKind::ForeignSnapshot, "not a snapshot").byte(at));
    }
    let mut head = Bytes {
        bytes,
        at: MAGIC.len(),
        end: bytes.len().min(HEADER_BYTES),
    };
    if bytes.len() < HEADER_BYTES {
        return Err(torn(bytes.len(), HEADER_BYTES as u64));
    }
    let version = head.u32()?;
    let mode = head.u32()?;
    let length = head.u64()?;
    let at = head.at;
    if crc32fast::hash(&bytes[..at]) != head.u32()? {
        return Err(corrupt("checksum mismatch in the header", at));
    }
    if !matches!(version, VERSION | VERSION_NAMED) {
        let message = format!(
            "unsupported version {version}: this program reads versions {VERSION} and {VERSION_NAMED}"
        );
        return Err(Error::new(ErrorKind::ForeignSnapshot, message).byte(MAGIC.len()));
    }
    if (bytes.len() as u64) < length {
        return Err(torn(bytes.len(), length));
    }
    if bytes.len() as u64 > length {
        return Err(corrupt(
            "data after the end of the snapshot",
            length as usize,
        ));
    }
    match mode {
        0 => Ok((version, Undefined::False)),
        1 => Ok((version, Undefined::Unknown)),
        _ => Err(corrupt("unknown mode of undefined attributes", 12)),
    }
}

/// A part of the file, read from front to end.
struct Bytes<'b> {
    bytes: &'b [u8],
    at: usize,
    end: usize,
}

impl<'b> Bytes<'b> {
    fn left(&self) -> usize {
        self.end - self.at
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8]> {
        if count > self.left() {
            return Err(corrupt("a section is too short for its content", self.at));
        }
        let start = self.at;
        self.at += count;
        Ok(&self.bytes[start..self.at])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A count of items of at least `bytes` each, which must all fit.
    fn count(&mut self, bytes: usize) -> Result<usize> {
        let at = self.at;
        let count = self.u32()? as usize;
        match count.checked_mul(bytes) {
            Some(all) if all <= self.left() => Ok(count),
            _ => Err(corrupt("a count is larger than its section", at)),
        }
    }

    /// The content of the next section, after its checksum is verified.
    fn section<T>(
        &mut self,
        name: [u8; 4],
        read: impl FnOnce(&mut Bytes<'b>) -> Result<T>,
    ) -> Result<T> {
        let start = self.at;
        if self.take(name.len())? != name {
            return Err(corrupt("unexpected section", start));
        }
        let length = usize::try_from(self.u64()?).unwrap_or(usize::MAX);
        let around = self.left().checked_sub(SUM_BYTES);
        if around.is_none_or(|most| length > most) {
            return Err(corrupt("a section is longer than the file", start));
        }
        let end = start + SECTION_BYTES + length;
        let sum = crc32fast::hash(&self.bytes[start..end]);
        let mut content = Bytes {
            bytes: self.bytes,
            at: self.at,
            end,
        };
        self.at = end;
        if self.u32()? != sum {
            let name = String::from_utf8_lossy(&name).into_owned();
            let message = format!("checksum mismatch in section {name}, which starts");
            return Err(corrupt(message, start));
        }
        let found = read(&mut content)?;
        match content.left() {
            0 => Ok(found),
            _ => Err(corrupt("a section has data after its content", content.at)),
        }
    }
}

fn domain(part: &mut Bytes<'_>) -> Result<Domain> {
    let mut domain = Domain::new();
    // Code, flag, two bounds, length of the name.
    for _ in 0..part.count(22)? {
        let at = part.at;
        let (code, allow) = (part.u8()?, part.u8()?);
        let (low, high) = (part.u64()?, part.u64()?);
        let name = text(part)?;
        let kind = kind(code, low, high).filter(|_| allow <= 1);
        let kind = kind.ok_or_else(|| corrupt("unknown attribute type, or invalid bounds", at))?;
        domain
            .add(name, kind, allow == 1)
            .map_err(|error| corrupt(error.message(), at))?;
    }
    Ok(domain)
}

fn kind(code: u8, low: u64, high: u64) -> Option<AttributeType> {
    let (min, max) = (low as i64, high as i64);
    // Bounds that a type does not have are 0.
    let (none, one) = (low == 0 && high == 0, low == 0);
    Some(match code {
        0 if none => AttributeType::Boolean,
        1 if min <= max => AttributeType::Integer { min, max },
        2 => {
            let (min, max) = (f64::from_bits(low), f64::from_bits(high));
            (min <= max).then_some(AttributeType::Float { min, max })?
        }
        3 if one => AttributeType::String { distinct_max: high },
        4 if min <= max => AttributeType::IntegerList { min, max },
        5 if one => AttributeType::StringList { distinct_max: high },
        6 if one => AttributeType::IntegerEnum { distinct_max: high },
        7 if none => AttributeType::Segments,
        8 if none => AttributeType::Frequency,
        _ => return None,
    })
}

fn text<'b>(part: &mut Bytes<'b>) -> Result<&'b str> {
    let length = part.u32()? as usize;
    let at = part.at;
    let bytes = part.take(length)?;
    std::str::from_utf8(bytes).map_err(|error| corrupt("not UTF-8", at + error.valid_up_to()))
}

fn strings(part: &mut Bytes<'_>, dictionary: &mut Dictionary) -> Result<()> {
    let count = part.count(4)?;
    if count > STRINGS_MAX {
        return Err(corrupt("more strings than a tree can have", part.at));
    }
    for number in 0..count {
        let at = part.at;
        if dictionary.intern_string(text(part)?) as usize != number {
            return Err(corrupt("a string appears twice", at));
        }
    }
    Ok(())
}

fn numbers(part: &mut Bytes<'_>, domain: &Domain, dictionary: &mut Dictionary) -> Result<()> {
    let kinds: Vec<AttributeType> = domain
        .attributes()
        .iter()
        .map(|found| found.kind())
        .collect();
    let strings = dictionary.strings_len() as u64;
    let kind = |attribute: u16| kinds.get(usize::from(attribute));
    for number in 0..part.count(10)? {
        let at = part.at;
        let (attribute, value) = (part.u16()?, part.u64()?);
        let fits = match kind(attribute) {
            Some(AttributeType::IntegerList { .. }) => true,
            Some(AttributeType::StringList { .. }) => value < strings,
            _ => false,
        };
        if !fits || dictionary.intern_element(attribute, value) as usize != number {
            return Err(corrupt("an invalid or repeated list element", at));
        }
    }
    for number in 0..part.count(10)? {
        let at = part.at;
        let (attribute, id) = (part.u16()?, part.u64()? as i64);
        let fits = kind(attribute) == Some(&AttributeType::Segments);
        if !fits || dictionary.intern_segment(attribute, id) as usize != number {
            return Err(corrupt("an invalid or repeated segment", at));
        }
    }
    for number in 0..part.count(14)? {
        let at = part.at;
        let (code, by_address) = (part.u8()?, part.u8()?);
        let (id, namespace) = (part.u64()? as i64, part.u32()?);
        let kind = CapKind::from_code(code).filter(|_| by_address <= 1);
        let known = kind.filter(|_| u64::from(namespace) < strings);
        let slot = known.map(|kind| dictionary.intern_cap((kind, by_address == 1, id, namespace)));
        if slot != Some(number as u32) {
            return Err(corrupt("an invalid or repeated counter", at));
        }
    }
    let mut last = None;
    for _ in 0..part.count(10)? {
        let at = part.at;
        let (attribute, value) = (part.u16()?, part.u64()?);
        let ascends = last.replace((attribute, value)) < Some((attribute, value));
        if kind(attribute).is_none() || !ascends {
            return Err(corrupt("an invalid value, or values out of order", at));
        }
        dictionary.note_value(attribute, value);
    }
    for attribute in 0..kinds.len() {
        let at = part.at;
        match part.u8()? {
            0 => {}
            1 => dictionary.want_text(attribute as u16),
            _ => return Err(corrupt("a flag is neither 0 nor 1", at)),
        }
    }
    Ok(())
}

fn expressions(part: &mut Bytes<'_>, domain: &Domain, dictionary: &Dictionary) -> Result<Sources> {
    // An id and an end each.
    let count = part.count(12)?;
    let at = part.at;
    let words = part.u32()? as usize;
    if words > WORDS_MAX || count * 12 + words * 4 != part.left() {
        return Err(corrupt(
            "the number of words does not match the section",
            at,
        ));
    }
    let at = part.at;
    let (ids, _) = part.take(count * 8)?.as_chunks::<8>();
    let ids: Vec<SubscriptionId> = ids
        .iter()
        .map(|bytes| SubscriptionId(u64::from_le_bytes(*bytes)))
        .collect();
    if let Some(wrong) = ids.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(corrupt("ids are out of order", at + 8 * (wrong + 1)));
    }
    let at = part.at;
    let ends = u32s(part.take(count * 4)?);
    let last = ends.last().map_or(0, |end| *end as usize);
    if let Some(wrong) = ends.windows(2).position(|pair| pair[0] > pair[1]) {
        return Err(corrupt(
            "ends of trees are out of order",
            at + 4 * (wrong + 1),
        ));
    }
    if last != words {
        return Err(corrupt(
            "the last tree does not end with the words",
            part.at,
        ));
    }
    let at = part.at;
    let all = u32s(part.take(words * 4)?);
    let mut start = 0;
    for end in &ends {
        let end = *end as usize;
        words::check(&all[start..end], domain, dictionary)
            .map_err(|(word, why)| corrupt(why, at + 4 * (start + word)))?;
        start = end;
    }
    Ok(Sources::new(ids, all, ends))
}

fn names(part: &mut Bytes<'_>, sources: &Sources) -> Result<Names> {
    let mut names = Names::new();
    let at = part.at;
    // Id, kind, length of the text.
    let count = part.count(13)?;
    if count == 0 {
        return Err(corrupt("a section of names has none", at));
    }
    for _ in 0..count {
        let at = part.at;
        let (id, kind) = (SubscriptionId(part.u64()?), part.u8()?);
        let text = text(part)?;
        let name = match kind {
            0 => Name::text(text),
            _ => Name::parse(text),
        };
        if kind > 1 || name.is_integer() != (kind == 1) {
            return Err(corrupt("an id is neither a text nor an integer", at));
        }
        if sources.ids.binary_search(&id).is_err() {
            return Err(corrupt("a name of a subscription that does not exist", at));
        }
        names
            .push(id, name)
            .map_err(|error| corrupt(error.message(), at))?;
    }
    Ok(names)
}

fn u32s(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn torn(found: usize, length: u64) -> Error {
    let message = format!("the snapshot is truncated: {length} bytes expected, the file ends");
    Error::new(ErrorKind::TornSnapshot, message).byte(found)
}

fn corrupt(message: impl Into<String>, at: usize) -> Error {
    Error::new(ErrorKind::CorruptSnapshot, message).byte(at)
}
