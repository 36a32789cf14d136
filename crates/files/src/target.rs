//! Where output goes: a file or an object that appears whole or not at all, standard output, or
//! nowhere.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::open::open;
use crate::output::Output;
use crate::temporary::Temporary;
use crate::{Context, Error, Operation, Result, url};

mod attributes;

use attributes::{final_mode, first_mode, is_small_and_ours};

/// An opened target. Dropped without [`Target::commit`] it leaves nothing behind.
#[derive(Debug)]
pub enum Target {
    /// A new file in the directory of its final place.
    File {
        /// The file that is written.
        file: Output,
        /// What it is until it is complete; gone on drop.
        temporary: Temporary,
        /// Its name then.
        path: PathBuf,
        /// Whether an existing file of that name is replaced.
        replace: bool,
    },
    /// A device or pipe that exists: written in place.
    Special {
        /// The file.
        file: Output,
        /// Its name.
        path: PathBuf,
    },
    /// Standard output.
    Stdout(Output),
    /// An object of a store, which takes what goes through a pipe.
    #[cfg(feature = "remote")]
    Remote {
        /// The pipe.
        file: Output,
        /// The other end of it; given up on drop, when the pipe is closed.
        upload: crate::remote::Upload,
        /// Its URL.
        path: PathBuf,
    },
}

/// What becomes of a symbolic link at the place of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// What it leads to is replaced.
    Follow,
    /// The same, readable by its owner alone.
    FollowPrivate,
    /// It is replaced itself.
    Replace,
}

/// Whether a link leads to a regular file or nowhere, and is none of those by which the system names open files.
fn is_replaceable_link(path: &Path) -> bool {
    let plain = match std::fs::metadata(path) {
        Ok(metadata) => metadata.is_file(),
        Err(_) => true,
    };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let of_the_system = std::fs::canonicalize(directory)
        .is_ok_and(|directory| directory.starts_with("/dev") || directory.starts_with("/proc"));
    plain && !of_the_system
}

impl Target {
    /// Prepares `path`. An existing file is refused unless `force`; it stays untouched until
    /// [`Target::commit`]. Only the owner may read a copy of `source` before
    /// [`Target::copy_attributes`].
    ///
    /// # Errors
    /// It exists and is not replaced, is a directory or a block device, or the system refuses.
    pub fn create(
        path: &Path,
        force: bool,
        source: Option<&Metadata>,
        context: &Context,
    ) -> Result<Self> {
        Self::open(path, force, source, Link::Follow, context)
    }

    /// The same for a file whose name was not given but made of another one: a symbolic link at its place is something
    /// that exists and, with `force`, is replaced itself. A file that the link leads to, anywhere, stays as it is. Links to
    /// devices and pipes, and those of `/dev` and `/proc`, are followed.
    ///
    /// # Errors
    /// As of [`Target::create`].
    pub fn create_beside(
        path: &Path,
        force: bool,
        source: Option<&Metadata>,
        context: &Context,
    ) -> Result<Self> {
        Self::open(path, force, source, Link::Replace, context)
    }

    /// The same for a file that is made of several: only its owner may read it before
    /// [`Target::settle_rights`].
    ///
    /// # Errors
    /// As of [`Target::create`].
    pub fn create_private(path: &Path, force: bool, context: &Context) -> Result<Self> {
        Self::open(path, force, None, Link::FollowPrivate, context)
    }

