//! An entry, as its record in the directory describes it.

use std::borrow::Cow;

use crate::crypt::aes;
use crate::entry_kind::EntryKind;
use crate::entry_time::EntryTime;
use crate::error::{Error, ErrorKind};
use crate::format::central::{Central, UNIX};
use crate::format::extra::Wide;
use crate::format::names::{self, Stated};
use crate::format::{extra, flag, le16, time};
use crate::method::Method;

/// What a record costs of a budget besides its bytes. A unit is about what a nanosecond does on a fast machine.
pub(super) const RECORD_COST: u64 = 32;

/// "Made by" of a system that also uses Unix modes.
const MACOS: u8 = 19;
/// The DOS attribute of directories.
const DOS_DIRECTORY: u32 = 0x10;

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
    #[inline(always)]
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
    pub(super) fn is_of_unix(&self) -> bool {
        let [_, system] = self.central.made_by.to_le_bytes();
        matches!(system, UNIX | MACOS)
    }

    /// Reads its name, if it states no charset, in that of Unix or of other systems.
    #[inline]
    pub(super) fn set_stated(&mut self, [unix, other]: [Stated; 2]) {
        self.stated = if self.is_of_unix() { unix } else { other };
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
    pub(super) fn is_renamed(&self) -> bool {
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

    /// Where its record starts in the directory, for [`Directory::iter_at`](super::Directory::iter_at).
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
        let bits = match self.is_of_unix() {
            true => self.central.attributes >> 16 & TYPE_BITS,
            false => 0,
        };
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

    /// Permission bits, if the archive comes from a system that has them. Some programs of DOS state them as well: they
    /// count where the attributes of DOS say the same, as in Info-ZIP's unzip.
    pub fn mode(&self) -> Option<u32> {
        let mode = self.central.attributes >> 16;
        let counts = mode != 0 && (self.is_of_unix() || self.has_mode_of_dos());
        counts.then_some(mode & 0o7777)
    }

    /// Whether it was made on DOS, with a mode that agrees with the attributes of DOS.
    fn has_mode_of_dos(&self) -> bool {
        let [_, system] = self.central.made_by.to_le_bytes();
        let (mode, dos) = (self.central.attributes >> 16, self.central.attributes);
        let owner = 0o400 | u32::from(dos & 1 == 0) << 7 | (dos & DOS_DIRECTORY) << 2;
        system == 0 && mode & 0o700 == owner
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
