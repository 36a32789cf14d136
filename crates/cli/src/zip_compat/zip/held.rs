//! The archive that is changed.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use files::target;
use zipstream::{ArchiveReader, Merge};

use crate::failure::Failure;
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::zip::flags::{Action, Line};
use crate::zip_compat::zip::warnings;

/// The archive that is changed.
pub(super) struct Held {
    pub(super) reader: ArchiveReader<File>,
    pub(super) metadata: Metadata,
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
            if line.action != Action::Merge(Merge::Replace)
                && !matches!(line.action, Action::Merge(Merge::Update | Merge::Sync))
            {
                warnings::warn(line, &format!("there is no archive '{}'", path.display()));
            }
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    };
    let metadata = file.metadata().map_err(unreadable)?;
    let broken = |what: String| {
        let name = path.display();
        Stop::new(
            code::STRUCTURE,
            Failure::new(format!("'{name}' cannot be changed: {what}")).help(
                "it is unchanged; `perfkit zip --repair` recovers the intact entries of an archive",
            ),
        )
    };
    if !metadata.is_file() {
        return Err(broken("it is no regular file".to_owned()));
    }
    let opened = ArchiveReader::open(file).and_then(|reader| reader.check().map(|()| reader));
    let reader = opened.map_err(|error| broken(error.to_string()))?;
    Ok(Some(Held { reader, metadata }))
}
