//! Finds the archive that a name means.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use zipstream::{ArchiveReader, ErrorKind, ReadOptions, Warning};

use crate::failure::Failure;
use crate::io::parts::{self, Source, Unopened};
use crate::term::message;
use crate::zip_compat::ended::{Ended, Stop, unzip as code};
use crate::zip_compat::shown;

/// An archive and what its messages call it.
pub(super) struct Opened {
    pub(super) reader: ArchiveReader<Source>,
    /// The name by which it was found.
    pub(super) path: PathBuf,
    /// Its size.
    pub(super) bytes: u64,
    /// What is odd about it, as an exit code.
    pub(super) code: u8,
}

/// Opens the archive: under its name, or with the suffix of archives. Names are read as the options say.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Ended<Opened> {
    let (file, path) = find(path)?;
    let metadata = file
        .metadata()
        .map_err(|error| Stop::new(code::NOT_FOUND, Failure::io("read", &path, &error)))?;
    let reader = parts::open(file, &path, options).map_err(|error| {
        let error = match error {
            Unopened::Archive(error) => error,
            Unopened::Part(failure) => return Stop::new(code::NOT_FOUND, failure),
        };
        let exit = match error.kind() {
            ErrorKind::NotZip | ErrorKind::Truncated => code::NOT_FOUND,
            ErrorKind::Unsupported => code::UNSUPPORTED,
            _ => code::DAMAGED,
        };
        let name = path.display();
        Stop::new(
            exit,
            Failure::new(format!("cannot read '{name}': {}", shown::error(&error))).help(
                "`zip -FF` recovers the intact entries of a damaged archive into another one",
            ),
        )
    })?;
    let mut exit = 0;
    for warning in reader.directory().warnings() {
        let code = match warning {
            // What follows the archive is passed over, as by those programs.
            Warning::Padding { .. } | Warning::Trailing { .. } => continue,
            Warning::Count { .. } | Warning::Cut { .. } => code::STRUCTURE,
            Warning::Elsewhere { .. } => code::DAMAGED,
            _ => code::WARNING,
        };
        message::remark(&format!("{}: {warning}", path.display()));
        exit = exit.max(code);
    }
    if reader.is_empty() {
        message::remark(&format!("{}: the archive is empty", path.display()));
        exit = exit.max(code::WARNING);
    }
    Ok(Opened {
        reader,
        bytes: metadata.len(),
        path,
        code: exit,
    })
}

fn find(path: &Path) -> Ended<(File, PathBuf)> {
    let suffixed = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    for candidate in [path.to_owned(), suffixed(".zip"), suffixed(".ZIP")] {
        if candidate.is_dir() {
            continue;
        }
        match File::open(&candidate) {
            Ok(file) => return Ok((file, candidate)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let failure = Failure::io("read", &candidate, &error);
                return Err(Stop::new(code::NOT_FOUND, failure));
            }
        }
    }
    let name = path.display();
    Err(Stop::new(
        code::NOT_FOUND,
        Failure::new(format!(
            "cannot find '{name}', '{name}.zip' or '{name}.ZIP'"
        ))
        .help("check the path; archives from a pipe are read by `perfkit unzip -`"),
    ))
}
