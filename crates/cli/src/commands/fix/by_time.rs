//! Logs in the order in which they begin.

use std::path::{Path, PathBuf};

use fixcore::{Decoder, Timestamp};

use crate::commands::fix::one_log::OneLogArgs;
use crate::commands::fix_logs;
use crate::failure::{Failure, Result};

/// Messages at the beginning of a log that may lack a time.
const LOOKED_AT: usize = 64;

/// The files in the order in which they are read.
pub(super) fn ordered(pieces: OneLogArgs, files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    match pieces.one_log && files.iter().all(|path| has_first(path)) {
        true => sorted(files),
        false => Ok(files.to_vec()),
    }
}

/// Logs in the order of their first times.
fn sorted(files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut timed = Vec::new();
    for path in files {
        timed.push((first_ns(path)?, path.clone()));
    }
    // Those without a time stay where they are, at the end.
    timed.sort_by_key(|(ns, _)| ns.unwrap_or(i64::MAX));
    Ok(timed.into_iter().map(|(_, path)| path).collect())
}

/// Refuses what has no first messages to look at.
pub(super) fn can_look(files: &[PathBuf]) -> Result<()> {
    let lacking = files.iter().find(|path| !has_first(path));
    match lacking.filter(|_| files.len() > 1) {
        None => Ok(()),
        Some(path) => {
            let what = format!("--by-time cannot look into '{}' in advance", path.display());
            Err(Failure::usage(what).help("name files: their first messages say which is first"))
        }
    }
}

/// Whether a log can be read in advance, and again from its beginning.
fn has_first(path: &Path) -> bool {
    path.as_os_str() != "-" && path.is_file()
}

/// The first time (52) in a log.
fn first_ns(path: &Path) -> Result<Option<i64>> {
    let mut decoder = Decoder::new();
    let found = fix_logs::collect(path, LOOKED_AT)?;
    Ok(found.iter().find_map(|bytes| {
        let message = decoder.parse(bytes).ok()?;
        message
            .get(52)
            .and_then(Timestamp::parse)
            .map(|time| time.0)
    }))
}
