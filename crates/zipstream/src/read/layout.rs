//! Whether the entries of an archive are where the directory says, without gaps and overlaps.

use super::directory::comes_after;
use super::entry::Entry;
use super::reader::{ArchiveReader, Scratch};
use super::source::ReadAt;
use super::strict::{Names, agree_strictly, check_local, check_record, differs};
use crate::error::{Error, ErrorKind};
use crate::format::local::{LOCAL_BYTES, Local, descriptor_bytes, total_bytes};
use crate::method::Method;

/// The longest descriptor.
const DESCRIPTOR_BYTES_MAX: u64 = 24;

impl<R: ReadAt> ArchiveReader<R> {
    /// Looks for entries that share bytes of the archive. The strict profile also looks for gaps,
    /// duplicates, unsafe names, and for local headers and descriptors that contradict the directory.
    pub fn check(&self) -> Result<(), Error> {
        if self.options().is_strict() {
            return Strict::new(self)?.run(self);
        }
        // Most directories are in the order of the archive: no sorting is needed.
        match self.directory().is_in_order() {
            true => Ok(()),
            false => check_sorted(self),
        }
    }
}

fn check_sorted<R: ReadAt>(reader: &ArchiveReader<R>) -> Result<(), Error> {
    let mut free = 0;
    for (_, position) in places(reader)? {
        let entry = at(reader, position)?;
        if !comes_after(&mut free, &entry) {
            return Err(overlap(&entry));
        }
    }
    Ok(())
}

/// Offsets and positions of all entries, in the order of the archive.
fn places<R: ReadAt>(reader: &ArchiveReader<R>) -> Result<Vec<(u64, u64)>, Error> {
    let mut places = Vec::new();
    for entry in reader.entries() {
        let entry = entry?;
        places.push((entry.offset(), entry.position()));
    }
    places.sort_unstable();
    Ok(places)
}

fn at<R: ReadAt>(reader: &ArchiveReader<R>, position: u64) -> Result<Entry<'_>, Error> {
    let mut entries = reader.directory().iter_at(position);
    let none = || Err(Error::new(ErrorKind::Order, "no record at this position"));
    entries.next().unwrap_or_else(none)
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

/// The check of the strict profile. After an error of the source it continues where it stopped.
pub(crate) struct Strict {
    places: Vec<(u64, u64)>,
    /// The number of checked entries, and of checked names.
    done: usize,
    named: usize,
    names: Names,
    /// The first byte after the checked entries.
    free: u64,
    scratch: Scratch,
}

impl Strict {
    pub(crate) fn new<R: ReadAt>(reader: &ArchiveReader<R>) -> Result<Self, Error> {
        Ok(Self {
            places: places(reader)?,
            done: 0,
            named: 0,
            names: Names::default(),
            free: 0,
            scratch: Scratch::default(),
        })
    }

    pub(crate) fn run<R: ReadAt>(&mut self, reader: &ArchiveReader<R>) -> Result<(), Error> {
        while let Some((offset, position)) = self.places.get(self.done).copied() {
            let entry = at(reader, position)?;
            let named = |error: Error| error.at(entry.record_offset()).entry(entry.name_lossy());
            if self.named == self.done {
                let name = check_record(&entry).map_err(named)?;
                self.names.insert(name).map_err(named)?;
                self.named += 1;
            }
            let free = self.free;
            if offset < free {
                return Err(overlap(&entry));
            }
            if offset > free {
                let what = format!("{} bytes before it belong to no entry", offset - free);
                return Err(named(Error::new(ErrorKind::Corrupt, what)));
            }
            self.free = entry_end(reader, &entry, &mut self.scratch).map_err(named)?;
            self.done += 1;
        }
        let (free, start) = (self.free, reader.directory().start());
        if free != start {
            let what = format!(
                "{} bytes before the directory belong to no entry",
                start - free
            );
            return Err(Error::corrupt(free, what));
        }
        Ok(())
    }
}

/// The first byte after an entry and its descriptor.
fn entry_end<R: ReadAt>(
    reader: &ArchiveReader<R>,
    entry: &Entry<'_>,
    scratch: &mut Scratch,
) -> Result<u64, Error> {
    let limit = reader.directory().start();
    let too_far = || Error::new(ErrorKind::Corrupt, "it reaches into the directory");
    let offset = entry.offset();
    if offset.saturating_add(LOCAL_BYTES as u64) > limit {
        return Err(too_far());
    }
    let source = reader.source();
    let held = scratch.window.get(source, offset, LOCAL_BYTES, limit)?;
    let header_bytes = held.first_chunk().map_or(LOCAL_BYTES, total_bytes);
    let held = scratch.window.get(source, offset, header_bytes, limit)?;
    let local = Local::parse(&held[..header_bytes])
        .ok_or_else(|| Error::corrupt(offset, "no local header"))?;
    check_local(&local).map_err(|error| error.at(offset))?;
    agree_strictly(entry, &local)?;
    let (wide, descriptor) = (local.is_zip64(), local.has_descriptor());
    let stored = entry.method() == Method::Stored && !entry.is_encrypted();
    if stored && entry.compressed_bytes() != entry.content_bytes() {
        let what = "stored, but with two different sizes";
        return Err(Error::new(ErrorKind::Size, what));
    }
    let data = offset + header_bytes as u64;
    let end = data.checked_add(entry.compressed_bytes());
    let end = end.filter(|end| *end <= limit).ok_or_else(too_far)?;
    if !descriptor {
        return Ok(end);
    }
    let need = DESCRIPTOR_BYTES_MAX.min(limit - end) as usize;
    let held = scratch.window.get(source, end, need, limit)?;
    let values = (
        entry.crc32(),
        entry.compressed_bytes(),
        entry.content_bytes(),
    );
    let bytes = descriptor_bytes(&held[..need], values, wide);
    let bytes = bytes.ok_or_else(|| differs("the descriptor").at(end))?;
    Ok(end + bytes as u64)
}
