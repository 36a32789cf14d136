//! Messages that do not fit into the queue: in memory or in a file, in order, up to a limit.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where messages go that do not fit into the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spill {
    /// Memory.
    Memory,
    /// A new file. On Unix it is unlinked at once, so nothing is left of it.
    File(PathBuf),
}

/// Bytes before each message: length and stamp.
const HEAD_BYTES: usize = 16;
/// How much of a file is read at once, unless a message is longer.
const PIECE_BYTES: u64 = 1 << 18;

/// Messages beyond the queue. While it holds any, all messages go here, which keeps their order.
#[derive(Debug)]
pub(super) struct Overflow {
    inner: Mutex<Inner>,
    /// Messages go here and not into the queue.
    is_used: AtomicBool,
}

#[derive(Debug)]
struct Inner {
    memory: Vec<u8>,
    file: Option<File>,
    /// How many bytes of the file were written and read.
    written: u64,
    read: u64,
    /// Bytes that are here, or were taken and are not handled yet.
    bytes: u64,
    bytes_max: u64,
}

impl Overflow {
    pub(super) fn new(spill: &Spill, bytes_max: u64) -> io::Result<Self> {
        let file = match spill {
            Spill::Memory => None,
            Spill::File(path) => {
                let mut options = OpenOptions::new();
                let file = options.read(true).write(true).create_new(true).open(path)?;
                #[cfg(unix)]
                fs::remove_file(path)?;
                Some(file)
            }
        };
        let inner = Inner {
            memory: Vec::new(),
            file,
            written: 0,
            read: 0,
            bytes: 0,
            bytes_max,
        };
        Ok(Self {
            inner: Mutex::new(inner),
            is_used: AtomicBool::new(false),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there may be messages here.
    pub(super) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// Adds a message; false if there is no room or the file cannot be written. All messages in the
    /// queue are older.
    pub(super) fn push(&self, stamp: u64, bytes: &[u8]) -> bool {
        let mut inner = self.lock();
        let size = (HEAD_BYTES + bytes.len()) as u64;
        if inner.bytes + size > inner.bytes_max || !inner.write(stamp, bytes) {
            return false;
        }
        inner.bytes += size;
        self.is_used.store(true, Ordering::Release);
        true
    }

    /// Takes messages out, oldest first, to be handled before the next call: those of the last call
    /// count as handled. When none are left, messages go into the queue again.
    pub(super) fn take(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let mut inner = self.lock();
        inner.bytes = inner.bytes.saturating_sub(out.len() as u64);
        out.clear();
        let read = inner.read(out);
        if read.is_err() {
            // What cannot be read is lost. The caller gets the error, and new messages have room.
            out.clear();
            (inner.read, inner.written, inner.bytes) = (0, 0, 0);
        }
        if out.is_empty() {
            self.is_used.store(false, Ordering::Release);
        }
        read
    }
}

impl Inner {
    fn write(&mut self, stamp: u64, bytes: &[u8]) -> bool {
        let start = self.memory.len();
        self.memory.extend((bytes.len() as u64).to_le_bytes());
        self.memory.extend(stamp.to_le_bytes());
        self.memory.extend(bytes);
        let Some(file) = &mut self.file else {
            return true;
        };
        let end = file.seek(SeekFrom::Start(self.written));
        let written = end.and_then(|_| file.write_all(&self.memory));
        self.written += if written.is_ok() {
            self.memory.len() as u64
        } else {
            0
        };
        self.memory.truncate(start);
        written.is_ok()
    }

    fn read(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            std::mem::swap(&mut self.memory, out);
            return Ok(());
        };
        let left = self.written - self.read;
        let mut bytes = left.min(PIECE_BYTES);
        loop {
            out.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0);
            file.seek(SeekFrom::Start(self.read))?;
            file.read_exact(out)?;
            let whole = messages(out)
                .map(|(_, bytes)| HEAD_BYTES + bytes.len())
                .sum();
            if whole > 0 || bytes == left {
                out.truncate(whole);
                break;
            }
            bytes = left.min(bytes * 2);
        }
        self.read += out.len() as u64;
        if self.read == self.written {
            (self.read, self.written) = (0, 0);
            file.set_len(0)?;
        }
        Ok(())
    }
}

/// The messages in bytes that were taken, each with its stamp.
pub(super) fn messages(mut taken: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = taken.split_first_chunk::<HEAD_BYTES>()?;
        let (length, stamp) = head.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let stamp = u64::from_le_bytes(*stamp.first_chunk()?);
        let (bytes, rest) = rest.split_at_checked(length)?;
        taken = rest;
        Some((stamp, bytes))
    })
}
