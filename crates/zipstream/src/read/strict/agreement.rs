//! Whether a local header and its record in the directory say the same.

use std::hash::{BuildHasher as _, RandomState};

use super::headers::TIME_STEP_SECONDS;
use crate::error::{Error, ErrorKind};
use crate::format::extra::Found;
use crate::format::local::{Local, StatedBefore};
use crate::format::{MAX32, flag};
use crate::method::Method;
use crate::read::entry::Entry;

/// The version that a ZIP64 field needs, times ten.
const ZIP64_VERSION: u16 = 45;

/// Flags that the default profile compares.
const SHARED_FLAGS: u16 =
    flag::ENCRYPTED | flag::DESCRIPTOR | flag::PATCH | flag::UTF8 | flag::MASKED;

/// Compares a local header with the directory: what makes a program that trusts one of them read other
/// content than one that trusts the other.
pub(crate) fn agree(entry: &Entry<'_>, local: &Local<'_>) -> Result<(), Error> {
    agree_with(entry, local, &Extra::of(entry, local))
}

/// The extra fields of both.
struct Extra<'a> {
    local: Found<'a>,
    central: Found<'a>,
}

impl<'a> Extra<'a> {
    fn of(entry: &Entry<'a>, local: &Local<'a>) -> Self {
        Self {
            local: Found::of(local.extra),
            central: Found::of(entry.central().extra),
        }
    }
}

