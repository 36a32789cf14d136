//! Objects that are read at any place, in few requests: the end of one is kept, since directories are
//! there, and sequential reads ask for twice as much each time.

use std::io;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use super::Remote;
use crate::Cancel;

/// What is kept of the end.
const TAIL_BYTES: u64 = 128 << 10;
/// The most bytes of one request beyond what is wanted.
const AHEAD_BYTES_MAX: u64 = 4 << 20;

/// An object, by offset, for any number of threads; they take turns.
#[derive(Debug)]
pub struct Spans {
    remote: Remote,
    size: u64,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    tail: Option<Bytes>,
    window: Bytes,
    start: u64,
}

impl Spans {
    /// Asks for the size of the object.
    pub fn open(url: &str, cancel: &Cancel) -> io::Result<Self> {
        let remote = Remote::new(url, cancel)?;
        Ok(Self {
            size: remote.size()?,
            remote,
            held: Mutex::default(),
        })
    }

    fn tail<'h>(&self, held: &'h mut Held, start: u64) -> io::Result<&'h Bytes> {
        let tail = match held.tail.take() {
            Some(tail) => tail,
            None => self.remote.range(start..self.size)?,
        };
        Ok(held.tail.insert(tail))
    }
}

/// Copies what `bytes`, which start at byte `start`, hold from `offset` on.
fn copy(bytes: &Bytes, start: u64, offset: u64, room: &mut [u8]) -> usize {
    let at = offset.checked_sub(start);
    let at = at.and_then(|at| usize::try_from(at).ok());
    let held = at.and_then(|at| bytes.get(at..)).unwrap_or_default();
    let count = held.len().min(room.len());
    room[..count].copy_from_slice(&held[..count]);
    count
}

impl Spans {
    /// Reads at `offset` and returns the number of bytes, 0 only at the end.
    ///
    /// # Errors
    /// What the server says, or that it cannot be reached.
    pub fn read_at(&self, room: &mut [u8], offset: u64) -> io::Result<usize> {
        if room.is_empty() || offset >= self.size {
            return Ok(0);
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let tail_start = self.size.saturating_sub(TAIL_BYTES);
        if offset >= tail_start {
            let tail = self.tail(&mut held, tail_start)?;
            return Ok(copy(tail, tail_start, offset, room));
        }
        let count = copy(&held.window, held.start, offset, room);
        if count > 0 {
            return Ok(count);
        }
        let window_bytes = held.window.len() as u64;
        let goes_on = window_bytes > 0 && offset == held.start + window_bytes;
        let ahead = if goes_on { 2 * window_bytes } else { 0 };
        let want = (room.len() as u64).max(ahead.min(AHEAD_BYTES_MAX));
        let end = offset.saturating_add(want).min(tail_start);
        held.window = self.remote.range(offset..end)?;
        held.start = offset;
        Ok(copy(&held.window, held.start, offset, room))
    }

    /// Bytes of the object.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }
}
