//! Buffers from a file, a pipe or a URL, read ahead by a thread where that pays.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::SystemTime;

use twox_hash::XxHash64;

mod buffers;
mod reader;

pub use buffers::Buffer;
use buffers::Pool;
use reader::{Input, Reader};

use crate::open::{self, open};
use crate::steady::{Change, State};
use crate::{BUFFER_BYTES, BUFFERS_IN_FLIGHT, INLINE_BYTES, POLL, SMALL_BYTES};
use crate::{Cancel, Context, Error, Operation, Result, standard, url};

/// Stack of a thread that reads a file.
const STACK_BYTES: usize = 64 * 1024;
/// Stack of one that speaks with a server.
#[cfg(feature = "web")]
const REMOTE_STACK_BYTES: usize = 2 << 20;

/// What was read in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Bytes.
    pub bytes: u64,
    /// Their XXH64, when asked for.
    pub xxh64: Option<u64>,
    /// What happened to the file meanwhile.
    pub change: Option<Change>,
}

/// Whether what is read is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    /// It is not.
    No,
    /// Where a thread of its own reads, which takes that work off those that wait for it.
    Apart,
    /// It is, on whatever thread.
    Yes,
}

/// How a source is read.
#[derive(Debug, Clone, Copy)]
pub struct Reads {
    /// Whether XXH64 of what is read is wanted.
    pub hash: Hash,
    /// The byte from which it is read.
    pub start: u64,
    /// Bytes of a buffer, of all but small files.
    pub buffer_bytes: usize,
}

impl Default for Reads {
    fn default() -> Self {
        Self {
            hash: Hash::No,
            start: 0,
            buffer_bytes: BUFFER_BYTES,
        }
    }
}

/// An input being read.
#[derive(Debug)]
pub struct Source {
    name: PathBuf,
    metadata: Option<Metadata>,
    /// The size that a server states.
    remote_bytes: Option<u64>,
    /// When an object was written, if its server says.
    remote_modified: Option<SystemTime>,
    reading: Reading,
    hashed: bool,
}

#[derive(Debug)]
enum Reading {
    Inline(Reader, Arc<Pool>),
    Ahead(Ahead),
}

/// The receiving end of a reading thread.
#[derive(Debug)]
struct Ahead {
    full: Receiver<io::Result<(Vec<u8>, Option<Summary>)>>,
    pool: Arc<Pool>,
    cancel: Cancel,
    /// Bytes that came over.
    bytes: u64,
    summary: Option<Summary>,
}

impl Source {
    /// Opens `path`, standard input for `-`, or what a URL names.
    pub fn open(path: &Path, context: &Context) -> Result<Self> {
        Self::open_at(path, &Reads::default(), context)
    }

    /// The same, to be read in this way.
    pub fn open_at(path: &Path, reads: &Reads, context: &Context) -> Result<Self> {
        if let Some(url) = url::of(path) {
            return Self::open_remote(path, url, reads, context);
        }
        let stdin = path.as_os_str() == "-";
        let file = if stdin {
            standard::input()
        } else {
            open(path, OpenOptions::new().read(true), context.cancelled())
        }
        .and_then(|mut file| match reads.start {
            0 => Ok(file),
            start => file.seek(SeekFrom::Start(start)).map(|_| file),
        })
        .map_err(|error| Error::read(path, error))?;
        let metadata = file.metadata().ok();
        Self::of(path, file, metadata, reads, context)
    }

    /// Opens `path` if it is a small regular file that is not empty, for those have a size that
    /// can be believed. Waits for nothing.
    pub fn open_small(path: &Path, reads: &Reads, context: &Context) -> Option<Self> {
        let small =
            |metadata: &Metadata| metadata.is_file() && (1..=SMALL_BYTES).contains(&metadata.len());
        if path.as_os_str() == "-" || !std::fs::metadata(path).is_ok_and(|m| small(&m)) {
            return None;
        }
        // It may have become a FIFO meanwhile.
        let (file, metadata) = open::regular(path).ok()?;
        let metadata = Some(metadata).filter(small)?;
        Self::of(path, file, Some(metadata), reads, context).ok()
    }

