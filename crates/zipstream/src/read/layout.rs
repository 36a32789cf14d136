//! Whether the entries of an archive are where the directory says, without gaps and overlaps.

use super::directory::comes_after;
use super::entry::Entry;
use super::order::{Next, Order};
use super::reader::{ArchiveReader, Scratch};
use super::source::ReadAt;
use super::strict::{Insertion, Names, agree_strictly, check_local, check_record, differs};
use crate::error::{Error, ErrorKind};
use crate::format::extra::Found;
use crate::format::local::{LOCAL_BYTES, Local, descriptor_bytes, total_bytes};
use crate::method::Method;
use crate::write::Budget;

/// The longest descriptor.
const DESCRIPTOR_BYTES_MAX: u64 = 24;
/// What checking a record, and comparing it with the local header, costs of a budget besides the bytes of each, which count so
/// often at each look.
const ENTRY_COST: u64 = 512;
const HEADER_BYTE_COST: u64 = 4;

impl<R: ReadAt> ArchiveReader<R> {
    /// Looks for entries that share bytes of the archive. The strict profile also looks for gaps,
    /// duplicates, unsafe names, and for local headers and descriptors that contradict the directory.
    pub fn check(&self) -> Result<(), Error> {
        Check::new(self, false)
            .run(self, &mut Budget::bytes(u64::MAX))
            .map(drop)
    }
}

fn overlap(entry: &Entry<'_>) -> Error {
    Error::new(
        ErrorKind::Overlap,
        "it shares bytes with the entry before it",
    )
    .at(entry.record_offset())
    .entry(entry.name_lossy())
    .help("an archive like this is made to be larger than it looks")
}

/// The check of all entries, in steps. After an error of the source it continues where it stopped.
pub(crate) struct Check {
    order: Order,
    /// The first byte after the checked entries.
    free: u64,
    /// That of the strict profile.
    strict: Option<Box<Strict>>,
}

/// What the strict profile remembers.
#[derive(Default)]
struct Strict {
    names: Names,
    /// The position of the entry that is being checked, and what is to be done for it.
    current: Option<(u64, Part)>,
    scratch: Scratch,
}

/// The parts of the check of one entry.
#[derive(Debug)]
enum Part {
    Record,
    Name(Insertion),
    /// The local header alone, then as it agrees with the record. Each walks over all extra fields.
    Header,
    Place,
}

impl Check {
    /// Work in steps is divided more finely.
    pub(crate) fn new<R: ReadAt>(reader: &ArchiveReader<R>, steps: bool) -> Self {
        Self {
            order: Order::of(reader.directory(), steps),
            free: 0,
            strict: reader.options().is_strict().then(Box::default),
        }
    }

    /// Goes on. `false`: the budget is spent.
    pub(crate) fn run<R: ReadAt>(
        &mut self,
        reader: &ArchiveReader<R>,
        budget: &mut Budget,
    ) -> Result<bool, Error> {
        let directory = reader.directory();
        let Some(strict) = &mut self.strict else {
            // Most directories are in the order of the archive, as was found when they were counted.
            if directory.is_in_order() {
                return Ok(true);
            }
            loop {
                match self.order.next(directory, budget)? {
                    Next::Entry(entry) if comes_after(&mut self.free, &entry) => {}
                    Next::Entry(entry) => return Err(overlap(&entry)),
                    Next::End => return Ok(true),
                    Next::Spent => return Ok(false),
                }
            }
        };
        loop {
            let (entry, mut part) = match strict.current.take() {
                Some((position, part)) => (directory.at(position)?, part),
                None => match self.order.next(directory, budget)? {
                    Next::Entry(entry) => (entry, Part::Record),
                    Next::End => break,
                    Next::Spent => return Ok(false),
                },
            };
            let checked = strict.entry(reader, &entry, &mut part, &mut self.free, budget);
            if !matches!(checked, Ok(true)) {
                strict.current = Some((entry.position(), part));
                return checked;
            }
        }
        let (free, start) = (self.free, directory.start());
        if free != start {
            let what = format!(
                "{} bytes before the directory belong to no entry",
                start - free
            );
            return Err(Error::corrupt(free, what));
        }
        Ok(true)
    }
}

/// What it remembers of many entries is dropped elsewhere inside of a runtime.
#[cfg(feature = "tokio")]
impl Drop for Check {
    fn drop(&mut self) {
        let names = self.strict.as_ref().map(|strict| strict.names.bytes());
        let bytes = names.unwrap_or(0) + self.order.bytes();
        turns::discard((self.strict.take(), self.order.take()), bytes);
    }
}

