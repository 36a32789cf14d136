//! The directory: one buffer, parsed record by record on demand.

use std::borrow::Cow;

use super::name_index::NameIndex;
use super::options::{ReadOptions, Warning};
use crate::crypt::aes;
use crate::entry_kind::EntryKind;
use crate::entry_time::EntryTime;
use crate::error::{Error, ErrorKind};
use crate::format::central::{CENTRAL_BYTES, Central, UNIX};
use crate::format::extra::Wide;
use crate::format::local::LOCAL_BYTES;
use crate::format::names::{self, Stated};
use crate::format::{extra, flag, le16, time};
use crate::method::Method;

/// "Made by" of a system that also uses Unix modes.
const MACOS: u8 = 19;
/// The DOS attribute of directories.
const DOS_DIRECTORY: u32 = 0x10;

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
        let position = (self.directory.bytes.len() - self.rest.len()) as u64;
        let at = self.directory.start + position;
        let parsed = Central::parse(self.rest).ok_or_else(|| self.unreadable(at));
        let entry = parsed.and_then(|central| {
            self.rest = &self.rest[central.total_bytes()..];
            Entry::new(central, position, at, self.directory.base).map(|entry| {
                let [unix, other] = self.directory.stated;
                entry.names_by(if entry.is_of_unix() { unix } else { other })
            })
        });
        self.failed = entry.is_err();
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

/// An entry, as the directory describes it.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    central: Central<'a>,
    wide: Wide,
    position: u64,
    at: u64,
    base: u64,
    stated: Stated,
}

impl<'a> Entry<'a> {
    pub(crate) fn new(
        central: Central<'a>,
        position: u64,
        at: u64,
        base: u64,
    ) -> Result<Self, Error> {
        let Some(wide) = central.wide() else {
            return Err(Error::corrupt(at, "a ZIP64 field that is too short"));
        };
        if central.disk != 0 && central.disk != u16::MAX {
            return Err(Error::new(ErrorKind::Unsupported, "an entry on another disk").at(at));
        }
        Ok(Self {
            central,
            wide,
            position,
            at,
            base,
            stated: Stated::default(),
        })
    }

    /// Whether it was made on a system with Unix modes.
    fn is_of_unix(&self) -> bool {
        let [_, system] = self.central.made_by.to_le_bytes();
        matches!(system, UNIX | MACOS)
    }

    /// Reads its name in this charset if it states none.
    pub(super) fn names_by(mut self, stated: Stated) -> Self {
        self.stated = stated;
        self
    }

