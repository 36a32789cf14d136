//! What the headers of an entry say besides its name and content.

use super::options::{ArchiveOptions, EntryOptions};
use crate::crypt::Encryption;
use crate::crypt::aes::{self, FIELD_BYTES};
use crate::crypt::encrypt::EntryEncryption;
use crate::entry_kind::EntryKind;
use crate::entry_owner::{self, EntryOwner};
use crate::error::{Error, ErrorKind};
use crate::format::{central, extra, time};
use crate::method::Method;

/// Made on Unix by version 6.3.
const UNIX: u16 = (central::UNIX as u16) << 8 | 63;
/// Made on DOS by version 2.0.
const DOS: u16 = 20;

impl EntryOptions {
    /// What the headers say of the entry besides name and content.
    pub(crate) fn meta(&self, archive: &ArchiveOptions) -> Result<Meta, Error> {
        let level = self.level.unwrap_or(self.method.default_level());
        if matches!(self.method, Method::Other(_)) {
            return Err(crate::method::unsupported(self.method));
        }
        if !self.method.levels().contains(&level) && self.method != Method::Stored {
            let range = self.method.levels();
            let (low, high) = (range.start(), range.end());
            return Err(Error::new(
                ErrorKind::Setting,
                format!(
                    "level {level} of {} is out of range ({low} to {high})",
                    self.method
                ),
            ));
        }
        let fixed = archive.reproducible;
        let modified = fixed.or(self.modified);
        let local = modified.map(|at| at.saturating_add(self.utc_offset_seconds.into()));
        let local = match fixed {
            Some(_) => modified,
            // The only time of an entry is not before that of its file: an update would take it for old, again and again.
            None if self.old_time_only => local.map(|at| at.saturating_add(at & 1)),
            None => local,
        };
        let mode = match (fixed, self.kind) {
            (None, _) => self.mode & 0o7777,
            (_, EntryKind::Symlink) => 0o777,
            (_, EntryKind::Directory) => 0o755,
            (_, EntryKind::File) => 0o644 | if self.mode & 0o100 != 0 { 0o111 } else { 0 },
        };
        let directory = u32::from(self.kind == EntryKind::Directory) << 4;
        let read_only = u32::from(mode & 0o200 == 0);
        let stored = level == 0 || self.method == Method::Stored;
        let encryption = archive.encryption.as_ref();
        let encryption = encryption.filter(|_| self.encrypt && self.kind != EntryKind::Directory);
        Ok(Meta {
            encryption: encryption.map(Encryption::of_entry),
            method: if stored { Method::Stored } else { self.method },
            level: if stored { 0 } else { level },
            dos: time::to_dos(local.unwrap_or(time::DOS_MIN)),
            modified: self
                .modified
                .filter(|_| fixed.is_none() && !self.old_time_only),
            owner: self.owner.filter(|_| fixed.is_none()),
            made_by: if self.dos_attributes { DOS } else { UNIX },
            text: self.text,
            attributes: match self.dos_attributes {
                true => read_only | directory,
                false => (self.kind.mode_bits() | mode) << 16 | directory,
            },
        })
    }
}

/// What the headers of an entry say besides its name and content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) encryption: Option<EntryEncryption>,
    pub(crate) method: Method,
    pub(crate) level: i32,
    pub(crate) dos: (u16, u16),
    pub(crate) modified: Option<i64>,
    pub(crate) owner: Option<EntryOwner>,
    /// The system, and the version of the format times ten.
    pub(crate) made_by: u16,
    /// Whether the content is a text.
    pub(crate) text: bool,
    pub(crate) attributes: u32,
}

impl Meta {
    /// The checksum that the headers state for a content.
    pub(crate) fn stated_crc(&self, crc32: u32) -> u32 {
        match self.encryption {
            Some(encryption) if !encryption.checksum => 0,
            _ => crc32,
        }
    }

    /// The method number that the headers state.
    pub(crate) fn method_code(&self, method: Method) -> u16 {
        self.encryption.map_or(method.code(), |_| aes::METHOD)
    }

    /// The version of the format that a reader needs, times ten.
    pub(crate) fn version(&self, method: Method) -> u16 {
        method
            .version()
            .max(self.encryption.map_or(0, |_| aes::VERSION))
    }

    pub(crate) fn extra_bytes(&self) -> usize {
        self.modified.map_or(0, extra::times_bytes)
            + self.owner.map_or(0, |_| entry_owner::FIELD_BYTES)
            + self.encryption.map_or(0, |_| FIELD_BYTES)
    }
}
