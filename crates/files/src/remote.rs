//! What URLs name: objects of web servers and, with the feature `remote`, of the stores S3, Google Cloud and Azure, read as
//! streams or by ranges, as far as they are wanted and no further, and written in parts. Names are in
//! [`super::url`].
//!
//! A request is made again where that may help, and a stream that breaks goes on where it broke if
//! the server says that it still has the same object. Everything that waits ends at an interrupt.

mod answer;
mod failed;
mod spans;
mod stores;
mod upload;

use std::future::Future;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use object_store::{GetOptions, GetRange, ObjectStoreExt as _};
use tokio::runtime::{Builder, Runtime};

use self::answer::Answered;
use self::failed::RemoteError;
pub use self::spans::Spans;
pub use self::upload::Upload;
use crate::object::{Object, ObjectError, Parts};
use crate::{Cancel, POLL};

/// Bytes of one request for a part of an object.
const WINDOW_BYTES: u64 = 64 * 1024;
/// The size of an object whose server does not say.
const UNKNOWN_BYTES: u64 = u64::MAX;

/// How long to wait, and how often to try.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// For a connection.
    connect: Duration,
    /// For the next bytes.
    read: Duration,
    /// Requests after the first.
    retries: usize,
    /// Between the first and the second request; later waits are longer.
    pause: Duration,
}

const PATIENCE: Patience = Patience {
    connect: Duration::from_secs(10),
    read: Duration::from_secs(60),
    retries: 3,
    pause: Duration::from_millis(100),
};

/// Whether a part of the object was asked for, and the server has no parts or does not say how much
/// there is.
pub fn is_whole_only(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(
        inner,
        Some(RemoteError::NoRanges | RemoteError::SizeUnknown)
    )
}

/// Whether the cancel flag ended this; the error has a kind that readers in between do not retry.
pub fn is_interrupt(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    inner == Some(&RemoteError::Interrupted)
}

/// The object that a URL names, for asynchronous programs. Sends no request.
///
/// # Errors
/// The URL or the environment is invalid.
pub fn object(url: &str) -> io::Result<Object> {
    Ok(stores::of(url, &PATIENCE, &Answered::default())?)
}

/// An object that a URL names.
#[derive(Debug)]
pub struct Remote {
    object: Object,
    answered: Answered,
    runtime: Waiting,
}

impl Remote {
    /// Parses the URL and what the environment says about its store. Sends no request yet.
    ///
    /// # Errors
    /// The URL or the environment is invalid.
    pub fn new(url: &str, cancel: &Cancel) -> io::Result<Self> {
        Self::with(url, &PATIENCE, cancel)
    }

