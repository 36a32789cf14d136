//! The root on Unix: directories opened one from another, no link followed on the way.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{Attributes, Held, Placed};
use crate::Context;
use crate::rights::{self, Rights};
use crate::temporary;

mod owner;
mod part;
mod times;

use owner::set_owner;
pub use part::Part;
use part::{part, spare};
use times::{time_of, timestamps};

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The mode of files that none is stated of.
const MODE_NEW: u32 = 0o666;
/// Who may read, write and run a file.
const PERMISSIONS: u32 = 0o777;
/// The same with the bits that let a file act as its owner or group, or keep what others have in a directory.
const ALL_BITS: u32 = 0o7777;

/// A directory that everything stays below. A copy is for another thread.
#[derive(Debug)]
pub struct Beneath {
    top: Arc<OwnedFd>,
    umask: Mode,
    /// Whether files get the modes that are stated of them, without the umask of the process.
    exact: bool,
    /// The bits of modes that files get.
    bits: u32,
    /// The mode of files that none is stated of.
    unstated: u32,
    replace: bool,
    /// Files that are read, by device and inode: nothing takes their place.
    read: Arc<[(u64, u64)]>,
    context: Context,
    /// The directory used last, and its name.
    last: Option<(Vec<u8>, OwnedFd)>,
}

