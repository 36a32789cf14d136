//! The directory: one buffer, parsed record by record on demand.

use super::entry::{Entry, RECORD_COST};
use super::name_index::NameIndex;
#[cfg(feature = "tokio")]
use super::options::THRESHOLD_NS;
use super::options::{ReadOptions, Warning};
use crate::error::{Error, ErrorKind};
#[cfg(test)]
use crate::format::central::OFFSET_AT;
use crate::format::central::{CENTRAL_BYTES, Central};
use crate::format::local::LOCAL_BYTES;
use crate::format::names::Stated;
use crate::write::Budget;

/// The directory of an archive.
#[derive(Debug, Clone)]
pub struct Directory {
    bytes: Vec<u8>,
    start: u64,
    /// The byte that offsets count from: the number of bytes before the archive.
    base: u64,
    stated_entries: u64,
    comment: Vec<u8>,
    warnings: Vec<Warning>,
    /// How names are read that state no charset: those of Unix, and others.
    stated: [Stated; 2],
    /// How long an asynchronous search works before other tasks have a turn.
    #[cfg(feature = "tokio")]
    threshold_ns: u64,
    name_index: NameIndex,
    /// What counting the entries has found, if they were counted.
    counted: Counted,
}

/// What one look at all records finds.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    entries: u64,
    /// Whether no entry starts before the end of the one before it in the directory.
    in_order: bool,
    encrypted: u64,
    renamed: u64,
}

impl Directory {
    pub(crate) fn new(
        bytes: Vec<u8>,
        start: u64,
        base: u64,
        stated_entries: u64,
        comment: Vec<u8>,
        warnings: Vec<Warning>,
    ) -> Self {
        Self {
            bytes,
            start,
            base,
            stated_entries,
            comment,
            warnings,
            stated: Default::default(),
            #[cfg(feature = "tokio")]
            threshold_ns: THRESHOLD_NS,
            name_index: NameIndex::default(),
            counted: Counted::default(),
        }
    }

    /// Reads names, and is searched, as these options say.
    pub(super) fn by(mut self, options: &ReadOptions) -> Self {
        #[cfg(feature = "tokio")]
        {
            self.threshold_ns = options.threshold_ns;
        }
        self.stated = [true, false].map(|unix| options.stated(unix));
        self
    }

    /// The entries in the order of the directory. Records are parsed on demand.
    pub fn iter(&self) -> Entries<'_> {
        self.iter_at(0)
    }

    /// The entries from the record at this [position](Entry::position) on.
    pub fn iter_at(&self, position: u64) -> Entries<'_> {
        let position = usize::try_from(position).unwrap_or(usize::MAX);
        Entries {
            rest: self.bytes.get(position..).unwrap_or_default(),
            directory: self,
            failed: false,
        }
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn threshold_ns(&self) -> u64 {
        self.threshold_ns
    }

    pub(super) fn name_index(&self) -> &NameIndex {
        &self.name_index
    }

    /// The number of entries that the end record states.
    pub fn stated_entries(&self) -> u64 {
        self.stated_entries
    }

    /// The first byte of the directory in the archive.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Its records, unchanged.
    pub(crate) fn records(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of bytes before the archive; offsets count from there.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// The comment of the archive.
    pub fn comment(&self) -> &[u8] {
        &self.comment
    }

    /// The oddities that were accepted.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Whether entries are known to follow each other without sharing bytes.
    pub(super) fn is_in_order(&self) -> bool {
        self.counted.in_order
    }

    /// How many entries of a directory that was counted are encrypted.
    pub(super) fn encrypted(&self) -> u64 {
        self.counted.encrypted
    }

    /// The entry at a position that an entry had.
    pub(crate) fn at(&self, position: u64) -> Result<Entry<'_>, Error> {
        let none = || Err(Error::new(ErrorKind::Order, "no record at this position"));
        self.iter_at(position).next().unwrap_or_else(none)
    }

    /// Leaves out the records from this byte of the archive on.
    fn cut_at(&mut self, at: u64) {
        let kept = usize::try_from(at - self.start).unwrap_or(usize::MAX);
        self.bytes.truncate(kept);
        self.warnings.push(Warning::Cut { at });
    }

    /// The number of entries of a directory that was counted.
    pub(super) fn entries(&self) -> u64 {
        self.counted.entries
    }
}

/// Counts the entries of a directory in steps, and checks the limits and, in the strict profile, the stated count.
#[derive(Debug)]
pub(crate) struct Count {
    directory: Directory,
    position: u64,
    /// The first byte behind the entries so far.
    free: u64,
    counted: Counted,
}

impl Count {
    pub(crate) fn new(directory: Directory) -> Self {
        Self {
            directory,
            position: 0,
            free: 0,
            counted: Counted {
                in_order: true,
                ..Counted::default()
            },
        }
    }