    fn with(url: &str, patience: &Patience, cancel: &Cancel) -> io::Result<Self> {
        let answered = Answered::default();
        let object = stores::of(url, patience, &answered)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self {
            object,
            answered,
            runtime: Waiting::new(runtime, cancel),
        })
    }

    /// The object from byte `start` on, as it arrives.
    pub fn stream(self, start: u64) -> io::Result<Body> {
        let options = GetOptions {
            range: (start > 0).then_some(GetRange::Offset(start)),
            ..GetOptions::default()
        };
        let get = self.object.store().get_opts(self.object.path(), options);
        let result = self
            .runtime
            .wait(get)?
            .map_err(|error| self.refused(&error))?;
        let size = Some(result.meta.size).filter(|size| *size != UNKNOWN_BYTES);
        // Servers that state no time have objects of 1970.
        let modified = SystemTime::from(result.meta.last_modified);
        let modified = Some(modified).filter(|time| *time > SystemTime::UNIX_EPOCH);
        Ok(Body {
            modified,
            chunks: result.into_stream(),
            chunk: Bytes::new(),
            at: start,
            size,
            runtime: self.runtime,
        })
    }

    /// The object, for [`wait`](Self::wait).
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// What `work` comes to, unless an interrupt comes first. All work with the object must go through the
    /// same `Remote`.
    ///
    /// # Errors
    /// The interrupt.
    pub fn wait<T>(&self, work: impl Future<Output = T>) -> io::Result<T> {
        self.runtime.wait(work)
    }

    /// Takes back what was sent of an upload, interrupted or not.
    pub fn abort(&self, parts: &mut Parts) {
        if let Some(runtime) = &self.runtime.runtime {
            runtime.block_on(parts.abort());
        }
    }

    /// Why an upload failed, in one line.
    #[must_use]
    pub fn error(&self, error: &ObjectError) -> io::Error {
        RemoteError::of_upload(error, self.answered.last()).into()
    }

    fn refused(&self, error: &object_store::Error) -> RemoteError {
        RemoteError::of_request(error, self.answered.last())
    }

    /// Whether there is such an object.
    pub(crate) fn exists(&self) -> io::Result<bool> {
        match self.size() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(_)
                if self
                    .answered
                    .last()
                    .is_some_and(|answer| !answer.is_refusal()) =>
            {
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    /// Bytes of the object.
    fn size(&self) -> io::Result<u64> {
        let head = self.object.store().get_opts(
            self.object.path(),
            GetOptions {
                head: true,
                ..GetOptions::default()
            },
        );
        let result = self.runtime.wait(head)?;
        let result = result.map_err(|error| self.refused(&error))?;
        match result.meta.size {
            UNKNOWN_BYTES => Err(RemoteError::SizeUnknown.into()),
            size => Ok(size),
        }
    }

    /// These bytes of the object, which has them.
    fn range(&self, range: Range<u64>) -> io::Result<Bytes> {
        let (start, wanted) = (range.start, range.end - range.start);
        let get = self.object.store().get_range(self.object.path(), range);
        let bytes = self.runtime.wait(get)?;
        let bytes = bytes.map_err(|error| match self.answered.last() {
            // The answer was as it should be: what broke is the stream behind it.
            Some(answer) if answer.code == 206 => RemoteError::of_body(start, None, &error),
            _ => self.refused(&error),
        })?;
        if bytes.len() as u64 != wanted {
            let at = start + bytes.len() as u64;
            return Err(RemoteError::short(at, Some(start + wanted)).into());
        }
        Ok(bytes)
    }
}

/// An object as it arrives.
pub struct Body {
    chunks: BoxStream<'static, object_store::Result<Bytes>>,
    chunk: Bytes,
    /// Bytes of the object up to what was handed out.
    at: u64,
    size: Option<u64>,
    modified: Option<SystemTime>,
    runtime: Waiting,
}

impl Body {
    /// When the object was written, if the server says.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// Bytes of the whole object, if the server says.
    pub fn size(&self) -> Option<u64> {
        self.size
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Body")
            .field("at", &self.at)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

impl Read for Body {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match self.runtime.wait(self.chunks.next())? {
                Some(Ok(chunk)) => self.chunk = chunk,
                Some(Err(error)) => {
                    return Err(RemoteError::of_body(self.at, self.size, &error).into());
                }
                None if self.size.is_some_and(|size| self.at < size) => {
                    return Err(RemoteError::short(self.at, self.size).into());
                }
                None => return Ok(0),
            }
        }
        let count = room.len().min(self.chunk.len());
        room[..count].copy_from_slice(&self.chunk.split_to(count));
        self.at += count as u64;
        Ok(count)
    }
}

/// An object that can be sought, read in windows.
#[derive(Debug)]
pub struct Ranges {
    remote: Remote,
    size: u64,
    at: u64,
    window: Bytes,
    window_start: u64,
}

impl Ranges {
    /// Asks for the size of the object.
    pub fn open(url: &str, cancel: &Cancel) -> io::Result<Self> {
        Self::over(Remote::new(url, cancel)?)
    }

    fn over(remote: Remote) -> io::Result<Self> {
        Ok(Self {
            size: remote.size()?,
            remote,
            at: 0,
            window: Bytes::new(),
            window_start: 0,
        })
    }

    /// What the window holds from here on.
    fn held(&self) -> &[u8] {
        let offset = self.at.checked_sub(self.window_start);
        let offset = offset.and_then(|offset| usize::try_from(offset).ok());
        offset
            .and_then(|offset| self.window.get(offset..))
            .unwrap_or_default()
    }
}

impl Read for Ranges {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.size || room.is_empty() {
            return Ok(0);
        }
        if self.held().is_empty() {
            let end = self.size.min(self.at + WINDOW_BYTES);
            // What lies behind a place that is near the end is likely to be wanted with it.
            let start = self.at.min(self.size.saturating_sub(WINDOW_BYTES));
            let start = if end == self.size { start } else { self.at };
            self.window = self.remote.range(start..end)?;
            self.window_start = start;
        }
        let held = self.held();
        let count = room.len().min(held.len());
        room[..count].copy_from_slice(&held[..count]);
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Ranges {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.size.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// A runtime on the thread that waits. It is there until it is dropped.
#[derive(Debug)]
struct Waiting {
    runtime: Option<Runtime>,
    cancel: Cancel,
}

impl Waiting {
    fn new(runtime: Runtime, cancel: &Cancel) -> Self {
        Self {
            runtime: Some(runtime),
            cancel: cancel.clone(),
        }
    }

    /// What `work` comes to, unless an interrupt comes first.
    fn wait<T>(&self, work: impl Future<Output = T>) -> io::Result<T> {
        let Some(runtime) = &self.runtime else {
            return Err(RemoteError::Interrupted.into());
        };
        let mut work = std::pin::pin!(work);
        runtime.block_on(async {
            loop {
                match tokio::time::timeout(POLL, &mut work).await {
                    Ok(result) => return Ok(result),
                    Err(_) if self.cancel.is_set() => return Err(RemoteError::Interrupted.into()),
                    Err(_) => {}
                }
            }
        })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // A name that is being looked up must not hold up the end.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
