//! The records that end an archive: one end record, and either none or both of those of ZIP64.

use super::headers::VERSION_MAX;
use crate::error::{Error, ErrorKind};
use crate::format::end::{END64_BYTES, END64_DATA_BYTES, End, LOCATOR_BYTES};
use crate::format::{END_SIGNATURE, le16, le32, le64};

fn corrupt(what: &'static str) -> Error {
    Error::new(ErrorKind::Corrupt, what)
}

/// Checks the end record, next to that of ZIP64 if there is one.
pub(in crate::read) fn check_end(narrow: &End, wide: Option<&End>) -> Result<(), Error> {
    let none = |disk: u32| disk == 0 || (wide.is_some() && disk == u32::from(u16::MAX));
    if !none(narrow.disks.0) || !none(narrow.disks.1) {
        return Err(corrupt("the end record is that of a split archive"));
    }
    if wide.is_some_and(|wide| !narrow.agrees_with(wide)) {
        return Err(corrupt("the two end records contradict each other"));
    }
    Ok(())
}

/// Checks a ZIP64 end record, of 56 bytes.
pub(in crate::read) fn check_end64(record: &[u8]) -> Result<(), Error> {
    let Some(fixed) = record.first_chunk::<END64_BYTES>() else {
        return Err(corrupt("no ZIP64 end record"));
    };
    if le64(fixed, 4) != END64_DATA_BYTES {
        return Err(corrupt("a ZIP64 end record of another version than 1"));
    }
    if le16(fixed, 14) > VERSION_MAX {
        return Err(corrupt(
            "a ZIP64 end record that needs a version beyond 6.3",
        ));
    }
    if (le32(fixed, 16), le32(fixed, 20)) != (0, 0) {
        return Err(corrupt("the ZIP64 end record is that of a split archive"));
    }
    Ok(())
}

/// Checks a ZIP64 locator, whose record starts at `at`.
pub(in crate::read) fn check_locator(locator: &[u8], at: u64) -> Result<(), Error> {
    let Some(fixed) = locator.first_chunk::<LOCATOR_BYTES>() else {
        return Err(corrupt("no ZIP64 locator"));
    };
    if (le32(fixed, 4), le32(fixed, 16)) != (0, 1) {
        return Err(corrupt("the ZIP64 locator is that of a split archive"));
    }
    if le64(fixed, 8) != at {
        return Err(corrupt(
            "the locator points elsewhere than to the ZIP64 end record",
        ));
    }
    Ok(())
}

/// Whether an end record, with its comment, contains something that looks like another one.
pub(in crate::read) fn hides_an_end(record: &[u8]) -> bool {
    let signature = END_SIGNATURE.to_le_bytes();
    record.windows(4).skip(1).any(|bytes| bytes == signature)
}
