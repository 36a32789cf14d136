//! The requirements of one entry: its name, and its local header compared with the directory.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use super::directory::Entry;
use crate::error::{Error, ErrorKind};
use crate::format::local::Local;
use crate::format::{MAX32, extra, flag};
use crate::name;

/// Flags that must be equal in the local header and the directory.
pub(super) const SHARED_FLAGS: u16 =
    flag::ENCRYPTED | flag::DESCRIPTOR | flag::PATCH | flag::UTF8 | flag::MASKED;

/// The names seen so far, by their hashes.
#[derive(Default)]
pub(super) struct Names {
    hashes: HashSet<u64>,
    hasher: RandomState,
}

impl Names {
    /// Adds a name and returns whether it is new. A directory and a file of one name are the same.
    pub(super) fn insert(&mut self, name: &str) -> bool {
        let hash = self.hasher.hash_one(name.trim_end_matches('/'));
        self.hashes.insert(hash)
    }
}

pub(super) fn twice() -> Error {
    Error::new(ErrorKind::Duplicate, "another entry has the same name")
}

/// Refuses names and extra fields that the strict profile does not accept.
pub(super) fn safe_name(name: &str, area: &[u8]) -> Result<(), Error> {
    if let Err(fault) = name::check(name) {
        return Err(Error::new(ErrorKind::Name, fault.to_string()));
    }
    let mut parts = name.trim_end_matches('/').split('/');
    if parts.any(|part| part.is_empty() || part == ".") {
        let what = "the name has components that are empty or '.'";
        return Err(Error::new(ErrorKind::Name, what));
    }
    if !extra::is_whole(area) {
        let what = "extra fields that are cut off";
        return Err(Error::new(ErrorKind::Corrupt, what));
    }
    Ok(())
}

/// Compares a local header with the directory.
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
        let what = "a ZIP64 field is needed and missing";
        return Err(Error::new(ErrorKind::Corrupt, what));
    }
    if extra::find(local.extra, extra::AES) != extra::find(central.extra, extra::AES) {
        return Err(differs("the encryption"));
    }
    // Before a descriptor a size may be missing, and some writers state only one of the two.
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

pub(super) fn differs(what: &str) -> Error {
    let what = format!("{what} differs from the directory");
    Error::new(ErrorKind::Mismatch, what).help("use the default profile to trust the directory")
}