impl Strict {
    /// Checks one entry, from this part of its check on. `false`: the budget is spent.
    fn entry<R: ReadAt>(
        &mut self,
        reader: &ArchiveReader<R>,
        entry: &Entry<'_>,
        part: &mut Part,
        free: &mut u64,
        budget: &mut Budget,
    ) -> Result<bool, Error> {
        let named = |error: Error| error.at(entry.record_offset()).entry(entry.name_lossy());
        loop {
            match part {
                Part::Record => {
                    let extra = Found::of(entry.central().extra);
                    check_record(entry, &extra).map_err(named)?;
                    charge(budget, entry.central().total_bytes());
                    *part = Part::Name(Insertion::default());
                }
                Part::Name(insertion) => {
                    // It was checked that it is text.
                    let name = std::str::from_utf8(entry.name_bytes()).unwrap_or_default();
                    let inserted = self.names.insert_on(name, insertion, budget);
                    if !inserted.map_err(named)? {
                        return Ok(false);
                    }
                    *part = Part::Header;
                }
                Part::Header => {
                    let offset = entry.offset();
                    if offset < *free {
                        return Err(overlap(entry));
                    }
                    if offset > *free {
                        let what = format!("{} bytes before it belong to no entry", offset - *free);
                        return Err(named(Error::new(ErrorKind::Corrupt, what)));
                    }
                    let (local, bytes) = header(reader, entry, &mut self.scratch).map_err(named)?;
                    let checked = check_local(&local, &Found::of(local.extra));
                    checked.map_err(|error| named(error.at(offset)))?;
                    budget.charge(HEADER_BYTE_COST * bytes as u64);
                    *part = Part::Place;
                }
                Part::Place => {
                    let header_bytes;
                    (*free, header_bytes) =
                        entry_end(reader, entry, &mut self.scratch).map_err(named)?;
                    charge(budget, header_bytes);
                    return Ok(true);
                }
            }
            if budget.is_spent() {
                return Ok(false);
            }
        }
    }
}

fn charge(budget: &mut Budget, header_bytes: usize) {
    budget.charge(ENTRY_COST + HEADER_BYTE_COST * header_bytes as u64);
}

/// The local header of an entry, and its bytes.
fn header<'s, R: ReadAt>(
    reader: &ArchiveReader<R>,
    entry: &Entry<'_>,
    scratch: &'s mut Scratch,
) -> Result<(Local<'s>, usize), Error> {
    let (offset, limit) = (entry.offset(), reader.directory().start());
    if offset.saturating_add(LOCAL_BYTES as u64) > limit {
        return Err(too_far());
    }
    let (source, window) = (reader.source(), &mut scratch.window);
    let held = window.get(source, offset, LOCAL_BYTES, limit)?;
    let header_bytes = held.first_chunk().map_or(LOCAL_BYTES, total_bytes);
    let held = window.get(source, offset, header_bytes, limit)?;
    let local = Local::parse(&held[..header_bytes]);
    let local = local.ok_or_else(|| Error::corrupt(offset, "no local header"))?;
    Ok((local, header_bytes))
}

fn too_far() -> Error {
    Error::new(ErrorKind::Corrupt, "it reaches into the directory")
}

/// The first byte after an entry and its descriptor, and the bytes of its local header, which was checked alone.
fn entry_end<R: ReadAt>(
    reader: &ArchiveReader<R>,
    entry: &Entry<'_>,
    scratch: &mut Scratch,
) -> Result<(u64, usize), Error> {
    let (offset, limit) = (entry.offset(), reader.directory().start());
    let (local, header_bytes) = header(reader, entry, scratch)?;
    let wide = agree_strictly(entry, &local)?;
    let descriptor = local.has_descriptor();
    let stored = entry.method() == Method::Stored && !entry.is_encrypted();
    if stored && entry.compressed_bytes() != entry.content_bytes() {
        let what = "stored, but with two different sizes";
        return Err(Error::new(ErrorKind::Size, what));
    }
    let data = offset + header_bytes as u64;
    let end = data.checked_add(entry.compressed_bytes());
    let end = end.filter(|end| *end <= limit).ok_or_else(too_far)?;
    if !descriptor {
        return Ok((end, header_bytes));
    }
    let need = DESCRIPTOR_BYTES_MAX.min(limit - end) as usize;
    let held = scratch.window.get(reader.source(), end, need, limit)?;
    let values = (
        entry.crc32(),
        entry.compressed_bytes(),
        entry.content_bytes(),
    );
    let bytes = descriptor_bytes(&held[..need], values, wide);
    let bytes = bytes.ok_or_else(|| differs("the descriptor").at(end))?;
    Ok((end + bytes as u64, header_bytes))
}

#[cfg(test)]
mod tests;
