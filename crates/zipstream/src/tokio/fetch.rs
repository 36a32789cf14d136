//! A range of bytes on its way from a source that reads and seeks asynchronously.

use std::io::{self, SeekFrom};
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncRead, AsyncSeek, ReadBuf};

use super::pace::Pace;
use crate::error::{Error, ErrorKind};

/// The most bytes that a source is asked for at once. Memory for them is touched before they come.
const ASKED_BYTES_MAX: usize = 32 << 20;

/// What is known of a source from its reads before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    /// It has had to be waited for: a read may be a request, or a call of the system.
    waits: bool,
}

/// The bytes of a range as they arrive.
#[derive(Debug)]
pub(super) struct Fetch {
    range: Range<u64>,
    /// What has arrived, and room that was touched.
    bytes: Vec<u8>,
    filled: usize,
    /// The source was asked for the bytes up to here.
    asked: usize,
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
    /// A fetch of a range that the archive has, within the limits that its size was checked for. It goes into the memory of
    /// one before.
    pub(super) fn new(range: Range<u64>, memory: Vec<u8>) -> Self {
        Self {
            bytes: memory,
            range,
            filled: 0,
            asked: 0,
            stage: Stage::Settle,
        }
    }

    /// The first byte of the range.
    pub(super) fn start(&self) -> u64 {
        self.range.start
    }

    /// The bytes, once all of them are read. They are taken in pieces, each in a turn.
    ///
    /// A source that has to be waited for is asked for all of them first, for one of requests makes its request as long as
    /// the room it is given.
    pub(super) fn poll<R: AsyncRead + AsyncSeek + Unpin>(
        &mut self,
        source: &mut R,
        known: &mut Known,
        pace: &mut Pace,
        context: &mut Context<'_>,
    ) -> Poll<Result<Vec<u8>, Error>> {
        let total = self.range.end.saturating_sub(self.range.start);
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        let start = self.range.start;
        let failed = |error: io::Error| Error::io(&error).at(start);
        loop {
            let mut source = Pin::new(&mut *source);
            match self.stage {
                Stage::Settle => {
                    ready!(source.as_mut().poll_complete(context)).map_err(failed)?;
                    let place = SeekFrom::Start(start);
                    source.start_seek(place).map_err(failed)?;
                    self.stage = Stage::Seek;
                }
                Stage::Seek => {
                    ready!(source.poll_complete(context)).map_err(failed)?;
                    self.stage = Stage::Read;
                }
                Stage::Read if self.filled == total => {
                    self.bytes.truncate(total);
                    return Poll::Ready(Ok(std::mem::take(&mut self.bytes)));
                }
                Stage::Read => {
                    let piece = usize::try_from(pace.copy_bytes()).unwrap_or(usize::MAX);
                    let asks = known.waits && self.filled >= self.asked;
                    let most = if asks { ASKED_BYTES_MAX } else { piece };
                    let end = total.min(self.filled.saturating_add(most));
                    ready!(self.poll_room(end, total, piece, pace, context))?;
                    ready!(pace.poll_take(Pace::to_copy(piece as u64), context));
                    let mut room = ReadBuf::new(&mut self.bytes[self.filled..end]);
                    let read = source.poll_read(context, &mut room);
                    let bytes = room.filled().len();
                    if asks {
                        self.asked = end;
                    }
                    known.waits |= read.is_pending();
                    ready!(read).map_err(failed)?;
                    if bytes == 0 {
                        let what = "the archive became shorter while it was read";
                        return Poll::Ready(Err(Error::truncated(start, what)));
                    }
                    self.filled += bytes;
                    pace.copied(bytes as u64);
                }
            }
        }
    }

    /// Touches room up to a byte, a piece in a turn.
    fn poll_room(
        &mut self,
        end: usize,
        total: usize,
        piece: usize,
        pace: &mut Pace,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Error>> {
        while self.bytes.len() < end {
            ready!(pace.poll_take(Pace::to_copy(piece as u64), context));
            let length = self.bytes.len();
            if self.bytes.capacity() < total {
                let room = self.bytes.try_reserve_exact(total - length);
                room.map_err(|_| self.out_of_memory(total))?;
            }
            let next = end.min(length.saturating_add(piece));
            self.bytes.resize(next, 0);
            pace.copied((next - length) as u64);
        }
        Poll::Ready(Ok(()))
    }

    fn out_of_memory(&self, bytes: usize) -> Error {
        let what = format!("no memory for {bytes} bytes of the archive");
        Error::new(ErrorKind::Io(io::ErrorKind::OutOfMemory), what).at(self.range.start)
    }
}