    fn of(
        path: &Path,
        file: File,
        metadata: Option<Metadata>,
        reads: &Reads,
        context: &Context,
    ) -> Result<Self> {
        if metadata.as_ref().is_some_and(Metadata::is_dir) {
            return Err(Error::IsDirectory {
                operation: Operation::Read,
                path: path.to_owned(),
            });
        }
        let small = metadata
            .as_ref()
            .is_some_and(|m| m.is_file() && m.len() <= INLINE_BYTES);
        let hashed = reads.hash == Hash::Yes || (reads.hash == Hash::Apart && !small);
        let reader = Reader {
            input: Input::File(file),
            stated: metadata
                .as_ref()
                .filter(|m| m.is_file())
                .map(|m| m.len().saturating_sub(reads.start)),
            before: metadata.as_ref().and_then(State::of),
            buffer_bytes: if small {
                BUFFER_BYTES
            } else {
                reads.buffer_bytes
            },
            bytes: 0,
            ended: false,
            hasher: hashed.then(|| XxHash64::with_seed(0)),
        };
        let reading = if small {
            Reading::Inline(reader, Arc::default())
        } else {
            Reading::ahead(reader, path, STACK_BYTES, context)?
        };
        Ok(Self {
            name: path.to_owned(),
            metadata,
            remote_bytes: None,
            remote_modified: None,
            reading,
            hashed,
        })
    }

    #[cfg(feature = "web")]
    fn open_remote(path: &Path, url: &str, reads: &Reads, context: &Context) -> Result<Self> {
        #[cfg(not(feature = "remote"))]
        if !url::is_web(url) {
            return Err(url::unsupported(Operation::Read, url));
        }
        let remote = crate::remote::Remote::new(url, context.cancelled());
        let body = remote.and_then(|remote| remote.stream(reads.start));
        let body = body.map_err(|error| Error::read(path, error))?;
        let (size, modified) = (body.size(), body.modified());
        let hashed = reads.hash != Hash::No;
        let reader = Reader {
            stated: size.map(|size| size.saturating_sub(reads.start)),
            before: None,
            input: Input::Remote(Box::new(body)),
            buffer_bytes: reads.buffer_bytes,
            bytes: 0,
            ended: false,
            hasher: hashed.then(|| XxHash64::with_seed(0)),
        };
        Ok(Self {
            name: path.to_owned(),
            metadata: None,
            remote_bytes: size.filter(|size| *size > 0),
            remote_modified: modified,
            reading: Reading::ahead(reader, path, REMOTE_STACK_BYTES, context)?,
            hashed,
        })
    }

    #[cfg(not(feature = "web"))]
    fn open_remote(_: &Path, url: &str, _: &Reads, _: &Context) -> Result<Self> {
        Err(url::unsupported(Operation::Read, url))
    }

    /// The size that the file system states, of a regular file that has one, or a server. Files that
    /// say 0 may be made up as they are read (`/proc`), so 0 is not a statement.
    pub fn stated_size(&self) -> Option<u64> {
        let metadata = self.metadata.as_ref();
        let file = metadata.filter(|m| m.is_file() && m.len() > 0);
        file.map(Metadata::len).or(self.remote_bytes)
    }

    /// When the source was modified, of a regular file or an object whose server says.
    pub fn modified(&self) -> Option<SystemTime> {
        let file = self.attributes().and_then(|file| file.modified().ok());
        file.or(self.remote_modified)
    }

    /// Mode and times of the source, of a regular file.
    pub fn attributes(&self) -> Option<&Metadata> {
        self.metadata.as_ref().filter(|m| m.is_file())
    }

