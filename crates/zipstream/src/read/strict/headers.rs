//! One header: versions, flags, extra fields and attributes that every program knows, and times that agree.

use super::names;
use crate::error::{Error, ErrorKind};
use crate::format::central::{Central, UNIX};
use crate::format::extra::Found;
use crate::format::local::Local;
use crate::format::{MAX32, flag, time};
use crate::read::entry::Entry;

/// The newest version of the format, times ten.
pub(super) const VERSION_MAX: u16 = 63;
/// The flags that have a meaning for programs of today: encrypted, two that belong to the method, a
/// descriptor, UTF-8.
const KNOWN_FLAGS: u16 = flag::ENCRYPTED | flag::METHOD | flag::DESCRIPTOR | flag::UTF8;
/// The internal attribute of text; the others are reserved.
const INTERNAL: u16 = 1;
/// Attributes of DOS and Windows that make no file: label, device, reparse point.
const NO_FILE: u32 = 0x08 | 0x40 | 0x400;
/// The attribute of a directory.
const DIRECTORY: u32 = 0x10;
/// The attributes of directories in jars that Maven makes: a mode of all bits, which every program takes for
/// none.
const MAVEN_DIRECTORY: u32 = 0xffff_0000 | DIRECTORY;
/// The most that a clock of some zone is ahead of or behind UTC, in seconds.
const ZONE_SECONDS_MAX: u64 = 15 * 3600;
/// Zones differ in steps of this many seconds.
const ZONE_STEP_SECONDS: u64 = 15 * 60;
/// Two records of one time may differ by this many seconds: DOS counts every other one.
pub(super) const TIME_STEP_SECONDS: u64 = 2;

fn corrupt(what: &'static str) -> Error {
    Error::new(ErrorKind::Corrupt, what)
}

fn mismatch(what: &'static str) -> Error {
    Error::new(ErrorKind::Mismatch, what)
}

/// What both kinds of headers share.
struct Shared<'f, 'a> {
    needed: u16,
    flags: u16,
    time: u16,
    date: u16,
    name: &'a [u8],
    extra: &'f Found<'f>,
}

/// Checks a local header with these extra fields alone; returns its name.
pub(crate) fn check_local<'a>(local: &Local<'a>, extra: &Found<'_>) -> Result<&'a str, Error> {
    let name = shared(&Shared {
        needed: local.needed,
        flags: local.flags,
        time: local.time,
        date: local.date,
        name: local.name,
        extra,
    })?;
    let ones = [local.content, local.compressed].map(|size| size == MAX32);
    match extra.zip64 {
        None if ones.contains(&true) => Err(corrupt("a ZIP64 field is needed and missing")),
        Some(_) if ones[0] != ones[1] => {
            Err(corrupt("only one of its two sizes is in a ZIP64 field"))
        }
        Some(data) if data.len() != 16 => Err(corrupt("its ZIP64 field has not two sizes")),
        Some(_) if !ones[0] && !local.has_descriptor() && local.stated_before(extra).is_two() => {
            Err(mismatch("its ZIP64 field has other sizes"))
        }
        _ => Ok(name),
    }
}

/// Checks a directory record with these extra fields alone; returns its name.
pub(crate) fn check_record<'a>(record: &Entry<'a>, extra: &Found<'_>) -> Result<&'a str, Error> {
    let central = record.central();
    let name = shared(&Shared {
        needed: central.needed,
        flags: central.flags,
        time: central.time,
        date: central.date,
        name: central.name,
        extra,
    })?;
    if central.disk != 0 {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "an entry on another disk",
        ));
    }
    let wanted = [central.content, central.compressed, central.offset];
    let wanted = wanted.iter().filter(|value| **value == MAX32).count();
    match extra.zip64 {
        None if wanted > 0 => return Err(corrupt("a ZIP64 field is needed and missing")),
        Some(data) if data.len() != 8 * wanted => {
            return Err(corrupt(
                "its ZIP64 field has more or less than what is missing",
            ));
        }
        _ => {}
    }
    attributes(central)?;
    Ok(name)
}

fn shared<'a>(header: &Shared<'_, 'a>) -> Result<&'a str, Error> {
    if header.needed > VERSION_MAX {
        let what = format!(
            "it needs version {} of the format: known are those up to 63",
            header.needed
        );
        return Err(Error::new(ErrorKind::Unsupported, what));
    }
    if header.flags & flag::STRONG != 0 {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "encrypted in an unsupported way",
        ));
    }
    if header.flags & !KNOWN_FLAGS != 0 {
        return Err(corrupt("flags that are reserved"));
    }
    if !header.extra.is_whole {
        return Err(corrupt("extra fields that are cut off"));
    }
    if !header.extra.repeats_only {
        return Err(mismatch("two extra fields of one kind that differ"));
    }
    times(header)?;
    names::checked(header.name, header.flags, header.extra)
}

/// The times of one header: all extra fields have the same one, and that of DOS has it in some zone.
fn times(header: &Shared<'_, '_>) -> Result<(), Error> {
    let differ = || mismatch("its times differ");
    let mut stamps = header.extra.stamps();
    let Some(first) = stamps.next() else {
        return Ok(());
    };
    if stamps.any(|stamp| stamp.abs_diff(first) > TIME_STEP_SECONDS) {
        return Err(differ());
    }
    // What DOS cannot say, and what no writer said.
    let local = time::from_dos(header.time, header.date);
    if header.date == 0 || !time::DOS_RANGE.contains(&first) {
        return Ok(());
    }
    let ahead = local.abs_diff(first);
    let step = ahead % ZONE_STEP_SECONDS;
    let is_zone = step <= TIME_STEP_SECONDS || step >= ZONE_STEP_SECONDS - TIME_STEP_SECONDS;
    if ahead > ZONE_SECONDS_MAX + TIME_STEP_SECONDS || !is_zone {
        return Err(differ());
    }
    Ok(())
}

/// What an entry is, by its name and by its attributes.
fn attributes(central: &Central<'_>) -> Result<(), Error> {
    const LINK: u32 = 0o12;
    const FILE: u32 = 0o10;
    const FOLDER: u32 = 0o4;
    // What Info-ZIP packs from a pipe. All readers make a file of it.
    const PIPE: u32 = 0o1;
    if central.internal & !INTERNAL != 0 {
        return Err(corrupt("internal attributes that are reserved"));
    }
    if central.attributes & NO_FILE != 0 {
        return Err(corrupt("attributes of something that is no file"));
    }
    let [_, system] = central.made_by.to_le_bytes();
    let slash = central.name.ends_with(b"/");
    let kind = central.attributes >> 28;
    let fits = match kind {
        0 => slash || central.attributes & DIRECTORY == 0,
        FOLDER => slash,
        FILE => central.attributes & DIRECTORY == 0 || slash,
        PIPE => central.attributes & DIRECTORY == 0 && !slash,
        LINK => !slash && system == UNIX,
        _ => slash && central.attributes == MAVEN_DIRECTORY,
    };
    match fits {
        true => Ok(()),
        false => Err(mismatch(
            "its attributes say that it is another kind of thing than its name does",
        )),
    }
}