    fn open(
        path: &Path,
        force: bool,
        source: Option<&Metadata>,
        link: Link,
        context: &Context,
    ) -> Result<Self> {
        let private = link == Link::FollowPrivate;
        if is_stdout(path) {
            return Self::stdout(context);
        }
        if let Some(url) = url::of(path) {
            return match url::local(url) {
                Some(local) => Self::open(&local, force, source, link, context),
                None => Self::remote(path, url, force, context),
            };
        }
        let mut found = path.symlink_metadata();
        let mut resolved = None;
        let is_link = found.as_ref().is_ok_and(Metadata::is_symlink);
        if is_link && !(link == Link::Replace && is_replaceable_link(path)) {
            // A link stays a link: what it leads to is replaced.
            resolved = std::fs::canonicalize(path).ok();
            found = std::fs::metadata(path).or(found);
        }
        let path = resolved.as_deref().unwrap_or(path);
        match found {
            Ok(metadata) if metadata.is_dir() => return Err(is_directory(path)),
            Ok(metadata) if !metadata.is_file() && !metadata.is_symlink() => {
                return Self::special(path, force, &metadata, context);
            }
            // A dangling symbolic link is something that exists, too.
            Ok(_) if !force => return Err(exists(path)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::write(path, error));
            }
            _ => {}
        }
        Self::new_file(path, force, source, private, context)
    }

    /// The same for a path at which there is nothing, or a regular file that may be replaced.
    /// `None`: there is something else.
    ///
    /// # Errors
    /// As of [`Target::create`].
    pub fn create_plain(
        path: &Path,
        force: bool,
        source: Option<&Metadata>,
        context: &Context,
    ) -> Result<Option<Self>> {
        let plain = match path.symlink_metadata() {
            Ok(metadata) => force && metadata.is_file(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        match plain && url::of(path).is_none() {
            true => Self::new_file(path, force, source, false, context).map(Some),
            false => Ok(None),
        }
    }

    fn new_file(
        path: &Path,
        replace: bool,
        source: Option<&Metadata>,
        private: bool,
        context: &Context,
    ) -> Result<Self> {
        if path.as_os_str().is_empty() {
            return Err(Error::Unnamed);
        }
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(is_directory(path));
        }
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let unnamed = match replace || !source.is_some_and(is_small_and_ours) {
            true => None,
            false => Temporary::create_unnamed(directory, final_mode(source)),
        };
        let (file, temporary) = unnamed
            .map_or_else(
                || Temporary::create(directory, first_mode(source, private), context),
                Ok,
            )
            .map_err(|error| Error::write(path, error))?;
        Ok(Self::File {
            file: Output::new(file),
            temporary,
            path: path.to_owned(),
            replace,
        })
    }

    fn special(path: &Path, force: bool, metadata: &Metadata, context: &Context) -> Result<Self> {
        #[cfg(unix)]
        if std::os::unix::fs::FileTypeExt::is_block_device(&metadata.file_type()) && !force {
            return Err(Error::BlockDevice {
                path: path.to_owned(),
            });
        }
        #[cfg(not(unix))]
        let _ = (force, metadata);
        let file = open(path, OpenOptions::new().write(true), context.cancelled())
            .map_err(|error| Error::write(path, error))?;
        Ok(Self::Special {
            file: Output::filtered(file, context),
            path: path.to_owned(),
        })
    }

    #[cfg(feature = "remote")]
    fn remote(path: &Path, url: &str, replace: bool, context: &Context) -> Result<Self> {
        let started = crate::remote::Upload::start(url, replace, context.cancelled())
            .map_err(|error| Error::write(path, error))?;
        let (file, upload) = started.ok_or_else(|| exists(path))?;
        Ok(Self::Remote {
            file: Output::new(file),
            upload,
            path: path.to_owned(),
        })
    }

    #[cfg(not(feature = "remote"))]
    fn remote(_: &Path, url: &str, _: bool, _: &Context) -> Result<Self> {
        Err(url::unsupported(Operation::Write, url))
    }

    /// Standard output.
    ///
    /// # Errors
    /// It was closed from the start.
    pub fn stdout(context: &Context) -> Result<Self> {
        Output::stdout(context)
            .map(Self::Stdout)
            .map_err(|error| Error::write("standard output", error))
    }

    /// What is written, for a writer thread.
    pub fn writer(&self) -> Output {
        self.output().clone()
    }

    fn output(&self) -> &Output {
        match self {
            Self::File { file, .. } | Self::Special { file, .. } | Self::Stdout(file) => file,
            #[cfg(feature = "remote")]
            Self::Remote { file, .. } => file,
        }
    }

    /// A file without a name for what becomes this target in the end: on the same file system, or where
    /// temporary files are.
    pub fn spool(&self) -> io::Result<File> {
        let beside = match self {
            Self::File { path, .. } => path.parent(),
            _ => None,
        };
        match beside {
            Some(directory) if directory.as_os_str().is_empty() => tempfile::tempfile_in("."),
            Some(directory) => tempfile::tempfile_in(directory),
            None => tempfile::tempfile(),
        }
    }

    /// What it is called until it appears, if it is a file with a name.
    pub fn temporary_path(&self) -> Option<&Path> {
        match self {
            Self::File { temporary, .. } => temporary.path(),
            _ => None,
        }
    }

    /// Whether holes may be left in it.
    pub fn is_regular_file(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    /// Whether a write may wait for a reader.
    pub fn may_wait(&self) -> bool {
        match self {
            Self::File { .. } => false,
            _ => waits(self.output().file()),
        }
    }

    /// Makes the file appear under its name.
    ///
    /// # Errors
    /// A file of that name has appeared meanwhile, or the system refuses.
    pub fn commit(self) -> Result<()> {
        match self {
            Self::File {
                file,
                temporary,
                path,
                replace,
            } => temporary
                .persist(file.file(), &path, replace)
                .map_err(|error| failed(&path, error)),
            Self::Special { mut file, path } => {
                file.flush().map_err(|error| Error::write(path, error))
            }
            Self::Stdout(mut file) => file
                .flush()
                .map_err(|error| Error::write("standard output", error)),
            #[cfg(feature = "remote")]
            Self::Remote { file, upload, path } => {
                upload.finish(file).map_err(|error| failed(&path, error))
            }
        }
    }

    /// Whether it is an object of a store: a broken pipe on the way to it is a failure, not the end of a
    /// reader.
    pub fn is_remote(&self) -> bool {
        #[cfg(feature = "remote")]
        return matches!(self, Self::Remote { .. });
        #[cfg(not(feature = "remote"))]
        false
    }

    /// The failure to write to this target.
    #[must_use]
    pub fn error(&self, error: io::Error) -> Error {
        let path = match self {
            Self::File { path, .. } | Self::Special { path, .. } => path,
            Self::Stdout(_) => Path::new("standard output"),
            #[cfg(feature = "remote")]
            Self::Remote { upload, path, .. } => {
                let failure = upload.failure();
                return Error::write(path, failure.unwrap_or(error));
            }
        };
        Error::write(path, error)
    }
}

/// Why a file did not get its name.
pub(super) fn failed(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        io::ErrorKind::IsADirectory => is_directory(path),
        _ => Error::write(path, error),
    }
}