    /// The next buffer, empty at the end.
    ///
    /// Every buffer but the last is full, whatever the pieces in which a pipe delivers; an
    /// interrupt ends the wait with `ErrorKind::Interrupted`. Memory is used again once a buffer is
    /// dropped: who keeps many has more memory in use, and waits for nothing.
    pub fn next_buffer(&mut self) -> io::Result<Buffer> {
        match &mut self.reading {
            Reading::Inline(reader, pool) => reader.fill(pool.take()).map(|bytes| pool.lend(bytes)),
            Reading::Ahead(ahead) => ahead.next(),
        }
    }

    /// Whether a thread of its own hashes what it reads.
    pub fn is_hashed_apart(&self) -> bool {
        self.hashed && matches!(self.reading, Reading::Ahead(_))
    }

    /// Totals. There is no hash, and no word of a change, before [`Source::next_buffer`] has come to the end.
    pub fn summary(&self) -> Summary {
        match &self.reading {
            Reading::Inline(reader, _) => reader.summary(),
            Reading::Ahead(ahead) => ahead.summary.unwrap_or(Summary {
                bytes: ahead.bytes,
                xxh64: None,
                change: None,
            }),
        }
    }

    /// Whether the name still leads to the file that was opened, as it was then.
    pub fn is_unchanged(&self) -> bool {
        let now = std::fs::metadata(&self.name).ok();
        match (&self.metadata, now) {
            (Some(then), Some(now)) => state(then) == state(&now),
            _ => false,
        }
    }

    /// The failure to read this source.
    #[must_use]
    pub fn error(&self, error: io::Error) -> Error {
        Error::read(&self.name, error)
    }
}

impl Reading {
    /// Starts the reading thread. It is never joined: blocked on a pipe that brings nothing, it
    /// must not hold up the end of the process.
    fn ahead(reader: Reader, path: &Path, stack_bytes: usize, context: &Context) -> Result<Self> {
        let (full_in, full) = sync_channel(BUFFERS_IN_FLIGHT);
        let pool = Arc::new(Pool::default());
        let theirs = Arc::clone(&pool);
        std::thread::Builder::new()
            .name("read".to_owned())
            .stack_size(stack_bytes)
            .spawn(move || read_ahead(reader, &full_in, &theirs))
            .map_err(|source| Error::Io {
                operation: Operation::StartReading,
                path: path.to_owned(),
                source,
            })?;
        Ok(Self::Ahead(Ahead {
            full,
            pool,
            cancel: context.cancelled().clone(),
            bytes: 0,
            summary: None,
        }))
    }
}

fn read_ahead(
    mut reader: Reader,
    full: &SyncSender<io::Result<(Vec<u8>, Option<Summary>)>>,
    pool: &Pool,
) {
    // A closed pool or channel means that no more buffers are wanted.
    while let Some(spare) = pool.wait() {
        let result = reader.fill(spare).map(|buffer| {
            let last = buffer.len() < reader.buffer_bytes;
            let summary = last.then(|| reader.summary());
            (buffer, summary)
        });
        let last = !matches!(&result, Ok((_, None)));
        if full.send(result).is_err() || last {
            return;
        }
    }
}

impl Ahead {
    fn next(&mut self) -> io::Result<Buffer> {
        if self.summary.is_some() {
            return Ok(Buffer::default());
        }
        loop {
            match self.full.recv_timeout(POLL) {
                Ok(result) => {
                    let (buffer, summary) = result?;
                    self.summary = summary;
                    self.bytes += buffer.len() as u64;
                    return Ok(self.pool.lend(buffer));
                }
                Err(RecvTimeoutError::Timeout) if self.cancel.is_set() => {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("the reading thread is gone"));
                }
            }
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.pool.close();
    }
}

/// What changes when a file is written to or replaced.
#[cfg(unix)]
fn state(metadata: &Metadata) -> impl PartialEq {
    use std::os::unix::fs::MetadataExt as _;
    let modified = (metadata.mtime(), metadata.mtime_nsec());
    (metadata.dev(), metadata.ino(), metadata.len(), modified)
}

#[cfg(not(unix))]
fn state(metadata: &Metadata) -> impl PartialEq {
    (metadata.len(), metadata.modified().ok())
}

#[cfg(test)]
mod tests;
