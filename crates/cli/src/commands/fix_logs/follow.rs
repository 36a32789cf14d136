//! A log that grows: what is appended is read as it comes, and a file that takes its place is read from its beginning.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fixlog::{Captured, Got, Origins, Source};

use super::{Input, Log};
use crate::term::signal;

/// How often a log is looked at for more.
const LOOK: Duration = Duration::from_millis(50);

/// The file that took the place of another one.
type Next = Arc<Mutex<Option<File>>>;

/// A growing file.
pub(crate) struct Growing {
    path: PathBuf,
    file: File,
    /// How much of it was read.
    position: u64,
    next: Next,
}

/// A log that is followed over all files that have its name.
pub(crate) struct Followed {
    path: PathBuf,
    log: Captured<Log>,
    next: Next,
}

impl Followed {
    /// Follows the log of this name, of which this file is open.
    pub(super) fn new(path: &Path, file: File) -> Self {
        let next = Next::default();
        Self {
            log: Self::of(path, file, &next),
            path: path.to_owned(),
            next,
        }
    }

    fn of(path: &Path, file: File, next: &Next) -> Captured<Log> {
        let growing = Growing {
            path: path.to_owned(),
            file,
            position: 0,
            next: Arc::clone(next),
        };
        Captured::new(Log::Unread(Input::growing(growing)))
    }
}

impl Source for Followed {
    fn read(&mut self, room: &mut [u8], stopped: &dyn Fn() -> bool) -> io::Result<Got> {
        let got = self.log.read(room, stopped)?;
        if got != Got::End {
            return Ok(got);
        }
        let next = self.next.lock();
        match next.unwrap_or_else(PoisonError::into_inner).take() {
            Some(file) => {
                self.log = Self::of(&self.path, file, &self.next);
                Ok(Got::Restarted)
            }
            None => Ok(Got::End),
        }
    }

    fn origins(&mut self) -> Origins {
        self.log.origins()
    }
}

impl Growing {
    /// Waits for the next bytes. It ends when another file has taken its place, or it was cut off to be written anew.
    pub(super) fn read(&mut self, room: &mut [u8], stopped: &dyn Fn() -> bool) -> io::Result<Got> {
        let mut is_replaced = false;
        loop {
            match self.file.read(room) {
                Ok(0) => {}
                Ok(count) => {
                    self.position += count as u64;
                    return Ok(Got::Bytes(count));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            // What was written before the other file came was read above.
            if is_replaced {
                let file = self.replacement()?;
                *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
                return Ok(Got::End);
            }
            match std::fs::metadata(&self.path) {
                Ok(there) => {
                    is_replaced =
                        !is_same(&there, &self.file.metadata()?) || there.len() < self.position;
                }
                // Between two names, or gone for good: whoever follows it waits.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            if stopped() || signal::interrupted() {
                return Ok(Got::Stopped);
            }
            if !is_replaced {
                std::thread::sleep(LOOK);
            }
        }
    }

    /// The file that has the name now, from its beginning.
    fn replacement(&mut self) -> io::Result<File> {
        match File::open(&self.path) {
            Ok(file) => Ok(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // It has gone again: what is open is all there is.
                let mut file = self.file.try_clone()?;
                file.seek(SeekFrom::End(0))?;
                Ok(file)
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}
