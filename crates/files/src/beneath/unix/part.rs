//! A file below the directory that is written in pieces, and gets its name when it is complete.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::{PERMISSIONS, mode_of, set_modified, set_owner};
use crate::Context;
use crate::beneath::{Attributes, Placed};
use crate::temporary::{self, PREFIX, SUFFIX, leftovers};

static PARTS: AtomicU64 = AtomicU64::new(0);

/// A file that is being written, and is gone when it is not finished.
#[derive(Debug)]
pub struct Part<'a> {
    pub(super) directory: &'a OwnedFd,
    pub(super) name: Vec<u8>,
    /// What it is called meanwhile, if anything.
    pub(super) part: Option<String>,
    /// The file.
    pub file: File,
    pub(super) replace: bool,
    pub(super) read: Arc<[(u64, u64)]>,
    pub(super) umask: Mode,
    /// The bits of the mode that it gets.
    pub(super) bits: u32,
    pub(super) unstated: u32,
    pub(super) context: Context,
    pub(super) done: bool,
}

/// Starts a file that has a name of its own until it is complete.
pub(super) fn part<'a>(
    directory: &'a OwnedFd,
    name: &[u8],
    umask: Mode,
    unstated: u32,
    replace: bool,
    read: Arc<[(u64, u64)]>,
    context: Context,
) -> io::Result<Part<'a>> {
    leftovers::sweep_in(directory.as_fd(), &context);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    loop {
        let part = part_name();
        let file = rustix::fs::openat(directory, &part, flags, Mode::from_raw_mode(0o600))?;
        let file = File::from(file);
        // Another process may have taken it for a leftover just now.
        if !leftovers::hold(&file) {
            continue;
        }
        return Ok(Part {
            directory,
            name: name.to_owned(),
            part: Some(part),
            file,
            replace,
            read,
            umask,
            bits: PERMISSIONS,
            unstated,
            context,
            done: false,
        });
    }
}

impl Part<'_> {
    /// Gives the file its name.
    pub fn finish(mut self, attributes: Attributes) -> io::Result<Placed> {
        let attributes = attributes.or_mode(self.unstated);
        set_owner(&self.file, attributes)?;
        rustix::fs::fchmod(&self.file, mode_of(attributes, self.bits, self.umask))?;
        set_modified(&self.file, attributes)?;
        let from = self.directory.as_fd();
        if self.replace {
            spare(from, &self.name, &self.read)?;
        }
        if self.part.is_none() && !self.replace {
            return match temporary::name_in(&self.file, from, path(&self.name)) {
                Ok(()) => Ok(Placed::Done),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Placed::Kept),
                Err(error) => Err(error),
            };
        }
        let part = match &self.part {
            Some(part) => part,
            None => {
                // Only a name can replace another.
                leftovers::sweep_in(from, &self.context);
                leftovers::hold(&self.file);
                let part = part_name();
                temporary::name_in(&self.file, from, part.as_ref())?;
                self.part.insert(part)
            }
        };
        if self.replace {
            rustix::fs::renameat(from, part, from, &*self.name)?;
            self.done = true;
            return Ok(Placed::Done);
        }
        // A second name fails where there is a file, which a new name would not.
        match rustix::fs::linkat(from, part, from, &*self.name, AtFlags::empty()) {
            Ok(()) => Ok(Placed::Done),
            Err(Errno::EXIST) => Ok(Placed::Kept),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        if let Some(part) = self.part.take().filter(|_| !self.done) {
            let _ = rustix::fs::unlinkat(self.directory, &part, AtFlags::empty());
        }
    }
}

fn path(name: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(name))
}

fn part_name() -> String {
    let number = PARTS.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}{}-{number}{SUFFIX}", std::process::id())
}

/// Refuses to take the place of a file that is read.
pub(super) fn spare(directory: BorrowedFd<'_>, name: &[u8], read: &[(u64, u64)]) -> io::Result<()> {
    if read.is_empty() {
        return Ok(());
    }
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(there) if read.contains(&(there.st_dev, there.st_ino)) => {
            Err(io::Error::other("it is a file that this run reads"))
        }
        _ => Ok(()),
    }
}