impl Beneath {
    /// Makes the directory where there is none. Existing files are replaced or kept.
    pub fn open(path: &Path, replace: bool, context: &Context) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self {
            top: Arc::new(top),
            umask: rights::umask(),
            exact: false,
            bits: PERMISSIONS,
            unstated: MODE_NEW,
            replace,
            read: Arc::new([]),
            context: context.clone(),
            last: None,
        })
    }

    /// Has no file take the place of these, which are read meanwhile.
    pub fn sparing(mut self, read: &[&Path]) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let files = read.iter().filter_map(|path| std::fs::metadata(path).ok());
        let files = files.filter(std::fs::Metadata::is_file);
        self.read = files.map(|file| (file.dev(), file.ino())).collect();
        self
    }

    /// Has files get the modes that are stated of them, without the umask.
    pub fn keep_modes(&mut self) {
        // Only what is stated: other files are as new ones are.
        // Modes have as many bits as the system says.
        let umask: u32 = self.umask.bits() as _;
        self.unstated &= !umask;
        self.umask = Mode::empty();
        self.exact = true;
    }

    /// Has files and directories get the set-user-ID, set-group-ID and sticky bits that are stated of them. Whoever
    /// may run such a file runs it as its owner.
    pub fn keep_special_bits(&mut self) {
        self.bits = ALL_BITS;
    }

    /// Bounds the mode of files that none is stated of by who may read what they come from.
    pub fn bound(&mut self, rights: &Rights) {
        let group = rustix::process::getegid().as_raw();
        self.unstated = rights.of(MODE_NEW, group);
    }

    /// The mode of files that none is stated of, before the umask.
    pub fn unstated(&self) -> u32 {
        self.unstated
    }

    /// Whether there is a directory, which no link leads to.
    pub fn is_directory(&self, path: impl AsRef<Path>) -> bool {
        self.has_directory(bytes(&path))
    }

    fn has_directory(&self, path: &[u8]) -> bool {
        if open_beneath(&self.top, path).is_some() {
            return true;
        }
        let mut at: Option<OwnedFd> = None;
        parts(path).all(|part| {
            let here = at.as_ref().unwrap_or(&self.top);
            let opened = rustix::fs::openat(here, part, DIRECTORY, Mode::empty());
            at = opened.ok();
            at.is_some()
        })
    }

    /// The same root for another thread.
    pub fn another(&self) -> Self {
        Self {
            top: Arc::clone(&self.top),
            umask: self.umask,
            exact: self.exact,
            bits: self.bits,
            unstated: self.unstated,
            replace: self.replace,
            read: Arc::clone(&self.read),
            context: self.context.clone(),
            last: None,
        }
    }

    /// Makes a directory and those above it.
    pub fn directory(&mut self, path: impl AsRef<Path>) -> io::Result<()> {
        self.enter(bytes(&path)).map(|_| ())
    }

    /// Writes a file of this content.
    ///
    /// # Errors
    /// A file or link is in the way, or the system refuses.
    pub fn file(
        &mut self,
        path: impl AsRef<Path>,
        content: &[u8],
        attributes: Attributes,
    ) -> io::Result<Placed> {
        let (umask, replace, read) = (self.umask, self.replace, Arc::clone(&self.read));
        let (bits, context) = (self.bits, self.context.clone());
        let exact = self.exact;
        let attributes = attributes.or_mode(self.unstated);
        let (parent, name) = split(bytes(&path));
        let directory = self.enter(parent)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        // Special bits come last: a change of its content or its owner takes them away.
        let first = mode_of(attributes, PERMISSIONS, Mode::empty());
        let file = match rustix::fs::openat(directory, name, flags, first) {
            Ok(file) => File::from(file),
            Err(Errno::EXIST) if replace => {
                let mut part = part(directory, name, umask, MODE_NEW, replace, read, context)?;
                part.bits = bits;
                part.file.write_all(content)?;
                return part.finish(attributes);
            }
            Err(Errno::EXIST) => return Ok(Placed::Kept),
            Err(error) => return Err(error.into()),
        };
        let written = (&file)
            .write_all(content)
            .and_then(|()| set_owner(&file, attributes))
            .and_then(|()| match exact || special(attributes) & bits != 0 {
                // What the umask of the process has taken.
                true => Ok(rustix::fs::fchmod(&file, mode_of(attributes, bits, umask))?),
                false => Ok(()),
            })
            .and_then(|()| set_modified(&file, attributes));
        if let Err(error) = written {
            let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
            return Err(error);
        }
        Ok(Placed::Done)
    }

    /// Sets whether existing files are replaced; returns whether they were.
    pub fn set_replace(&mut self, replace: bool) -> bool {
        std::mem::replace(&mut self.replace, replace)
    }

    /// Whether something is there already.
    pub fn exists(&mut self, path: impl AsRef<Path>) -> io::Result<bool> {
        let (parent, name) = split(bytes(&path));
        let directory = self.enter(parent)?;
        match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// What there is; `None` where there is nothing. No directory is made.
    pub fn held(&mut self, path: impl AsRef<Path>) -> io::Result<Option<Held>> {
        let (parent, name) = split(bytes(&path));
        if !parent.is_empty() && !self.has_directory(parent) {
            return Ok(None);
        }
        let directory = self.enter(parent)?;
        match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Symlink => {
                Ok(Some(Held::Link))
            }
            Ok(found) => Ok(Some(Held::Since(time_of(&found)))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Starts a file that is written in pieces.
    pub fn part(&mut self, path: impl AsRef<Path>) -> io::Result<Part<'_>> {
        let (umask, replace, read) = (self.umask, self.replace, Arc::clone(&self.read));
        let (bits, unstated, context) = (self.bits, self.unstated, self.context.clone());
        let (parent, name) = split(bytes(&path));
        let directory = self.enter(parent)?;
        match temporary::unnamed_in(directory.as_fd(), 0o600) {
            Some(file) => Ok(Part {
                unstated,
                directory,
                name: name.to_owned(),
                part: None,
                file,
                replace,
                read,
                umask,
                bits,
                context,
                done: false,
            }),
            None => {
                let mut part = part(directory, name, umask, unstated, replace, read, context)?;
                part.bits = bits;
                Ok(part)
            }
        }
    }

    /// Makes a symbolic link, with a time where the system can set one. An existing file is kept, or
    /// replaced; a directory is an error.
    pub fn link(
        &mut self,
        path: impl AsRef<Path>,
        target: impl AsRef<Path>,
        modified: Option<SystemTime>,
    ) -> io::Result<Placed> {
        let (target, replace, read) = (target.as_ref(), self.replace, Arc::clone(&self.read));
        let (parent, name) = split(bytes(&path));
        let directory = self.enter(parent)?;
        match rustix::fs::symlinkat(target, directory, name) {
            Err(Errno::EXIST) if replace => {
                spare(directory.as_fd(), name, &read)?;
                rustix::fs::unlinkat(directory, name, AtFlags::empty())?;
                rustix::fs::symlinkat(target, directory, name)?;
            }
            Err(Errno::EXIST) => return Ok(Placed::Kept),
            other => other?,
        }
        if let Some(modified) = modified {
            let times = timestamps(modified);
            let _ = rustix::fs::utimensat(directory, name, &times, AtFlags::SYMLINK_NOFOLLOW);
        }
        Ok(Placed::Done)
    }

    /// Sets mode and time of a directory or file.
    pub fn set(&mut self, path: impl AsRef<Path>, attributes: Attributes) -> io::Result<()> {
        self.set_of(path.as_ref(), attributes, OFlags::empty())
    }

    /// The same of a directory. What is none, since it was there before, stays as it is.
    pub fn set_directory(
        &mut self,
        path: impl AsRef<Path>,
        attributes: Attributes,
    ) -> io::Result<()> {
        self.set_of(path.as_ref(), attributes, OFlags::DIRECTORY)
    }

    fn set_of(&mut self, path: &Path, attributes: Attributes, kind: OFlags) -> io::Result<()> {
        let (umask, bits) = (self.umask, self.bits);
        let (parent, name) = split(bytes(&path));
        let directory = self.enter(parent)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(
            directory,
            name,
            flags | kind,
            Mode::empty(),
        )?);
        set_owner(&file, attributes)?;
        if attributes.mode.is_some() {
            rustix::fs::fchmod(&file, mode_of(attributes, bits, umask))?;
        }
        set_modified(&file, attributes)
    }

    /// Removes a file, and returns its content up to `bytes_max`.
    pub fn take(&mut self, path: impl AsRef<Path>, bytes_max: u64) -> io::Result<Vec<u8>> {
        let (parent, name) = split(bytes(&path));
        let directory = self.enter(parent)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(directory, name, flags, Mode::empty())?);
        let mut content = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(file, bytes_max), &mut content)?;
        rustix::fs::unlinkat(directory, name, AtFlags::empty())?;
        Ok(content)
    }

    /// Opens a directory, making what is missing.
    fn enter(&mut self, path: &[u8]) -> io::Result<&OwnedFd> {
        if path.is_empty() {
            return Ok(&self.top);
        }
        let known = self.last.as_ref().is_some_and(|(last, _)| last == path);
        if !known {
            let opened = self.open_below(path)?;
            self.last = Some((path.to_owned(), opened));
        }
        match &self.last {
            Some((_, opened)) => Ok(opened),
            None => Ok(&self.top),
        }
    }

    /// Opens a directory from the nearest one that is open or exists, so that a path of many directories
    /// costs only those that it adds.
    fn open_below(&self, path: &[u8]) -> io::Result<OwnedFd> {
        let (from, rest) = match &self.last {
            Some((last, opened)) => match path.strip_prefix(&**last) {
                Some([b'/', rest @ ..]) => (opened, rest),
                _ => (&*self.top, path),
            },
            None => (&*self.top, path),
        };
        if let Some(opened) = open_beneath(from, rest) {
            return Ok(opened);
        }
        // One directory is missing more often than many: each try leaves out twice as many.
        let (mut there, mut left_out) = (rest, 1);
        while let Some(shorter) = without_last(there, left_out) {
            if let Some(opened) = open_beneath(from, shorter) {
                return walk(&opened, &rest[shorter.len() + 1..]);
            }
            (there, left_out) = (shorter, 2 * left_out);
        }
        walk(from, rest)
    }
}