    /// The name as text. Bytes that are invalid in the stated encoding are an error.
    pub fn name(&self) -> Result<Cow<'a, str>, Error> {
        let utf8 = self.central.flags & flag::UTF8 != 0;
        let central = &self.central;
        names::decode(central.name, utf8, central.extra, self.stated).map_err(|what| {
            let lossy = String::from_utf8_lossy(central.name);
            Error::new(ErrorKind::Name, what).entry(lossy).at(self.at)
        })
    }

    /// Whether its Unicode field has another name than its record, in ASCII or UTF-8, and counts.
    fn is_renamed(&self) -> bool {
        let (raw, area) = (self.central.name, self.central.extra);
        if area.is_empty() || self.central.flags & flag::UTF8 != 0 {
            return false;
        }
        let other = extra::unicode_name(area, raw).filter(|name| !name.is_empty());
        other.is_some_and(|name| std::str::from_utf8(raw).is_ok_and(|raw| raw != name))
    }

    /// The name for messages, with replacement characters if it is invalid.
    pub fn name_lossy(&self) -> Cow<'a, str> {
        self.name()
            .unwrap_or_else(|_| String::from_utf8_lossy(self.central.name))
    }

    /// The name, as it is in the directory.
    pub fn name_bytes(&self) -> &'a [u8] {
        self.central.name
    }

    /// Its record.
    pub(crate) fn central(&self) -> &Central<'a> {
        &self.central
    }

    /// Its sizes and offset, with the values of the ZIP64 field.
    pub(crate) fn wide(&self) -> &Wide {
        &self.wide
    }

    /// How it is compressed; for WinZip AES, the method inside the encryption.
    pub fn method(&self) -> Method {
        if self.central.method == aes::METHOD {
            let inner = extra::find(self.central.extra, extra::AES);
            if let Some(data) = inner.filter(|data| data.len() >= 7) {
                return Method::of(le16(data, 5));
            }
        }
        Method::of(self.central.method)
    }

    /// Whether its content is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.central.flags & flag::ENCRYPTED != 0 || self.central.method == aes::METHOD
    }

    /// Whether a descriptor with sizes and checksum follows the content.
    pub fn has_descriptor(&self) -> bool {
        self.central.flags & flag::DESCRIPTOR != 0
    }

    /// The checksum of its content.
    pub fn crc32(&self) -> u32 {
        self.central.crc32
    }

    /// The stated compressed size.
    pub fn compressed_bytes(&self) -> u64 {
        self.wide.compressed
    }

    /// The stated size of the content.
    pub fn content_bytes(&self) -> u64 {
        self.wide.content
    }

    /// Where its local header starts in the archive.
    pub fn offset(&self) -> u64 {
        self.wide.offset.saturating_add(self.base)
    }

    /// Where its record starts in the directory, for [`Directory::iter_at`].
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The byte of the archive where its record starts, for errors about what it states.
    pub(crate) fn record_offset(&self) -> u64 {
        self.at
    }

    /// File, directory or symbolic link.
    pub fn kind(&self) -> EntryKind {
        const TYPE_BITS: u32 = 0o170_000;
        let bits = self.unix_mode().unwrap_or(0) & TYPE_BITS;
        let slash = self.central.name.ends_with(b"/");
        if bits == EntryKind::Symlink.mode_bits() {
            EntryKind::Symlink
        } else if slash
            || bits == EntryKind::Directory.mode_bits()
            || (bits == 0 && self.central.attributes & DOS_DIRECTORY != 0)
        {
            EntryKind::Directory
        } else {
            EntryKind::File
        }
    }

    /// Permission bits, if the archive comes from a system that has them.
    pub fn mode(&self) -> Option<u32> {
        self.unix_mode().map(|mode| mode & 0o7777)
    }

    fn unix_mode(&self) -> Option<u32> {
        let mode = self.central.attributes >> 16;
        (self.is_of_unix() && mode != 0).then_some(mode)
    }

    /// When it was modified.
    pub fn time(&self) -> EntryTime {
        extra::modified(self.central.extra).unwrap_or_else(|| self.dos_time())
    }

    /// The same by its oldest fields alone: what a clock showed, to two seconds.
    pub fn dos_time(&self) -> EntryTime {
        EntryTime::Local {
            seconds: time::from_dos(self.central.time, self.central.date),
        }
    }

    /// Its comment.
    pub fn comment(&self) -> &'a [u8] {
        self.central.comment
    }

    /// Who made it: the version of the format, times ten, and in the upper byte the system, as the
    /// directory states them.
    pub fn made_by(&self) -> u16 {
        self.central.made_by
    }

    /// The version of the format that a reader needs, times ten.
    pub fn needed_version(&self) -> u16 {
        self.central.needed
    }

    /// The general purpose flags.
    pub fn flags(&self) -> u16 {
        self.central.flags
    }

    /// The internal attributes; the lowest bit says that the content is text.
    pub fn internal_attributes(&self) -> u16 {
        self.central.internal
    }

    /// The external attributes: on Unix the mode in the upper half, and those of DOS in the lowest
    /// byte.
    pub fn external_attributes(&self) -> u32 {
        self.central.attributes
    }

    /// The extra fields of the directory, as they are.
    pub fn extra_bytes(&self) -> &'a [u8] {
        self.central.extra
    }
}
