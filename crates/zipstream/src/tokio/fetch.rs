//! A range of bytes on its way from a source that reads and seeks asynchronously.

use std::io::{self, SeekFrom};
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncRead, AsyncSeek, ReadBuf};

use super::pace::Pace;
use crate::error::{Error, ErrorKind};

/// Up to this many bytes, an entry that is decoded in one piece, are asked for at once: a source of requests would make one for
/// each piece, and fetch more than is wanted.
const WHOLE_BYTES: usize = (1 << 20) + (128 << 10);

/// The bytes of a range as they arrive.
#[derive(Debug)]
pub(super) struct Fetch {
    range: Range<u64>,
    /// What has arrived. Room for more is touched when it does.
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
        Self {
            bytes: Vec::new(),
            range,
            filled: 0,
            stage: Stage::Settle,
        }
    }

    /// The first byte of the range.
    pub(super) fn start(&self) -> u64 {
        self.range.start
    }

    /// The bytes, once all of them are read. A source that has all of them at once is read in several turns.
    pub(super) fn poll<R: AsyncRead + AsyncSeek + Unpin>(
        &mut self,
        source: &mut R,
        pace: &mut Pace,
        context: &mut Context<'_>,
    ) -> Poll<Result<Vec<u8>, Error>> {
        let total = self.range.end.saturating_sub(self.range.start);
        let total = usize::try_from(total).unwrap_or(usize::MAX);
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
                Stage::Read if self.filled == total => {
                    return Poll::Ready(Ok(std::mem::take(&mut self.bytes)));
                }
                Stage::Read => {
                    let piece = match total {
                        ..=WHOLE_BYTES => total as u64,
                        _ => pace.copy_bytes(),
                    };
                    ready!(pace.poll_take(Pace::to_copy(piece), context));
                    let piece = usize::try_from(piece).unwrap_or(usize::MAX);
                    let end = total.min(self.filled.saturating_add(piece));
                    if self.bytes.capacity() < total {
                        let room = self.bytes.try_reserve_exact(total);
                        room.map_err(|_| self.out_of_memory(total))?;
                    }
                    if self.bytes.len() < end {
                        self.bytes.resize(end, 0);
                    }
                    let mut room = ReadBuf::new(&mut self.bytes[self.filled..end]);
                    ready!(source.poll_read(context, &mut room)).map_err(failed)?;
                    let bytes = room.filled().len();
                    if bytes == 0 {
                        let what = "the archive became shorter while it was read";
                        return Poll::Ready(Err(Error::truncated(self.range.start, what)));
                    }
                    self.filled += bytes;
                    pace.copied(bytes as u64);
                }
            }
        }
    }

    fn out_of_memory(&self, bytes: usize) -> Error {
        let what = format!("no memory for {bytes} bytes of the archive");
        Error::new(ErrorKind::Io(io::ErrorKind::OutOfMemory), what).at(self.range.start)
    }
}