    /// Goes on. `false`: the budget is spent. Work exceeds it by one record at most.
    pub(crate) fn run(
        &mut self,
        options: &ReadOptions,
        budget: &mut Budget,
    ) -> Result<bool, Error> {
        let mut entries = self.directory.iter_at(self.position);
        let (mut counted, mut free) = (self.counted, self.free);
        let mut left = budget.left();
        let mut whole = true;
        let mut cut = None;
        for entry in entries.by_ref() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) if options.cuts(&error) => {
                    cut = error.offset();
                    break;
                }
                Err(error) => return Err(error),
            };
            counted.renamed += u64::from(entry.is_renamed());
            counted.in_order &= comes_after(&mut free, &entry);
            counted.encrypted += u64::from(entry.is_encrypted());
            counted.entries += 1;
            options.limits.admit_entries(counted.entries)?;
            let cost = entry.central().total_bytes() as u64 + RECORD_COST;
            if cost > left {
                left = 0;
                whole = false;
                break;
            }
            left -= cost;
        }
        budget.charge(budget.left() - left);
        self.position = entries.next_position();
        (self.counted, self.free) = (counted, free);
        if let Some(at) = cut {
            self.directory.cut_at(at);
            self.position = self.directory.bytes();
        }
        Ok(whole)
    }

    /// The directory, all of whose entries were counted.
    pub(crate) fn finish(mut self, options: &ReadOptions) -> Result<Directory, Error> {
        let directory = &mut self.directory;
        directory.counted = self.counted;
        if self.counted.renamed > 0 {
            let entries = self.counted.renamed;
            let warning = Warning::UnicodeNames { entries };
            directory.warnings.push(warning);
        }
        let (stated, found) = (directory.stated_entries, self.counted.entries);
        // Old programs count modulo 65536.
        let wrapped = found & u64::from(u16::MAX) == stated;
        if stated != found {
            let warning = Warning::Count { stated, found };
            if options.is_strict() {
                let error = Error::new(ErrorKind::Mismatch, warning.to_string());
                return Err(error.at(directory.start));
            }
            if !wrapped {
                directory.warnings.push(warning);
            }
        }
        Ok(self.directory)
    }
}

/// A large one is dropped elsewhere inside of a runtime.
#[cfg(feature = "tokio")]
impl Drop for Directory {
    fn drop(&mut self) {
        let (bytes, index) = (
            std::mem::take(&mut self.bytes),
            std::mem::take(&mut self.name_index),
        );
        let held = bytes.len() + index.bytes();
        turns::discard((bytes, index), held);
    }
}

impl<'a> IntoIterator for &'a Directory {
    type Item = Result<Entry<'a>, Error>;
    type IntoIter = Entries<'a>;

    fn into_iter(self) -> Entries<'a> {
        self.iter()
    }
}

/// The entries of a directory; the iterator ends after the first error.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    directory: &'a Directory,
    rest: &'a [u8],
    failed: bool,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.rest.is_empty() {
            return None;
        }
        let directory = self.directory;
        let position = self.next_position();
        let at = directory.start + position;
        // A record is large: it is moved as seldom as possible.
        let Some(central) = Central::parse(self.rest) else {
            self.failed = true;
            return Some(Err(self.unreadable(at)));
        };
        self.rest = &self.rest[central.total_bytes()..];
        let mut entry = Entry::new(central, position, at, directory.base);
        match &mut entry {
            Ok(entry) => entry.set_stated(directory.stated),
            Err(_) => self.failed = true,
        }
        Some(entry)
    }
}

impl Entries<'_> {
    /// Where the next record starts in the directory.
    pub(super) fn next_position(&self) -> u64 {
        (self.directory.bytes.len() - self.rest.len()) as u64
    }

    fn unreadable(&self, at: u64) -> Error {
        const DIGITAL_SIGNATURE: &[u8] = b"PK\x05\x05";
        let rest = self.rest;
        let what = if rest.starts_with(DIGITAL_SIGNATURE) {
            "a digital signature, which is not supported,"
        } else if rest.len() < CENTRAL_BYTES || rest.starts_with(b"PK\x01\x02") {
            "a directory record that is cut off"
        } else {
            "no directory record"
        };
        Error::corrupt(at, what)
    }
}

/// Whether an entry starts at or after the first free byte; moves that byte behind the entry.
pub(super) fn comes_after(free: &mut u64, entry: &Entry<'_>) -> bool {
    let after = entry.offset() >= *free;
    // The entry has at least these bytes; its local header may be longer.
    *free = entry
        .offset()
        .saturating_add((LOCAL_BYTES + entry.name_bytes().len()) as u64)
        .saturating_add(entry.compressed_bytes());
    after
}

/// A record of a stored entry without content.
#[cfg(test)]
pub(super) fn record(offset: u32, name: &[u8]) -> Vec<u8> {
    let mut record = vec![0; CENTRAL_BYTES];
    record[..4].copy_from_slice(b"PK\x01\x02");
    record[28..30].copy_from_slice(&(name.len() as u16).to_le_bytes());
    record[OFFSET_AT..].copy_from_slice(&offset.to_le_bytes());
    record.extend_from_slice(name);
    record
}

#[cfg(test)]
mod tests;
