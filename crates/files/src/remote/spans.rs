//! Objects that are read at any place, in few requests: the end of one is kept, since directories are
//! there, and sequential reads ask for twice as much each time.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::Remote;
use crate::Cancel;
use crate::object::Windows;

/// An object, by offset, for any number of threads; they take turns.
#[derive(Debug)]
pub struct Spans {
    remote: Remote,
    held: Mutex<Windows>,
    size: u64,
}

impl Spans {
    /// Asks for the size of the object.
    ///
    /// # Errors
    /// The URL is invalid, there is no such object, or its server cannot be reached.
    pub fn open(url: &str, cancel: &Cancel) -> io::Result<Self> {
        let remote = Remote::new(url, cancel)?;
        let size = remote.size()?;
        Ok(Self {
            remote,
            held: Mutex::new(Windows::new(size)),
            size,
        })
    }

    /// Reads at `offset` and returns the number of bytes, 0 only at the end.
    ///
    /// # Errors
    /// What the server says, or that it cannot be reached.
    pub fn read_at(&self, room: &mut [u8], offset: u64) -> io::Result<usize> {
        if room.is_empty() || offset >= self.size {
            return Ok(0);
        }
        let mut windows = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.held(offset).is_empty() {
            let range = windows.missing(offset, room.len());
            let bytes = self.remote.range(range.clone())?;
            windows.keep(&range, bytes);
        }
        let held = windows.held(offset);
        let count = held.len().min(room.len());
        room[..count].copy_from_slice(&held[..count]);
        Ok(count)
    }

    /// Bytes of the object.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }
}
