//! The archive that is changed.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use files::target;
use zipstream::{ArchiveReader, Merge, ReadOptions};

use crate::failure::Failure;
use crate::io::parts::{self, Source, Unopened};
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::shown;
use crate::zip_compat::zip::flags::{Action, Line};
use crate::zip_compat::zip::values::Split;
use crate::zip_compat::zip::warnings;

/// The archive that is changed.
pub(super) struct Held {
    pub(super) reader: ArchiveReader<Source>,
    pub(super) metadata: Metadata,
}

/// There is no archive to read from.
pub(super) fn missing(archive: &Path) -> Stop {
    let name = archive.display();
    let failure = Failure::new(format!("there is no archive '{name}'"));
    Stop::new(code::OPEN, failure.help("check its name"))
}

/// Opens the archive that is changed, if there is one.
pub(super) fn hold(path: &Path, line: &Line) -> Ended<Option<Held>> {
    if target::is_stdout(path) {
        return Ok(None);
    }
    let unreadable = |error: io::Error| Stop::new(code::READ, Failure::io("read", path, &error));
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // What is written elsewhere is made of it.
            if line.output.as_deref().is_some_and(|output| output != path) {
                return Err(missing(path));
            }
            if line.action != Action::Merge(Merge::Replace)
                && !matches!(line.action, Action::Merge(Merge::Update | Merge::Sync))
            {
                warnings::warn(line, &format!("there is no archive '{}'", path.display()));
            }
            return Ok(None);
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let exit = match line.action {
                Action::Merge(_) if !line.shows && line.output.is_none() => code::CREATE,
                _ => code::OPEN,
            };
            return Err(Stop::new(exit, Failure::io("read", path, &error)));
        }
        Err(error) => return Err(unreadable(error)),
    };
    let metadata = file.metadata().map_err(unreadable)?;
    let broken = |what: String| {
        let name = path.display();
        Stop::new(
            code::STRUCTURE,
            Failure::new(format!("'{name}' cannot be read: {what}")).help(
                "it is unchanged; `zip -FF ARCHIVE -O NEW` recovers the intact entries of an archive",
            ),
        )
    };
    if !metadata.is_file() {
        return Err(broken("it is no regular file".to_owned()));
    }
    let reader = match parts::open(file, path, &ReadOptions::new().unix_bytes(true)) {
        Ok(reader) => reader,
        Err(Unopened::Archive(error)) => return Err(broken(shown::error(&error))),
        Err(Unopened::Part(failure)) => return Err(Stop::new(code::OPEN, failure)),
    };
    reader
        .check()
        .map_err(|error| broken(shown::error(&error)))?;
    let copies = line.output.is_some() || line.shows || line.action == Action::Copy;
    let is_split = reader.source().is_split();
    if (is_split || matches!(line.split, Split::Parts(_))) && !copies {
        let name = path.display();
        let what = match is_split {
            true => format!("'{name}' is a split archive, which is not changed"),
            false => format!("'{name}' exists, and is not changed into a split archive"),
        };
        let failure =
            Failure::new(what).help("-O NEW writes another archive; with -s 0 it is whole");
        return Err(Stop::new(code::USAGE, failure));
    }
    Ok(Some(Held { reader, metadata }))
}
