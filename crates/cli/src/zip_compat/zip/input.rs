//! What `zip` reads from standard input: names and comments.

use std::ffi::OsString;
use std::path::Path;

use report::ExitStatus;

use crate::failure::Failure;
use crate::io::listed;
use crate::zip_compat::ended::{Ended, Stop, zip as code};

fn unread(failure: Failure) -> Stop {
    let code = match failure.exit_status() {
        ExitStatus::Usage => code::USAGE,
        _ => code::READ,
    };
    Stop::new(code, failure)
}

/// Names, one per line.
pub(super) fn names() -> Ended<Vec<OsString>> {
    let names = listed::names(Path::new("-")).map_err(unread)?;
    Ok(names.into_iter().map(OsString::from).collect())
}

/// A line without its end; `None` at the end of the input.
pub(super) fn line() -> Ended<Option<Vec<u8>>> {
    listed::line().map_err(unread)
}

/// The comment of an archive: lines up to one that is a dot.
pub(super) fn comment() -> Ended<Vec<u8>> {
    listed::comment().map_err(unread)
}
