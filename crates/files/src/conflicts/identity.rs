//! What makes a file itself, whatever it is called.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::target::is_stdout;
use crate::{standard, url};

/// What makes a file itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Identity {
    /// An existing file, by device and inode.
    Number(u64, u64),
    /// A file that does not exist yet, or one of several hard links: replacing one of those leaves
    /// the others as they are.
    Name(Arc<Path>, OsString),
}

/// Finds files by their names.
#[derive(Debug, Default)]
pub(super) struct Finder {
    /// Whether no target exists and only jobs are checked. Then names are enough, and no source is looked
    /// at.
    fresh: bool,
    /// The directory asked for last, and what it is called in full.
    directory: Option<(PathBuf, Arc<Path>)>,
}

impl Finder {
    pub(super) fn new(fresh: bool) -> Self {
        Self {
            fresh,
            directory: None,
        }
    }

    /// The file that a path leads to, standard input for `-`.
    pub(super) fn source(&mut self, path: &Path) -> Option<Identity> {
        if path.as_os_str() == "-" {
            return stdin();
        }
        self.named(path)
    }

    /// The file that a path leads to; `None` for standard output and for what several may write to.
    pub(super) fn named(&mut self, path: &Path) -> Option<Identity> {
        if is_stdout(path) {
            return None;
        }
        let local = url::of(path).map(url::local);
        let path = match &local {
            Some(local) => local.as_deref()?,
            None => path,
        };
        if self.fresh {
            return self.name(path);
        }
        match std::fs::metadata(path) {
            Ok(metadata) => self.existing(path, &metadata),
            Err(_) => self.name(path),
        }
    }

    /// Devices and pipes take what several send.
    fn existing(&mut self, path: &Path, metadata: &Metadata) -> Option<Identity> {
        if !metadata.is_file() {
            return None;
        }
        let number = number(metadata).filter(|_| has_one_name(metadata));
        number.or_else(|| self.name(&std::fs::canonicalize(path).ok()?))
    }

    fn name(&mut self, path: &Path) -> Option<Identity> {
        let name = path.file_name()?.to_owned();
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if let Some((asked, whole)) = &self.directory
            && asked == parent
        {
            return Some(Identity::Name(whole.clone(), name));
        }
        let whole: Arc<Path> = std::fs::canonicalize(parent).ok()?.into();
        self.directory = Some((parent.to_owned(), whole.clone()));
        Some(Identity::Name(whole, name))
    }
}

/// A file that is written.
#[derive(Debug)]
pub struct Written {
    name: Option<(OsString, PathBuf)>,
    inode: Option<Identity>,
}

/// What is written to `path`, if it exists already. Standard output is the file that it goes to.
#[must_use]
pub fn written(path: &Path) -> Option<Written> {
    if is_stdout(path) {
        let inode = of_handle(&standard::output().ok()?)?;
        return Some(Written {
            name: None,
            inode: Some(inode),
        });
    }
    let whole = std::fs::canonicalize(path).ok()?;
    Some(Written {
        name: Some((path.file_name()?.to_owned(), whole)),
        inode: None,
    })
}

impl Written {
    /// Whether `path` leads to it. A second hard link is a different file if the target is
    /// replaced, and the same file if it is written in place.
    #[must_use]
    pub fn is(&self, path: &Path) -> bool {
        match (&self.name, &self.inode) {
            (Some((name, whole)), _) => {
                path.file_name() == Some(name)
                    && std::fs::canonicalize(path).is_ok_and(|path| path == *whole)
            }
            (None, written) => written.is_some() && inode(path) == *written,
        }
    }
}

/// The file behind a handle, if it is a regular one.
pub(super) fn of_handle(file: &File) -> Option<Identity> {
    number(&file.metadata().ok().filter(Metadata::is_file)?)
}

/// The file behind standard input, if it is a regular one.
fn stdin() -> Option<Identity> {
    of_handle(&standard::input().ok()?)
}

/// The regular file that a path leads to (standard input for `-`), whatever other names it has.
fn inode(path: &Path) -> Option<Identity> {
    if path.as_os_str() == "-" {
        return stdin();
    }
    let local = url::of(path).map(url::local);
    let path = match &local {
        Some(local) => local.as_deref()?,
        None => path,
    };
    number(&std::fs::metadata(path).ok().filter(Metadata::is_file)?)
}

/// The first of the files that are read which is `written` in its place, under any hard link.
pub(super) fn in_place<'p>(
    mut read: impl Iterator<Item = &'p Path>,
    written: &Identity,
) -> Option<&'p Path> {
    read.find(|path| inode(path).as_ref() == Some(written))
}

#[cfg(unix)]
fn number(metadata: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    Some(Identity::Number(metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> Option<Identity> {
    None
}

/// Whether a file has no other name.
#[cfg(unix)]
fn has_one_name(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.nlink() == 1
}

#[cfg(not(unix))]
fn has_one_name(_: &Metadata) -> bool {
    false
}
