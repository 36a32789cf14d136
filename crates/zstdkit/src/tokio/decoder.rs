//! A reader that decompresses.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncRead, ReadBuf};

use super::scheduler::{Scheduler, timed};
use super::turn::{self, Turn};
use crate::decoder::{Decoder, Totals};
use crate::error::Error;
use crate::format::BLOCK_BYTES_MAX;
use crate::options::DecoderOptions;
use crate::pool::Pooled;
use crate::schedule::CostKey;
use crate::sliced::{Budget, SlicedDecoder};
use crate::step::State;

const INPUT_BYTES: usize = 64 << 10;

impl Scheduler {
    /// A reader of the content of the frames in `reader`.
    pub fn decoder<R: AsyncRead + Unpin>(
        &self,
        reader: R,
        options: &DecoderOptions,
    ) -> Result<AsyncDecoder<R>, Error> {
        AsyncDecoder::new(self.clone(), reader, options)
    }
}

/// Reads the content of all frames of a reader.
///
/// A read decodes at most one block, and yields before it would hold its thread for longer than the
/// threshold. All frames are read up to the end of the reader; skippable frames are skipped. A reader that
/// ends inside a frame or has no frame is an error ([`io::ErrorKind::UnexpectedEof`]). Content is handed
/// out before the checksum of its frame was verified. After a decompression error every read fails with
/// that error.
///
/// It reads ahead: bytes that it has taken from the reader and not used are lost when it is dropped.
#[derive(Debug)]
pub struct AsyncDecoder<R> {
    reader: R,
    scheduler: Scheduler,
    decoder: SlicedDecoder<Pooled<Decoder>>,
    input: Box<[u8]>,
    /// The part of the input that was read and not yet used.
    from: usize,
    to: usize,
    /// Whether the decoder can continue without input.
    waiting: bool,
    end: End,
    turn: Turn,
}

#[derive(Debug)]
enum End {
    NotYet,
    /// The reader has ended.
    Reader,
    /// The reader has ended after a complete frame.
    Good,
    Bad(Error),
}

impl<R: AsyncRead + Unpin> AsyncDecoder<R> {
    fn new(scheduler: Scheduler, reader: R, options: &DecoderOptions) -> Result<Self, Error> {
        let decoder = SlicedDecoder::with_decoder(scheduler.pool().decoder(options)?);
        Ok(Self {
            reader,
            scheduler,
            decoder,
            input: vec![0; INPUT_BYTES].into(),
            from: 0,
            to: 0,
            waiting: false,
            end: End::NotYet,
            turn: Turn::default(),
        })
    }

    /// The reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// What was decoded so far.
    pub fn totals(&self) -> Totals {
        self.decoder.totals()
    }

    fn poll_block(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<(), Error>> {
        let model = self.scheduler.model();
        let block = BLOCK_BYTES_MAX as usize;
        let next_ns = model.predict_ns(CostKey::decompress_slice(), block);
        ready!(self.turn.poll_take(context, next_ns, model.threshold_ns()));
        let room = buffer.remaining().min(block);
        let room = buffer.initialize_unfilled_to(room);
        let input = &self.input[self.from..self.to];
        let (step, ns) = timed(|| self.decoder.step(input, room, &mut Budget::slices(1)));
        turn::held(ns);
        let step = step?;
        buffer.advance(step.produced);
        self.from += step.consumed;
        self.waiting = step.state == State::MoreOutput;
        self.scheduler.learn_block(step.produced, ns);
        Poll::Ready(Ok(()))
    }

    fn poll_input(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut buffer = ReadBuf::new(&mut self.input);
        ready!(Pin::new(&mut self.reader).poll_read(context, &mut buffer))?;
        (self.from, self.to) = (0, buffer.filled().len());
        if self.to == 0 {
            self.end = End::Reader;
        }
        Poll::Ready(Ok(()))
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for AsyncDecoder<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let filled = buffer.filled().len();
        while buffer.remaining() > 0 && buffer.filled().len() == filled {
            if let End::Bad(error) = &this.end {
                return Poll::Ready(Err(error.clone().into()));
            }
            if this.waiting || this.from < this.to {
                if let Err(error) = ready!(this.poll_block(context, buffer)) {
                    this.end = End::Bad(error);
                }
                continue;
            }
            match this.end {
                End::NotYet => ready!(this.poll_input(context))?,
                End::Good => break,
                End::Reader | End::Bad(_) => {
                    this.end = match this.decoder.finish() {
                        Ok(_) => End::Good,
                        Err(error) => End::Bad(error),
                    };
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}
