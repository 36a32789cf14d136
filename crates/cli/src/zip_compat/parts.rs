//! Archives in one file, and in the parts of a split archive: `a.z01`, `a.z02` and so on, and at last `a.zip`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use zipstream::combine::Parts;
use zipstream::{ArchiveReader, Error, ErrorKind, ReadAt, ReadOptions};

use crate::failure::Failure;

/// What an archive is read from.
#[derive(Debug)]
pub(super) enum Source {
    File(File),
    Parts(Parts<File>),
}

impl Source {
    /// Whether it is a split archive.
    pub(super) fn is_split(&self) -> bool {
        matches!(self, Self::Parts(_))
    }
}

impl ReadAt for Source {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => ReadAt::read_at(file, buffer, offset),
            Self::Parts(parts) => parts.read_at(buffer, offset),
        }
    }

    fn size(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => file.size(),
            Self::Parts(parts) => parts.size(),
        }
    }
}

/// Why an archive cannot be opened.
#[derive(Debug)]
pub(super) enum Unopened {
    Archive(Error),
    /// A part that is not there, or cannot be read.
    Part(Failure),
}

impl From<Error> for Unopened {
    fn from(error: Error) -> Self {
        Self::Archive(error)
    }
}

/// Opens the archive in `file`, which is at `path`: if it is the last part of a split archive, with the other parts.
pub(super) fn open(
    file: File,
    path: &Path,
    options: &ReadOptions,
) -> Result<ArchiveReader<Source>, Unopened> {
    let again = file.try_clone();
    let split = match ArchiveReader::open_with(Source::File(file), options) {
        Err(error) if error.kind() == ErrorKind::Unsupported => error,
        whole => return Ok(whole?),
    };
    let last = again.map_err(|error| Error::from_io(&error))?;
    let count = Parts::count(&last)?;
    if count < 2 {
        return Err(split.into());
    }
    let mut parts = Vec::new();
    for number in 1..count {
        let part = part_path(path, number);
        let opened = File::open(&part);
        parts.push(opened.map_err(|error| {
            let (name, why) = (part.display(), files::reason(&error));
            let what = format!("part {number} of {count}, '{name}', cannot be read: {why}");
            Unopened::Part(Failure::new(what).help("all parts have to be in one directory"))
        })?);
    }
    parts.push(last);
    let parts = Parts::join(parts, &options.limits)?;
    Ok(ArchiveReader::open_with(Source::Parts(parts), options)?)
}

/// The path of a part that is not the last one.
fn part_path(last: &Path, number: u32) -> PathBuf {
    last.with_extension(format!("z{number:02}"))
}
