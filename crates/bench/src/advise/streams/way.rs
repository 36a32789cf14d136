//! The ways to compress a stream inside of a runtime.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tokio::io::AsyncWriteExt as _;
use tokio::task::spawn_blocking;
use zstdkit::EncoderOptions;
use zstdkit::io::EncoderWriter;
use zstdkit::tokio::Scheduler;

use crate::Error;

/// Content that is gathered for another thread.
const CHUNK_BYTES: usize = 128 << 10;

/// How streams are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Not at all.
    Idle,
    /// In their tasks.
    Inline,
    /// 128 KiB at a time, or up to a flush, by `spawn_blocking`.
    Blocking,
    /// By zstdkit's `AsyncEncoder`.
    Async,
}

impl Way {
    pub(crate) const ALL: [Self; 4] = [Self::Idle, Self::Inline, Self::Blocking, Self::Async];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Inline => "inline",
            Self::Blocking => "spawn_blocking",
            Self::Async => "async",
        }
    }
}

/// How a stream is written.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    pub(crate) scheduler: Scheduler,
    pub(crate) options: EncoderOptions,
    pub(crate) write_bytes: usize,
    pub(crate) flush: bool,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Stream {
    /// One stream from its first to its last byte; `None`: it was stopped.
    pub(crate) async fn compress(
        self,
        way: Way,
        content: Arc<[u8]>,
    ) -> Result<Option<Vec<u8>>, Error> {
        match way {
            Way::Idle => Ok(None),
            Way::Inline => self.inline(&content),
            Way::Blocking => self.blocking(&content).await,
            Way::Async => self.encoder(&content).await,
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    fn inline(self, content: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let mut writer = EncoderWriter::new(Vec::new(), &self.options)?;
        for part in content.chunks(self.write_bytes) {
            if self.is_stopped() {
                return Ok(None);
            }
            writer.write_all(part).map_err(failed)?;
            if self.flush {
                writer.flush().map_err(failed)?;
            }
        }
        writer.finish().map(Some).map_err(failed)
    }

    async fn blocking(self, content: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let mut writer = EncoderWriter::new(Vec::new(), &self.options)?;
        let gathered_bytes = match self.flush {
            true => self.write_bytes,
            false => CHUNK_BYTES.next_multiple_of(self.write_bytes),
        };
        let flush = self.flush;
        for part in content.chunks(gathered_bytes) {
            if self.is_stopped() {
                return Ok(None);
            }
            let part = part.to_vec();
            writer = elsewhere(move || {
                writer.write_all(&part)?;
                if flush {
                    writer.flush()?;
                }
                Ok(writer)
            })
            .await?;
        }
        elsewhere(move || writer.finish()).await.map(Some)
    }

    async fn encoder(self, content: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let mut encoder = self.scheduler.encoder(Vec::new(), &self.options, None)?;
        for part in content.chunks(self.write_bytes) {
            if self.is_stopped() {
                return Ok(None);
            }
            encoder.write_all(part).await.map_err(failed)?;
            if self.flush {
                encoder.flush().await.map_err(failed)?;
            }
        }
        encoder.shutdown().await.map_err(failed)?;
        Ok(Some(encoder.into_inner()))
    }
}

/// What work on a thread that may block comes to.
async fn elsewhere<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, Error> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(failed),
        Err(error) => Err(Error::new(format!(
            "a task of the measurement failed: {error}"
        ))),
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::new(error.to_string())
}
