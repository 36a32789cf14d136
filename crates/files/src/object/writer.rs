//! An object as an `AsyncWrite`.

use std::fmt;
use std::future::Future;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

use super::{Object, ObjectError, Parts, UploadOptions, Uploaded};

/// Writes an object in parts. It appears when [`complete`](Self::complete) or
/// [`shutdown`](tokio::io::AsyncWriteExt::shutdown) succeeds, as a whole. If the writer is dropped before,
/// what was sent is taken back by a task of the runtime; [`abort`](Self::abort) waits for that. A flush
/// sends nothing, for a part cannot be sent twice.
///
/// It keeps one part in memory, and those that are on their way.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// use std::sync::Arc;
///
/// use object_store::memory::InMemory;
/// use perfkit_files::object::{Create, Object, ObjectError, ObjectWriter, UploadOptions};
/// use tokio::io::AsyncWriteExt as _;
///
/// let object = Object::new(Arc::new(InMemory::new()), "a/b");
/// let options = UploadOptions::default().create(Create::IfAbsent);
/// let mut writer = ObjectWriter::new(object.clone(), options);
/// writer.write_all(b"content").await.unwrap();
/// assert_eq!(writer.complete().await?.sent_bytes, 7);
///
/// let second = ObjectWriter::new(object, options);
/// assert!(matches!(second.complete().await, Err(ObjectError::Exists)));
/// # Ok::<(), ObjectError>(()) }).unwrap();
/// ```
pub struct ObjectWriter {
    state: State,
    /// The part that is filled.
    held: Vec<u8>,
    part_bytes: usize,
    uploaded: Uploaded,
}

enum State {
    Idle(Box<Parts>),
    Busy(Busy),
    Completed,
    /// What failed is said once.
    Failed,
}

type Busy = Pin<Box<dyn Future<Output = (Box<Parts>, Result<(), ObjectError>)> + Send>>;

impl ObjectWriter {
    /// Sends nothing yet.
    #[must_use]
    pub fn new(object: Object, options: UploadOptions) -> Self {
        let parts = Parts::new(object, options);
        Self {
            part_bytes: parts.part_bytes(),
            state: State::Idle(Box::new(parts)),
            held: Vec::new(),
            uploaded: Uploaded::default(),
        }
    }

    /// What was handed to the store so far.
    #[must_use]
    pub fn uploaded(&self) -> Uploaded {
        self.uploaded
    }

    /// Bytes that wait for their part to be full.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }

    /// Sends what is held as a part, however small it is, and has the server copy these bytes of another
    /// object into the next one: see [`Parts::copy`].
    ///
    /// # Errors
    /// [`ObjectError::NoCopies`] leaves the upload as it was, if nothing was held.
    pub async fn copy(
        &mut self,
        from: &Object,
        range: Range<u64>,
        etag: Option<&str>,
    ) -> Result<(), ObjectError> {
        std::future::poll_fn(|context| self.poll_idle(context)).await?;
        let State::Idle(parts) = &mut self.state else {
            return Err(ObjectError::Ended);
        };
        if !self.held.is_empty() {
            parts.send(std::mem::take(&mut self.held)).await?;
        }
        parts.copy(from, range, etag).await?;
        self.uploaded = parts.uploaded();
        Ok(())
    }

    /// Makes the object appear.
    ///
    /// # Errors
    /// The store refuses, or there is an object of this name; what was sent is taken back.
    pub async fn complete(mut self) -> Result<Uploaded, ObjectError> {
        std::future::poll_fn(|context| self.poll_complete(context)).await?;
        Ok(self.uploaded)
    }

    /// Takes back what was sent, for 5 s at most.
    pub async fn abort(mut self) {
        let _ = std::future::poll_fn(|context| self.poll_idle(context)).await;
        if let State::Idle(mut parts) = std::mem::replace(&mut self.state, State::Failed) {
            parts.abort().await;
        }
    }

    /// Waits for what is going on.
    fn poll_idle(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ObjectError>> {
        let State::Busy(busy) = &mut self.state else {
            return Poll::Ready(Ok(()));
        };
        let (parts, result) = ready!(busy.as_mut().poll(context));
        self.uploaded = parts.uploaded();
        self.part_bytes = parts.part_bytes();
        self.state = match &result {
            Ok(()) => State::Idle(parts),
            Err(_) => State::Failed,
        };
        Poll::Ready(result)
    }

    fn poll_complete(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ObjectError>> {
        loop {
            ready!(self.poll_idle(context))?;
            match std::mem::replace(&mut self.state, State::Failed) {
                State::Completed => {
                    self.state = State::Completed;
                    return Poll::Ready(Ok(()));
                }
                State::Idle(parts) if parts.is_complete() => self.state = State::Completed,
                State::Idle(mut parts) => {
                    let last = std::mem::take(&mut self.held);
                    self.state = State::Busy(Box::pin(async move {
                        let result = parts.complete(last).await;
                        if result.is_err() {
                            parts.abort().await;
                        }
                        (parts, result.map(drop))
                    }));
                }
                State::Busy(_) | State::Failed => return Poll::Ready(Err(ObjectError::Ended)),
            }
        }
    }
}

impl fmt::Debug for ObjectWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectWriter")
            .field("uploaded", &self.uploaded)
            .field("held_bytes", &self.held.len())
            .finish_non_exhaustive()
    }
}

impl AsyncWrite for ObjectWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        content: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        loop {
            ready!(this.poll_idle(context))?;
            let room = this.part_bytes.saturating_sub(this.held.len());
            if room > 0 {
                let bytes = room.min(content.len());
                this.held.extend_from_slice(&content[..bytes]);
                return Poll::Ready(match this.state {
                    State::Idle(_) => Ok(bytes),
                    _ => Err(ObjectError::Ended.into()),
                });
            }
            let State::Idle(mut parts) = std::mem::replace(&mut this.state, State::Failed) else {
                return Poll::Ready(Err(ObjectError::Ended.into()));
            };
            let part = std::mem::take(&mut this.held);
            this.state = State::Busy(Box::pin(async move {
                let result = parts.send(part).await;
                (parts, result)
            }));
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.get_mut().poll_idle(context))?;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.get_mut().poll_complete(context))?;
        Poll::Ready(Ok(()))
    }
}