fn agree_with(entry: &Entry<'_>, local: &Local<'_>, extra: &Extra<'_>) -> Result<(), Error> {
    let central = entry.central();
    if local.name != central.name {
        return Err(differs("the name").of_local_name(local.name));
    }
    if local.method != central.method {
        return Err(differs("the method"));
    }
    if (local.flags ^ central.flags) & SHARED_FLAGS != 0 {
        return Err(differs("the flags"));
    }
    if central.needs_zip64() && extra.central.zip64.is_none() {
        let what = "a ZIP64 field is needed and missing";
        return Err(Error::new(ErrorKind::Corrupt, what));
    }
    if extra.local.aes != extra.central.aes {
        return Err(differs("the encryption"));
    }
    // Before a descriptor a size may be missing, and some writers state only one of the two.
    let later = local.has_descriptor();
    let wide = later && (local.content, local.compressed) == (MAX32, MAX32);
    let (content, compressed) = local.sizes(&extra.local);
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

/// The same for the strict profile: everything that both state. Each was checked alone before. Returns whether the local header
/// has a ZIP64 field, so that sizes in its descriptor have 64 bits.
pub(in crate::read) fn agree_strictly(entry: &Entry<'_>, local: &Local<'_>) -> Result<bool, Error> {
    let extra = Extra::of(entry, local);
    agree_with(entry, local, &extra)?;
    let central = entry.central();
    let version = Version::of(local.needed, &extra.local);
    if !version.agrees_with(Version::of(central.needed, &extra.central)) {
        return Err(differs("the version needed"));
    }
    if local.flags != central.flags {
        return Err(differs("the flags"));
    }
    let stamps = (stamp(&extra.local), stamp(&extra.central));
    let times = (local.time, local.date) == (central.time, central.date);
    if !times || !stamps_agree(stamps) {
        return Err(differs("the time"));
    }
    if local.has_descriptor() {
        sizes_before_a_descriptor(
            &local.stated_before(&extra.local),
            (
                entry.crc32(),
                entry.compressed_bytes(),
                entry.content_bytes(),
            ),
        )?;
        let empty = entry.content_bytes() == 0 && !entry.is_encrypted();
        if entry.method() == Method::Stored && local.sizes(&extra.local).1 == 0 && !empty {
            let what =
                "a stored entry with a descriptor, whose end programs without the directory guess";
            return Err(Error::new(ErrorKind::Unsupported, what));
        }
    }
    Ok(version.wide)
}

/// What precedes a descriptor must be missing or right.
pub(in crate::read) fn sizes_before_a_descriptor(
    before: &StatedBefore,
    (crc32, compressed, content): (u32, u64, u64),
) -> Result<(), Error> {
    let fits = |stated: u64, real: u64| stated == 0 || stated == real;
    let sizes = |(stated_content, stated_compressed)| {
        fits(stated_content, content) && fits(stated_compressed, compressed)
    };
    if !before.narrow.is_none_or(sizes) || !before.wide.is_none_or(sizes) {
        let what = "a size before its descriptor differs from that";
        return Err(Error::new(ErrorKind::Mismatch, what));
    }
    if !fits(before.crc32.into(), crc32.into()) {
        let what = "a checksum before its descriptor differs from that";
        return Err(Error::new(ErrorKind::Mismatch, what));
    }
    Ok(())
}

/// The version that a header needs, and whether it has a ZIP64 field.
#[derive(Debug, Clone, Copy)]
struct Version {
    needed: u16,
    wide: bool,
}

impl Version {
    fn of(needed: u16, extra: &Found<'_>) -> Self {
        Self {
            needed,
            wide: extra.zip64.is_some(),
        }
    }

    /// Whether both are the same, but for what a ZIP64 field needs: zip states that in one of them.
    fn agrees_with(self, other: Self) -> bool {
        let field = |one: Self| one.needed == ZIP64_VERSION && one.wide;
        self.needed == other.needed || field(self) || field(other)
    }
}

/// The first of the times that extra fields have; the others were compared with it.
fn stamp(extra: &Found<'_>) -> Option<i64> {
    extra.stamps().next()
}

fn stamps_agree((one, other): (Option<i64>, Option<i64>)) -> bool {
    one.zip(other)
        .is_none_or(|(one, other)| one.abs_diff(other) <= TIME_STEP_SECONDS)
}

/// What is remembered of an entry in a stream, to compare the directory with it.
#[derive(Debug, Clone, Copy)]
pub(in crate::read) struct Seen {
    pub(in crate::read) offset: u64,
    pub(in crate::read) crc32: u32,
    pub(in crate::read) compressed: u64,
    pub(in crate::read) content: u64,
    /// A hash of everything that both headers state, under a key of this run.
    shared: u64,
    version: Version,
    stamp: Option<i64>,
    /// Whether the directory has a record of it.
    listed: bool,
}

impl Seen {
    /// An entry with these extra fields.
    pub(in crate::read) fn new(
        local: &Local<'_>,
        extra: &Found<'_>,
        offset: u64,
        key: &RandomState,
    ) -> Self {
        let numbers = [local.flags, local.method, local.time, local.date];
        Self {
            offset,
            crc32: 0,
            compressed: 0,
            content: 0,
            shared: key.hash_one((numbers, local.name, extra.aes)),
            version: Version::of(local.needed, extra),
            stamp: stamp(extra),
            listed: false,
        }
    }

    /// Whether a record with these extra fields says the same, and is the first one to do so.
    pub(in crate::read) fn is_of(
        &mut self,
        record: &Entry<'_>,
        extra: &Found<'_>,
        key: &RandomState,
    ) -> bool {
        let central = record.central();
        let numbers = [central.flags, central.method, central.time, central.date];
        let stated = (
            record.crc32(),
            record.compressed_bytes(),
            record.content_bytes(),
        );
        let first = !std::mem::replace(&mut self.listed, true);
        first
            && (self.crc32, self.compressed, self.content) == stated
            && self.shared == key.hash_one((numbers, central.name, extra.aes))
            && self.version.agrees_with(Version::of(central.needed, extra))
            && stamps_agree((self.stamp, stamp(extra)))
    }
}

pub(in crate::read) fn differs(what: &str) -> Error {
    let what = format!("{what} differs from the directory");
    Error::new(ErrorKind::Mismatch, what).help("without strict reading the directory is trusted")
}
