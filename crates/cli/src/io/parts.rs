//! Archives in one file, and in the parts of a split archive: `a.z01`, `a.z02` and so on, and at last `a.zip`.

use std::fs::File;
use std::io;
use std::path::Path;

use zipstream::combine::{Parts, part_path};
use zipstream::{ArchiveReader, Error, ErrorKind, Profile, ReadAt, ReadOptions};

use crate::failure::Failure;

/// What an archive is read from.
#[derive(Debug)]
pub(crate) enum Source {
    File(File),
    Parts {
        parts: Parts<File>,
        /// The size of the first one.
        part_bytes: u64,
    },
}

impl Source {
    /// Whether it is a split archive.
    pub(crate) fn is_split(&self) -> bool {
        self.part_bytes().is_some()
    }

    /// The size of the first part of a split archive.
    pub(crate) fn part_bytes(&self) -> Option<u64> {
        match self {
            Self::File(_) => None,
            Self::Parts { part_bytes, .. } => Some(*part_bytes),
        }
    }
}

impl ReadAt for Source {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => ReadAt::read_at(file, buffer, offset),
            Self::Parts { parts, .. } => parts.read_at(buffer, offset),
        }
    }

    fn size(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => file.size(),
            Self::Parts { parts, .. } => parts.size(),
        }
    }
}

/// Why an archive cannot be opened.
#[derive(Debug)]
pub(crate) enum Unopened {
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
pub(crate) fn open(
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
    // Not every program reads the parts of an archive.
    if count < 2 || options.profile == Profile::Strict {
        return Err(split.into());
    }
    allow_files(count);
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
    let part_bytes = parts[0].size().map_err(|error| Error::from_io(&error))?;
    let parts = Parts::join(parts, &options.limits)?;
    let source = Source::Parts { parts, part_bytes };
    Ok(ArchiveReader::open_with(source, options)?)
}

/// Allows so many files more to be open, as far as the system lets a process.
fn allow_files(more: u32) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        if let Some(current) = limit.current {
            let wanted = current.saturating_add(more.into());
            limit.current = Some(limit.maximum.map_or(wanted, |most| wanted.min(most)));
            // Where it stays, opening says so.
            let _ = setrlimit(Resource::Nofile, limit);
        }
    }
    #[cfg(not(unix))]
    let _ = more;
}
