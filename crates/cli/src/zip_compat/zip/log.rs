//! `zip -lf`: the command line, errors and warnings, and with `-li` what is said of the work, in a file as well.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::failure::Failure;
use crate::term::message;
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::shown;

/// What is logged, and where.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) path: Option<PathBuf>,
    /// What a log holds already stays.
    pub(super) appends: bool,
    /// All that is said of the work, not warnings alone.
    pub(super) all: bool,
}

struct Log {
    file: File,
    all: bool,
}

static LOG: Mutex<Option<Log>> = Mutex::new(None);

fn log() -> MutexGuard<'static, Option<Log>> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens the log, if one is wanted. It may be none of the archives that are read and written.
pub(super) fn start(wanted: &Wanted, archives: [&Path; 2], words: &[OsString]) -> Ended<()> {
    let Some(path) = &wanted.path else {
        return Ok(());
    };
    let path = named(path);
    let own = path.canonicalize().unwrap_or_else(|_| path.clone());
    let is_own =
        |archive: &Path| archive == path || archive.canonicalize().is_ok_and(|at| at == own);
    if archives.into_iter().any(is_own) {
        let failure = Failure::new(format!("'{}' is the archive", path.display()));
        return Err(Stop::new(
            code::USAGE,
            failure.help("give the log another name"),
        ));
    }
    let file = File::options()
        .create(true)
        .append(wanted.appends)
        .truncate(!wanted.appends)
        .write(true)
        .open(&path)
        .map_err(|error| Stop::new(code::USAGE, Failure::io("write", &path, &error)))?;
    *log() = Some(Log {
        file,
        all: wanted.all,
    });
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    put(&format!(
        "---------\nzip log opened {}\ncommand line:\n {}\n\n",
        now(),
        shown::name(&words.join(" "))
    ));
    message::set_listener(Some(put));
    Ok(())
}

/// What `zip` says of its work.
pub(super) fn said(text: &str) {
    if log().as_ref().is_some_and(|log| log.all) {
        put(text);
    }
}

/// Ends the log with the error that has ended the run, if one has.
pub(super) fn end(ended: &Ended<u8>) {
    if log().is_none() {
        return;
    }
    if let Err(Stop {
        failure: Some(failure),
        code,
    }) = ended
    {
        put(&format!(
            "\nerror {code}: {}\n",
            shown::name(failure.message())
        ));
    }
    put(&format!("\nDone {}\n", now()));
    message::set_listener(None);
    *log() = None;
}

/// Writes to the log. A full disk does not end the work, whose archive is what matters.
fn put(text: &str) {
    if let Some(log) = log().as_mut() {
        let _ = log.file.write_all(text.as_bytes());
    }
}

/// The name of a log, with its suffix.
fn named(path: &Path) -> PathBuf {
    let last = path.file_name().map(|name| name.as_encoded_bytes());
    if last.is_none_or(|name| name.contains(&b'.')) {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".log");
    PathBuf::from(name)
}

fn now() -> String {
    let now = jiff::Zoned::now();
    now.strftime("%a %b %e %H:%M:%S %Y").to_string()
}