/// The path without its last directories; `None` if nothing is left.
fn without_last(path: &[u8], count: usize) -> Option<&[u8]> {
    let mut slashes = path
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, byte)| **byte == b'/');
    let (end, _) = slashes.nth(count - 1)?;
    Some(&path[..end])
}

/// The whole way in one call, where the system has that and nothing is missing.
#[cfg(target_os = "linux")]
fn open_beneath(from: &OwnedFd, path: &[u8]) -> Option<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let stay = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    rustix::fs::openat2(from, path, DIRECTORY, Mode::empty(), stay).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_beneath(_: &OwnedFd, _: &[u8]) -> Option<OwnedFd> {
    None
}

/// Opens one directory after the other, making what is missing.
fn walk(from: &OwnedFd, path: &[u8]) -> io::Result<OwnedFd> {
    let mut at: Option<OwnedFd> = None;
    for part in parts(path) {
        let here = at.as_ref().unwrap_or(from);
        let opened = match rustix::fs::openat(here, part, DIRECTORY, Mode::empty()) {
            Err(Errno::NOENT) => {
                match rustix::fs::mkdirat(here, part, Mode::from_raw_mode(0o777)) {
                    // Another thread was faster.
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                rustix::fs::openat(here, part, DIRECTORY, Mode::empty())
            }
            other => other,
        };
        at = Some(opened.map_err(|error| in_the_way(error, part))?);
    }
    at.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn in_the_way(error: Errno, part: &[u8]) -> io::Error {
    match error {
        Errno::LOOP | Errno::NOTDIR => io::Error::new(
            io::ErrorKind::NotADirectory,
            format!(
                "'{}' is a file or a link where a directory should be",
                String::from_utf8_lossy(part)
            ),
        ),
        other => other.into(),
    }
}

/// The stated mode: of its bits only these, and none of the umask.
fn mode_of(attributes: Attributes, bits: u32, umask: Mode) -> Mode {
    let mode = attributes.mode.unwrap_or(MODE_NEW) & bits;
    // Twelve bits fit in any type of mode.
    Mode::from_raw_mode(mode as _).difference(umask)
}

/// The stated bits that let a file act as its owner or group, or keep what others have in a directory.
fn special(attributes: Attributes) -> u32 {
    attributes.mode.unwrap_or(MODE_NEW) & (ALL_BITS & !PERMISSIONS)
}

fn set_modified(file: &File, attributes: Attributes) -> io::Result<()> {
    match attributes.modified {
        Some(modified) => Ok(rustix::fs::futimens(file, &timestamps(modified))?),
        None => Ok(()),
    }
}

fn bytes(path: &impl AsRef<Path>) -> &[u8] {
    path.as_ref().as_os_str().as_bytes()
}

fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/')
}

fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

#[cfg(test)]
mod tests;