fn exists(path: &Path) -> Error {
    Error::Exists {
        path: path.to_owned(),
    }
}

fn is_directory(path: &Path) -> Error {
    Error::IsDirectory {
        operation: Operation::Write,
        path: path.to_owned(),
    }
}

/// Whether there is something of that name already: a file, or an object of a store.
///
/// # Errors
/// The store does not say.
pub fn is_there(path: &Path, context: &Context) -> Result<bool> {
    if is_stdout(path) {
        return Ok(false);
    }
    match url::of(path) {
        None => Ok(path.symlink_metadata().is_ok()),
        Some(url) => match url::local(url) {
            Some(local) => Ok(local.symlink_metadata().is_ok()),
            None => is_object(path, url, context),
        },
    }
}

#[cfg(feature = "remote")]
fn is_object(path: &Path, url: &str, context: &Context) -> Result<bool> {
    let found = crate::remote::Remote::new(url, context.cancelled()).and_then(|one| one.exists());
    found.map_err(|error| Error::write(path, error))
}

#[cfg(not(feature = "remote"))]
fn is_object(_: &Path, url: &str, _: &Context) -> Result<bool> {
    Err(url::unsupported(Operation::Write, url))
}

/// Whether `path` is a name of standard output.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-" || path == Path::new("/dev/stdout")
}

/// Whether what is written to `path` would appear on a terminal.
pub fn is_terminal(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        // Nothing else is opened: opening does things to some devices.
        std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_char_device())
            && OpenOptions::new()
                .write(true)
                .open(path)
                .is_ok_and(|file| file.is_terminal())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Whether `file` is a pipe, a socket or a terminal.
#[cfg(unix)]
fn waits(file: &File) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = file.metadata().map(|metadata| metadata.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket()) || file.is_terminal()
}

#[cfg(not(unix))]
fn waits(_: &File) -> bool {
    true
}

#[cfg(test)]
mod tests;
