//! A range of bytes on its way from a source that reads and seeks asynchronously.

use std::io::{self, SeekFrom};
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncRead, AsyncSeek, ReadBuf};

use crate::error::Error;

/// The bytes of a range as they arrive.
#[derive(Debug)]
pub(super) struct Fetch {
    range: Range<u64>,
    bytes: Vec<u8>,
    filled: usize,
    stage: Stage,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    /// A seek of a fetch that was dropped may still run.
    Settle,
    Seek,
    Read,
}

impl Fetch {
    /// A fetch of a range that the archive has, within the limits that its size was checked for.
    pub(super) fn new(range: Range<u64>) -> Self {
        let bytes = range.end.saturating_sub(range.start);
        Self {
            bytes: vec![0; usize::try_from(bytes).unwrap_or(0)],
            range,
            filled: 0,
            stage: Stage::Settle,
        }
    }

    /// The first byte of the range.
    pub(super) fn start(&self) -> u64 {
        self.range.start
    }

    /// The bytes, once all of them are read.
    pub(super) fn poll<R: AsyncRead + AsyncSeek + Unpin>(
        &mut self,
        source: &mut R,
        context: &mut Context<'_>,
    ) -> Poll<Result<Vec<u8>, Error>> {
        let failed = |error: io::Error| Error::io(&error).at(self.range.start);
        loop {
            let mut source = Pin::new(&mut *source);
            match self.stage {
                Stage::Settle => {
                    ready!(source.as_mut().poll_complete(context)).map_err(failed)?;
                    let place = SeekFrom::Start(self.range.start);
                    source.start_seek(place).map_err(failed)?;
                    self.stage = Stage::Seek;
                }
                Stage::Seek => {
                    ready!(source.poll_complete(context)).map_err(failed)?;
                    self.stage = Stage::Read;
                }
                Stage::Read if self.filled == self.bytes.len() => {
                    return Poll::Ready(Ok(std::mem::take(&mut self.bytes)));
                }
                Stage::Read => {
                    let mut room = ReadBuf::new(&mut self.bytes[self.filled..]);
                    ready!(source.poll_read(context, &mut room)).map_err(failed)?;
                    let bytes = room.filled().len();
                    if bytes == 0 {
                        let what = "the archive became shorter while it was read";
                        return Poll::Ready(Err(Error::truncated(self.range.start, what)));
                    }
                    self.filled += bytes;
                }
            }
        }
    }
}
