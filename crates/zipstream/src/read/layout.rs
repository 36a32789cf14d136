//! Whether the entries of an archive stand where they say, and only there.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use super::directory::Entry;
use super::reader::{ArchiveReader, Scratch};
use super::source::ReadAt;
use crate::error::{Error, ErrorKind};
use crate::format::local::{LOCAL_BYTES, Local, descriptor_bytes, total_bytes};
use crate::format::{MAX32, extra, flag};
use crate::method::Method;
use crate::name;

/// The longest descriptor.
const DESCRIPTOR_BYTES_MAX: u64 = 24;
/// Flags that local header and directory have to agree on.
pub(super) const SHARED_FLAGS: u16 =
    flag::ENCRYPTED | flag::DESCRIPTOR | flag::PATCH | flag::UTF8 | flag::MASKED;

/// Checks the layout, as the profile of the reader asks.
pub(crate) fn check<R: ReadAt>(reader: &ArchiveReader<R>) -> Result<(), Error> {
    if reader.options().is_strict() {
        return Strict::new(reader)?.run(reader);
    }
    // Most directories are in the order of the archive, and nothing has to be sorted.
    let mut free = 0;
    for entry in reader.entries() {
        if !comes_after(&mut free, &entry?) {
            return check_sorted(reader);
        }
    }
    Ok(())
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

/// Whether an entry starts at or behind the first byte that is free, which is behind it then.
fn comes_after(free: &mut u64, entry: &Entry<'_>) -> bool {
    let after = entry.offset() >= *free;
    // At least these bytes are its own; the local header may be longer.
    *free = entry
        .offset()
        .saturating_add((LOCAL_BYTES + entry.name_bytes().len()) as u64)
        .saturating_add(entry.compressed_bytes());
    after
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

/// The check of the strict profile, which goes on where it stopped when the source could not give
/// something yet.
pub(crate) struct Strict {
    places: Vec<(u64, u64)>,
    /// The entries that are checked, and those whose names are.
    done: usize,
    named: usize,
    names: Names,
    /// The first byte behind the entries that are checked.
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
                let name = entry.name()?;
                safe_name(&name, entry.central().extra).map_err(named)?;
                if !self.names.insert(&name) {
                    return Err(named(twice()));
                }
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

/// The names that were seen, by their hashes.
#[derive(Default)]
pub(super) struct Names {
    hashes: HashSet<u64>,
    hasher: RandomState,
}

impl Names {
    /// Takes a name in; whether it is a new one. That of a directory is that of a file, too.
    pub(super) fn insert(&mut self, name: &str) -> bool {
        let hash = self.hasher.hash_one(name.trim_end_matches('/'));
        self.hashes.insert(hash)
    }
}

pub(super) fn twice() -> Error {
    Error::new(ErrorKind::Duplicate, "another entry has the same name")
}

/// What the strict profile has against a name, and against the extra area beside it.
pub(super) fn safe_name(name: &str, area: &[u8]) -> Result<(), Error> {
    if let Err(fault) = name::check(name) {
        return Err(Error::new(ErrorKind::Name, fault.to_string()));
    }
    let mut parts = name.trim_end_matches('/').split('/');
    if parts.any(|part| part.is_empty() || part == ".") {
        let what = "the name has empty parts or dots in it";
        return Err(Error::new(ErrorKind::Name, what));
    }
    if !extra::is_whole(area) {
        let what = "extra fields that are cut off";
        return Err(Error::new(ErrorKind::Corrupt, what));
    }
    Ok(())
}

/// The first byte behind an entry and its descriptor.
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
        .ok_or_else(|| Error::new(ErrorKind::Corrupt, "no local header"))?;
    agree(entry, &local)?;
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

/// Holds a local header to the directory.
pub(crate) fn agree(entry: &Entry<'_>, local: &Local<'_>) -> Result<(), Error> {
    let central = entry.central();
    if local.name != central.name {
        return Err(differs("the name"));
    }
    if local.method != central.method {
        return Err(differs("the method"));
    }
    if (local.flags ^ central.flags) & SHARED_FLAGS != 0 {
        return Err(differs("the flags"));
    }
    if central.needs_zip64() && extra::find(central.extra, extra::ZIP64).is_none() {
        let what = "sizes that need a ZIP64 field, and none";
        return Err(Error::new(ErrorKind::Corrupt, what));
    }
    if extra::find(local.extra, extra::AES) != extra::find(central.extra, extra::AES) {
        return Err(differs("the encryption"));
    }
    // Before a descriptor a size may be left out, and some writers state one of the two.
    let later = local.has_descriptor();
    let wide = later && (local.content, local.compressed) == (MAX32, MAX32);
    let (content, compressed) = local.sizes();
    let fits = |stated: u64, real: u64| stated == real || (later && stated == 0);
    let fit = fits(content, entry.content_bytes()) && fits(compressed, entry.compressed_bytes());
    if !wide && !fit {
        return Err(differs("the size"));
    }
    if local.crc32 != entry.crc32() && !(local.has_descriptor() && local.crc32 == 0) {
        return Err(differs("the checksum"));
    }
    Ok(())
}

fn differs(what: &str) -> Error {
    let what = format!("{what} is another one in the directory");
    Error::new(ErrorKind::Mismatch, what).help("leave the strict profile to trust the directory")
}
