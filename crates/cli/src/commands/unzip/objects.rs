//! Entries that become objects of a store, each whole or not at all, below a URL.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use files::output::Output;
use files::target::Target;
use files::{Error, url};
use zipstream::extract::{Existing, NewObject, Objects};

use crate::io::context;

/// Where objects go.
pub(super) struct Prefix<'a> {
    url: &'a str,
    replaces: bool,
}

impl<'a> Prefix<'a> {
    /// The prefix that the name of a directory is, if it is a URL.
    pub(super) fn of(directory: &'a Path, existing: Existing) -> Option<Self> {
        let url = url::of(directory)?;
        let replaces = existing == Existing::Overwrite;
        Some(Self { url, replaces })
    }

    /// The URL of the object of an entry.
    pub(super) fn name(&self, path: &str) -> PathBuf {
        url::below(self.url, path).into()
    }
}

impl Objects for Prefix<'_> {
    fn start(&self, path: &str) -> io::Result<Option<Box<dyn NewObject + '_>>> {
        match Target::create(&self.name(path), self.replaces, None, context()) {
            Ok(target) => Ok(Some(Box::new(Uploading {
                out: target.writer(),
                target,
            }))),
            Err(Error::Exists { .. }) => Ok(None),
            Err(error) => Err(reason(error)),
        }
    }
}

/// An object that is being written.
struct Uploading {
    // Closed before the target is dropped, which takes back what was sent.
    out: Output,
    target: Target,
}

impl Write for Uploading {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        written.map_err(|error| reason(self.target.error(error)))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl NewObject for Uploading {
    fn finish(self: Box<Self>) -> io::Result<()> {
        let Self { out, target } = *self;
        drop(out);
        target.commit().map_err(|error| match error {
            Error::Exists { .. } => io::ErrorKind::AlreadyExists.into(),
            error => reason(error),
        })
    }
}

/// The reason alone: which object it is about is said with the entry.
fn reason(error: Error) -> io::Error {
    match error {
        Error::Io { source, .. } => source,
        error => io::Error::other(error),
    }
}
