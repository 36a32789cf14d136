//! An object as an `AsyncRead` and `AsyncSeek`.

use std::fmt;
use std::future::Future;
use std::io::{self, SeekFrom};
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use object_store::{GetOptions, GetRange, ObjectStoreExt as _};
use tokio::io::{AsyncRead, AsyncSeek, ReadBuf};

use super::{Object, ObjectError, Windows};

/// Reads an object by ranges: few requests for many small reads, the end only once, and no more than
/// 4 MiB ahead. If the store has entity tags, a replaced object is an error, not a mixture of two.
pub struct ObjectReader {
    object: Object,
    /// The version that is read.
    etag: Option<String>,
    windows: Windows,
    at: u64,
    fetched_bytes: u64,
    fetch: Option<Fetch>,
}

type Fetch = Pin<Box<dyn Future<Output = (Range<u64>, Result<Bytes, ObjectError>)> + Send>>;

impl ObjectReader {
    /// Asks for the size of the object.
    ///
    /// # Errors
    /// There is no such object, or the store refuses.
    pub async fn open(object: Object) -> Result<Self, ObjectError> {
        let meta = object.store.head(&object.path).await?;
        Ok(Self {
            // Weak tags never match a condition.
            etag: meta.e_tag.filter(|tag| !tag.starts_with("W/")),
            windows: Windows::new(meta.size),
            object,
            at: 0,
            fetched_bytes: 0,
            fetch: None,
        })
    }

    /// Bytes of the object.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.windows.size()
    }

    /// Bytes that were fetched so far.
    #[must_use]
    pub fn fetched_bytes(&self) -> u64 {
        self.fetched_bytes
    }

    /// The object.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// The entity tag of the version that is read, if the store has such.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    /// These bytes of the object, whatever was read before. They are not kept.
    ///
    /// # Errors
    /// The store refuses, the object was replaced, or the range is not within it.
    pub async fn range(&self, range: Range<u64>) -> Result<Bytes, ObjectError> {
        self.fetch(range).await.1
    }

    fn fetch(&self, range: Range<u64>) -> Fetch {
        let object = self.object.clone();
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            if_match: self.etag.clone(),
            ..GetOptions::default()
        };
        Box::pin(async move {
            if range.is_empty() {
                return (range, Ok(Bytes::new()));
            }
            let bytes = bytes(&object, options, &range).await;
            (range, bytes)
        })
    }
}

async fn bytes(
    object: &Object,
    options: GetOptions,
    range: &Range<u64>,
) -> Result<Bytes, ObjectError> {
    let got = object.store.get_opts(&object.path, options).await;
    let got = got.map_err(|error| match error {
        object_store::Error::Precondition { .. } => ObjectError::Changed,
        error => error.into(),
    })?;
    let bytes = got.bytes().await?;
    if bytes.len() as u64 != range.end - range.start {
        return Err(ObjectError::Short {
            at: range.start + bytes.len() as u64,
            size: range.end,
        });
    }
    Ok(bytes)
}

impl fmt::Debug for ObjectReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectReader")
            .field("path", &self.object.path)
            .field("size", &self.size())
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

impl AsyncRead for ObjectReader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.at >= this.size() || room.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            let held = this.windows.held(this.at);
            if !held.is_empty() {
                let count = held.len().min(room.remaining());
                room.put_slice(&held[..count]);
                this.at += count as u64;
                return Poll::Ready(Ok(()));
            }
            let fetch = match this.fetch.take() {
                Some(fetch) => fetch,
                None => this.fetch(this.windows.missing(this.at, room.remaining())),
            };
            let (range, fetched) = ready!(this.fetch.insert(fetch).as_mut().poll(context));
            this.fetch = None;
            let bytes = fetched?;
            this.fetched_bytes += bytes.len() as u64;
            this.windows.keep(&range, bytes);
        }
    }
}

impl AsyncSeek for ObjectReader {
    fn start_seek(self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        let this = self.get_mut();
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => this.size().checked_add_signed(by),
            SeekFrom::Current(by) => this.at.checked_add_signed(by),
        };
        this.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.at))
    }
}
