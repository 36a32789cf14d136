//! The directory: one buffer, parsed record by record on demand.

use super::entry::Entry;
use super::name_index::NameIndex;
use super::options::{ReadOptions, Warning};
use crate::error::{Error, ErrorKind};
use crate::format::central::{CENTRAL_BYTES, Central};
use crate::format::local::LOCAL_BYTES;
use crate::format::names::Stated;

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
    name_index: NameIndex,
    /// What counting the entries has found, if they were counted.
    counted: Counted,
}

/// What one look at all records finds.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    /// Whether no entry starts before the end of the one before it in the directory.
    in_order: bool,
    encrypted: u64,
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
            name_index: NameIndex::default(),
            counted: Counted::default(),
        }
    }

    /// Reads names as these options say.
    pub(super) fn names_by(mut self, options: &ReadOptions) -> Self {
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

    /// Counts the entries and checks the limits and, in the strict profile, the stated count.
    pub(crate) fn count(&mut self, options: &ReadOptions) -> Result<u64, Error> {
        let (mut found, mut renamed, mut free) = (0, 0, 0);
        let mut counted = Counted {
            in_order: true,
            encrypted: 0,
        };
        for entry in self.iter() {
            let entry = entry?;
            renamed += u64::from(entry.is_renamed());
            counted.in_order &= comes_after(&mut free, &entry);
            counted.encrypted += u64::from(entry.is_encrypted());
            found += 1;
            if found > options.limits.entries {
                let most = options.limits.entries;
                return Err(Error::new(
                    ErrorKind::Limit,
                    format!("more than {most} entries"),
                ));
            }
        }
        self.counted = counted;
        if renamed > 0 {
            let entries = renamed;
            self.warnings.push(Warning::UnicodeNames { entries });
        }
        let stated = self.stated_entries;
        // Old programs count modulo 65536.
        let wrapped = found & u64::from(u16::MAX) == stated;
        if stated != found {
            let warning = Warning::Count { stated, found };
            if options.is_strict() {
                return Err(Error::new(ErrorKind::Mismatch, warning.to_string()).at(self.start));
            }
            if !wrapped {
                self.warnings.push(warning);
            }
        }
        Ok(found)
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
        let position = (directory.bytes.len() - self.rest.len()) as u64;
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
