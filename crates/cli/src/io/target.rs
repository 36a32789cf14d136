//! Where output goes: a file that appears whole or not at all, standard output, or nowhere.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use crate::failure::{Failure, Result};

/// An opened target. Dropped without [`Target::commit`] it leaves nothing behind.
#[derive(Debug)]
pub(crate) enum Target {
    /// A new file beside its final place.
    File {
        /// The file that is written.
        file: File,
        /// Its name until it is complete; removed on drop.
        temporary: TempPath,
        /// Its name then.
        path: PathBuf,
        /// Whether an existing file of that name is replaced.
        replace: bool,
    },
    /// A device or pipe that exists: written in place.
    Special {
        /// The file.
        file: File,
        /// Its name.
        path: PathBuf,
    },
    /// Standard output.
    Stdout(File),
}

impl Target {
    /// Prepares `path`. An existing file is refused unless `force`; it stays untouched until
    /// [`Target::commit`].
    pub(crate) fn create(path: &Path, force: bool) -> Result<Self> {
        if path == Path::new("/dev/stdout") {
            return duplicate_stdout().map(Self::Stdout);
        }
        // A link stays a link: what it leads to is replaced.
        let resolved = path.is_symlink().then(|| std::fs::canonicalize(path).ok());
        let path = resolved.as_ref().and_then(Option::as_deref).unwrap_or(path);
        let existing = std::fs::metadata(path).ok();
        if let Some(metadata) = &existing {
            if metadata.is_dir() {
                return Err(Failure::new(format!("'{}' is a directory", path.display()))
                    .help("name a file with -o"));
            }
            if !metadata.is_file() {
                let file = OpenOptions::new()
                    .write(true)
                    .open(path)
                    .map_err(|error| Failure::io("write", path, &error))?;
                return Ok(Self::Special {
                    file,
                    path: path.to_owned(),
                });
            }
        }
        // A dangling symbolic link is something that exists, too.
        if !force && (existing.is_some() || path.symlink_metadata().is_ok()) {
            return Err(exists(path));
        }
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(path.file_name().unwrap_or(path.as_os_str()));
        prefix.push(".");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // As any program that creates a file: everyone's rights, less the umask.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let temporary: NamedTempFile = builder
            .tempfile_in(directory)
            .map_err(|error| Failure::io("write", path, &error))?;
        let (file, temporary) = temporary.into_parts();
        Ok(Self::File {
            file,
            temporary,
            path: path.to_owned(),
            replace: force,
        })
    }

    /// Standard output, refused for binary data on a terminal unless `force`.
    pub(crate) fn stdout(binary: bool, force: bool) -> Result<Self> {
        let stdout = io::stdout();
        if binary && !force && stdout.is_terminal() {
            return Err(Failure::usage(
                "standard output is a terminal: binary is not written to it",
            )
            .help("redirect it, name a file with -o, or add -f"));
        }
        duplicate_stdout().map(Self::Stdout)
    }

    /// A second handle on what is written, for a writer thread.
    pub(crate) fn writer(&self) -> Result<File> {
        let (Self::File { file, .. } | Self::Special { file, .. } | Self::Stdout(file)) = self;
        file.try_clone().map_err(|error| self.error(&error))
    }

    /// Whether holes may be left in it.
    pub(crate) fn is_regular_file(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    /// Gives the new file the mode and times of its source.
    pub(crate) fn copy_attributes(&self, source: &std::fs::Metadata) {
        let Self::File { file, .. } = self else {
            return;
        };
        // Like the times, the mode is a courtesy: a file system without modes is no error.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = source.permissions().mode() & 0o777;
            let _ = file.set_permissions(std::fs::Permissions::from_mode(mode));
        }
        if let Ok(modified) = source.modified() {
            let mut times = std::fs::FileTimes::new().set_modified(modified);
            if let Ok(accessed) = source.accessed() {
                times = times.set_accessed(accessed);
            }
            let _ = file.set_times(times);
        }
    }

    /// Makes the file appear under its name.
    pub(crate) fn commit(self) -> Result<()> {
        match self {
            Self::File {
                temporary,
                path,
                replace: true,
                ..
            } => temporary
                .persist(&path)
                .map_err(|error| Failure::io("write", &path, &error.error)),
            Self::File {
                temporary,
                path,
                replace: false,
                ..
            } => temporary
                .persist_noclobber(&path)
                .map_err(|error| match error.error.kind() {
                    io::ErrorKind::AlreadyExists => exists(&path),
                    _ => Failure::io("write", &path, &error.error),
                }),
            Self::Special { mut file, path } => file
                .flush()
                .map_err(|error| Failure::io("write", &path, &error)),
            Self::Stdout(mut file) => file
                .flush()
                .map_err(|error| Failure::io("write", Path::new("standard output"), &error)),
        }
    }

    /// The failure to write to this target.
    pub(crate) fn error(&self, error: &io::Error) -> Failure {
        let path = match self {
            Self::File { path, .. } | Self::Special { path, .. } => path,
            Self::Stdout(_) => Path::new("standard output"),
        };
        Failure::io("write", path, error)
    }
}

/// A path as messages name it.
pub(crate) fn display(path: &Path) -> String {
    if path.as_os_str() == "-" {
        "standard input".to_owned()
    } else {
        format!("'{}'", path.display())
    }
}

fn exists(path: &Path) -> Failure {
    Failure::new(format!("'{}' exists already", path.display()))
        .help("add -f to overwrite it, or name another file with -o")
}

/// An unbuffered handle on standard output.
fn duplicate_stdout() -> Result<File> {
    let fail = |error: io::Error| Failure::io("write", Path::new("standard output"), &error);
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        io::stdout()
            .as_fd()
            .try_clone_to_owned()
            .map(File::from)
            .map_err(fail)
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle as _;
        io::stdout()
            .as_handle()
            .try_clone_to_owned()
            .map(File::from)
            .map_err(fail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_is_dropped_leaves_nothing_and_one_committed_appears_whole() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("out");
        let target = Target::create(&path, false).expect("a target");
        target
            .writer()
            .expect("a handle")
            .write_all(b"half")
            .expect("written");
        drop(target);
        assert_eq!(
            std::fs::read_dir(directory.path()).expect("listed").count(),
            0
        );

        let target = Target::create(&path, false).expect("a target");
        target
            .writer()
            .expect("a handle")
            .write_all(b"whole")
            .expect("written");
        assert!(!path.exists());
        target.commit().expect("committed");
        assert_eq!(std::fs::read(&path).expect("read"), b"whole");
        assert!(Target::create(&path, false).is_err(), "it exists now");
        let again = Target::create(&path, true).expect("forced");
        drop(again);
        assert_eq!(
            std::fs::read(&path).expect("read"),
            b"whole",
            "untouched until committed"
        );
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_not_overwritten() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("out");
        let target = Target::create(&path, false).expect("a target");
        std::fs::write(&path, b"theirs").expect("written");
        let failure = target.commit().expect_err("refused");
        assert!(failure.message().ends_with("exists already"), "{failure}");
        assert_eq!(std::fs::read(&path).expect("read"), b"theirs");
    }
}
