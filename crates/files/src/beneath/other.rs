//! The root where files have no handles to start from: every part of a path is looked at by name.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Attributes, Held, Placed};

/// A directory that everything stays below. A copy is for another thread.
#[derive(Debug)]
pub struct Beneath {
    top: PathBuf,
    replace: bool,
}

/// A file that is being written, and is gone when it is not finished.
#[derive(Debug)]
pub struct Part<'a> {
    /// A part belongs to its root, as it does where that is a handle.
    root: PhantomData<&'a mut Beneath>,
    path: PathBuf,
    temporary: tempfile::TempPath,
    /// The file.
    pub file: File,
    replace: bool,
}

impl Beneath {
    /// Makes the directory where there is none. Existing files are replaced or kept.
    pub fn open(path: &Path, replace: bool, _: &crate::Context) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        let top = path.to_owned();
        Ok(Self { top, replace })
    }

    /// Nothing takes the place of a file that is open, where systems are like that.
    pub fn sparing(self, _: &[&Path]) -> Self {
        self
    }

    /// There are no modes here.
    pub fn bound(&mut self, _: &crate::rights::Rights) {}

    /// The same.
    pub fn unstated(&self) -> u32 {
        0
    }

    /// The same.
    pub fn keep_modes(&mut self) {}

    /// The same.
    pub fn keep_special_bits(&mut self) {}

    /// Sets whether existing files are replaced; returns whether they were.
    pub fn set_replace(&mut self, replace: bool) -> bool {
        std::mem::replace(&mut self.replace, replace)
    }

    /// What there is; `None` where there is nothing. No directory is made.
    pub fn held(&mut self, path: impl AsRef<Path>) -> io::Result<Option<Held>> {
        match std::fs::symlink_metadata(self.top.join(path.as_ref())) {
            Ok(found) if found.is_symlink() => Ok(Some(Held::Link)),
            Ok(found) => found.modified().map(|at| Some(Held::Since(at))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether there is a directory, which no link leads to.
    pub fn is_directory(&self, path: impl AsRef<Path>) -> bool {
        let mut at = self.top.clone();
        text(&path).split('/').all(|part| {
            at.push(part);
            std::fs::symlink_metadata(&at).is_ok_and(|metadata| metadata.is_dir())
        })
    }

    /// The same root for another thread.
    pub fn another(&self) -> Self {
        Self {
            top: self.top.clone(),
            replace: self.replace,
        }
    }

    /// Makes a directory and those above it.
    pub fn directory(&mut self, path: impl AsRef<Path>) -> io::Result<()> {
        let mut at = self.top.clone();
        for part in text(&path).split('/').filter(|part| !part.is_empty()) {
            at.push(part);
            match std::fs::symlink_metadata(&at) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => {
                    let what = format!("'{part}' is a file or a link where a directory should be");
                    return Err(io::Error::new(io::ErrorKind::NotADirectory, what));
                }
                Err(_) => match std::fs::create_dir(&at) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(error);
                    }
                    _ => {}
                },
            }
        }
        Ok(())
    }

    /// Writes a file of this content.
    pub fn file(
        &mut self,
        path: impl AsRef<Path>,
        content: &[u8],
        attributes: Attributes,
    ) -> io::Result<Placed> {
        let mut part = self.part(path)?;
        part.file.write_all(content)?;
        part.finish(attributes)
    }

    /// Whether something is there already.
    pub fn exists(&mut self, path: impl AsRef<Path>) -> io::Result<bool> {
        Ok(std::fs::symlink_metadata(self.top.join(path.as_ref())).is_ok())
    }

    /// Starts a file that is written in pieces.
    pub fn part(&mut self, path: impl AsRef<Path>) -> io::Result<Part<'_>> {
        let path = path.as_ref();
        let parent = path.parent().unwrap_or(Path::new(""));
        self.directory(parent)?;
        let (file, temporary) = tempfile::Builder::new()
            .prefix(".perfkit-")
            .suffix(".part")
            .tempfile_in(self.top.join(parent))?
            .into_parts();
        Ok(Part {
            root: PhantomData,
            path: self.top.join(path),
            temporary,
            file,
            replace: self.replace,
        })
    }

    /// Links need rights that few have here.
    pub fn link(
        &mut self,
        _: impl AsRef<Path>,
        _: impl AsRef<Path>,
        _: Option<SystemTime>,
    ) -> io::Result<Placed> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Sets the time of a file that is there.
    pub fn set(&mut self, path: impl AsRef<Path>, attributes: Attributes) -> io::Result<()> {
        let path = self.top.join(path.as_ref());
        if std::fs::symlink_metadata(&path)?.is_dir() {
            return Ok(());
        }
        set_modified(&OpenOptions::new().write(true).open(path)?, attributes)
    }

    /// The same of a directory, which gets nothing.
    pub fn set_directory(&mut self, _: impl AsRef<Path>, _: Attributes) -> io::Result<()> {
        Ok(())
    }

    /// Removes a file, and returns its content up to `bytes_max`.
    pub fn take(&mut self, path: impl AsRef<Path>, bytes_max: u64) -> io::Result<Vec<u8>> {
        let path = self.top.join(path.as_ref());
        let mut content = Vec::new();
        let file = File::open(&path)?;
        io::Read::read_to_end(&mut io::Read::take(file, bytes_max), &mut content)?;
        std::fs::remove_file(path)?;
        Ok(content)
    }
}

impl Part<'_> {
    /// Gives the file its name.
    pub fn finish(self, attributes: Attributes) -> io::Result<Placed> {
        set_modified(&self.file, attributes)?;
        if self.replace {
            self.temporary
                .persist(&self.path)
                .map_err(|error| error.error)?;
            return Ok(Placed::Done);
        }
        match self.temporary.persist_noclobber(&self.path) {
            Ok(()) => Ok(Placed::Done),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(Placed::Kept),
            Err(error) => Err(error.error),
        }
    }
}

/// A path, whose parts are apart by `/` here, too.
fn text(path: &impl AsRef<Path>) -> Cow<'_, str> {
    path.as_ref().to_string_lossy()
}

fn set_modified(file: &File, attributes: Attributes) -> io::Result<()> {
    let Some(modified) = attributes.modified else {
        return Ok(());
    };
    file.set_times(std::fs::FileTimes::new().set_modified(modified))
}
