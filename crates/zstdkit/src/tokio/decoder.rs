//! A reader that decompresses.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncRead, ReadBuf};
use turns::{Keeps, Rate, Turn, timed};

use super::memory::{Memory, Need};
use super::scheduler::Scheduler;
use crate::decoder::{Decoder, Suspended, Totals};
use crate::error::{Error, Repr};
use crate::format::{BLOCK_BYTES_MAX, BLOCK_HEADER_BYTES};
use crate::memory::DECODER_BYTES;
use crate::options::DecoderOptions;
use crate::pool::Pooled;
use crate::schedule::CostKey;
use crate::sliced::{Budget, SLICE_BYTES, SlicedDecoder};
use crate::step::{State, Step};

/// The input that is held at first: a body of a few KB needs no more, and many may wait for their context.
const FIRST_INPUT_BYTES: usize = 4 << 10;
/// It grows up to this, by this factor where the reader has filled it, or to what a block wants.
const INPUT_BYTES: usize = 64 << 10;
const INPUT_GROWTH: usize = 4;
/// The most reads in a row from a reader that gives a few bytes at a time, and about how long each takes.
const READS_MAX: u64 = 64;
const READ_NS: u64 = 30;
/// The rate at which a reader copies what it has.
const READ_BYTES_PER_NS: u64 = 8;
/// The rate at first of what is passed on without being decoded, and from how much on that is timed.
const COPY_NS_PER_KIB: u64 = 500;
const TIMED_BYTES: usize = 4 << 10;

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
/// A read decodes at most one block, or as many short ones as have about the content of a slice (16 KiB). It yields
/// before it would hold its thread for longer than [the threshold](super#thresholds), but does not divide a block: a turn has one at
/// least, which takes 20 to 200 µs if it has 128 KiB. All frames are read up to the end of the reader; skippable frames are skipped. A reader that
/// ends inside a frame or has no frame is an error ([`io::ErrorKind::UnexpectedEof`]). Content is handed
/// out before the checksum of its frame was verified. After a decompression error every read fails with
/// that error.
///
/// A context is taken from the pool with the first bytes of a frame, and given back at the end, and while the reader has
/// nothing between two frames. Where memory is short for it, or for the window of a frame, a read waits in line, without a
/// context.
///
/// It reads ahead: bytes that it has taken from the reader and not used are lost when it is dropped.
#[derive(Debug)]
pub struct AsyncDecoder<R> {
    reader: R,
    scheduler: Scheduler,
    options: DecoderOptions,
    /// A context, from the first bytes of a frame to those of its end behind which the reader has nothing.
    decoder: Option<SlicedDecoder<Pooled<Decoder>>>,
    /// Whether the context was given nothing yet: it allocates its window then.
    opens: bool,
    input: Vec<u8>,
    /// The part of the input that was read and not yet used.
    from: usize,
    to: usize,
    /// Whether the decoder can continue without input.
    waiting: bool,
    /// The content of the last block, or of short ones that were decoded together.
    block_bytes: usize,
    /// The rate at which stored blocks, and what is left of others, are copied.
    copies: Rate,
    /// An error of the reader behind bytes that are not yet used.
    reader_error: Option<io::Error>,
    /// What was decoded in all, at the end.
    totals: Totals,
    end: End,
    turn: Turn,
    memory: Memory,
    /// Where memory was short for the next frame, or the reader had nothing between two of them.
    suspended: Option<Suspended>,
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
        options.validate()?;
        Ok(Self {
            reader,
            scheduler,
            options: options.clone(),
            decoder: None,
            opens: false,
            input: Vec::new(),
            from: 0,
            to: 0,
            waiting: false,
            block_bytes: BLOCK_BYTES_MAX as usize,
            copies: Rate::new(COPY_NS_PER_KIB),
            reader_error: None,
            totals: Totals::default(),
            end: End::NotYet,
            turn: Turn::new(),
            memory: Memory::default(),
            suspended: None,
        })
    }

    /// The reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// What was decoded so far.
    pub fn totals(&self) -> Totals {
        let totals = |decoder: &SlicedDecoder<_>| decoder.totals();
        self.decoder.as_ref().map_or(self.totals, totals)
    }

    /// Takes a context from the pool if there is none. It goes on where another one had to stop.
    fn poll_open(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.decoder.is_none() {
            let (scheduler, options, suspended) = (&self.scheduler, &self.options, self.suspended);
            let make = || scheduler.pooled_decoder(options, suspended);
            let bytes = suspended.map_or(DECODER_BYTES, |suspended| suspended.need_bytes);
            let brief = false;
            let need = Need { bytes, brief };
            let (made, ns) = timed(|| self.memory.poll_take(scheduler, need, context, make));
            self.turn.held(ns);
            if made.is_pending() {
                // Others may work meanwhile, or wait for memory as well.
                self.turn.give_back();
            }
            self.decoder = Some(ready!(made)?);
            (self.suspended, self.opens) = (None, true);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_block(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<(), Error>> {
        let given = &self.input[self.from..self.to];
        let decoder = self.decoder.as_ref();
        let decodes = decoder.is_none_or(|decoder| decoder.inner().may_decode(given));
        let given = given.len();
        let next_ns = match decodes {
            true => self
                .scheduler
                .model()
                .predict_ns(CostKey::decompress_slice(), self.block_bytes),
            false => self.copies.predict_ns(given.min(buffer.remaining()) as u64),
        };
        // What is left of a block is copied in the turn in which it was decoded.
        if (decodes || !self.waiting) && !self.memory.waits() {
            ready!(self.poll_turn(next_ns, context));
        }
        ready!(self.poll_open(context))?;
        let most = match decodes || self.waiting {
            true => BLOCK_BYTES_MAX as usize,
            // A block that is stored is passed on as it comes.
            false => given.max(1),
        };
        let room = buffer.remaining().min(most);
        let Some(decoder) = &mut self.decoder else {
            return Poll::Ready(Ok(()));
        };
        let input = &self.input[self.from..self.to];
        let mut budget = Budget::slices(1);
        let opens = std::mem::take(&mut self.opens);
        let mut step = || {
            let room = buffer.initialize_unfilled_to(room);
            match decodes {
                true => blocks(decoder, input, room),
                false => decoder.step(input, room, &mut budget).map(|step| (step, 1)),
            }
        };
        let (step, ns) = match decodes || opens || room >= TIMED_BYTES {
            true => timed(step),
            false => (step(), 0),
        };
        let full = decoder.inner().waiting();
        let (step, count) = step.inspect_err(|_| self.turn.held(ns))?;
        buffer.advance(step.produced);
        self.from += step.consumed;
        self.waiting = step.state == State::MoreOutput;
        self.suspended = decoder.inner().suspended();
        if let Some(suspended) = self.suspended {
            // Others may have the context while this waits.
            self.totals = suspended.before;
            self.decoder = None;
            self.turn.give_back();
            self.waiting = true;
        }
        if !decodes {
            let bytes = step.consumed.max(step.produced) as u64;
            match ns {
                0 => self.turn.held(self.copies.predict_ns(bytes)),
                _ => {
                    self.turn.held(ns);
                    self.copies.observe(bytes, ns);
                }
            }
        } else {
            self.turn.held(ns);
            self.block_bytes = match full {
                true => BLOCK_BYTES_MAX as usize,
                // The beginning of a frame or of a block says nothing of the blocks that follow.
                false if step.produced == 0 => self.block_bytes,
                false => {
                    // Short blocks take longer for as much content, and say little of others.
                    if count == 1 {
                        self.scheduler.learn_block(step.produced, ns);
                    }
                    step.produced
                }
            };
        }
        Poll::Ready(Ok(()))
    }

    /// Others may have the context until the next frame, and the memory of its window.
    fn rest(&mut self) {
        let between = |decoder: &SlicedDecoder<_>| Suspended::between_frames(decoder.inner());
        if let Some(between) = self.decoder.as_ref().and_then(between) {
            self.totals = between.before;
            (self.suspended, self.decoder) = (Some(between), None);
        }
    }

    fn poll_turn(&mut self, next_ns: u64, context: &mut Context<'_>) -> Poll<()> {
        let keeps = match (&self.decoder, self.suspended) {
            // Who only waited for its reader has its place.
            (None, Some(suspended)) if suspended.is_between_frames() => Keeps::Context,
            (None, _) => Keeps::NewContext,
            (Some(_), _) => Keeps::Context,
        };
        let threshold_ns = self.scheduler.model().slice_threshold_ns();
        self.turn.poll_take(context, next_ns, threshold_ns, keeps)
    }

    /// Reads until the block is complete, the reader has nothing or the buffer is full.
    fn poll_input(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(error) = self.reader_error.take() {
            return Poll::Ready(Err(error));
        }
        let wanted = self.decoder.as_ref().map(|decoder| decoder.inner().wants());
        let held = self.input.len();
        let filled = self.to == held && wanted.is_some();
        let room = match filled {
            true => held * INPUT_GROWTH,
            false => wanted.unwrap_or_default(),
        };
        let room = room.clamp(FIRST_INPUT_BYTES, INPUT_BYTES);
        if held < room {
            self.input = vec![0; room];
        }
        (self.from, self.to) = (0, 0);
        let wanted = wanted.unwrap_or(1).min(self.input.len());
        let mut reads = 0;
        while self.to < wanted && reads < READS_MAX {
            let mut buffer = ReadBuf::new(&mut self.input[self.to..]);
            let read = match Pin::new(&mut self.reader).poll_read(context, &mut buffer) {
                Poll::Pending if self.to > 0 => break,
                Poll::Pending => {
                    self.turn.pause();
                    self.rest();
                    return Poll::Pending;
                }
                Poll::Ready(read) => read,
            };
            let count = buffer.filled().len();
            match read {
                // What came before is decoded first.
                Err(error) if self.to > 0 => {
                    self.reader_error = Some(error);
                    break;
                }
                Err(error) => return Poll::Ready(Err(error)),
                Ok(()) if count == 0 => {
                    if self.to == 0 {
                        self.end = End::Reader;
                    }
                    break;
                }
                Ok(()) => self.to += count,
            }
            reads += 1;
        }
        let copied_ns = self.to as u64 / READ_BYTES_PER_NS;
        self.turn.held(reads * READ_NS + copied_ns);
        Poll::Ready(Ok(()))
    }
}

/// Decodes one block, or short ones as long as they have no more content than a slice together. Returns how many, too.
/// An error behind content is found again by the next call.
fn blocks(
    decoder: &mut SlicedDecoder<Pooled<Decoder>>,
    input: &[u8],
    room: &mut [u8],
) -> Result<(Step, usize), Error> {
    let mut total = decoder.step(input, room, &mut Budget::slices(1))?;
    let (mut last, mut count) = (total.produced, 1);
    while last > 0 && total.state == State::MoreOutput && total.produced + last <= SLICE_BYTES {
        let (rest, free) = (&input[total.consumed..], &mut room[total.produced..]);
        // The beginning of a block is taken with those before it.
        if free.len() < last || decoder.inner().waiting() || rest.len() <= BLOCK_HEADER_BYTES {
            break;
        }
        let Ok(step) = decoder.step(rest, free, &mut Budget::slices(1)) else {
            break;
        };
        total.consumed += step.consumed;
        total.produced += step.produced;
        total.state = step.state;
        last = step.produced;
        count += 1;
    }
    Ok((total, count))
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
                    let nothing = || Err(Repr::NoFrame.into());
                    let between = this.suspended.filter(Suspended::is_between_frames);
                    let finished = match (&this.decoder, between) {
                        (Some(decoder), _) => decoder.finish(),
                        (None, Some(between)) => Ok(between.before),
                        (None, None) => nothing(),
                    };
                    // Others may have the context now. If there are enough of them it is freed.
                    let ((), ns) = timed(|| this.decoder = None);
                    this.turn.held(ns);
                    this.turn.give_back();
                    this.input = Vec::new();
                    this.end = match finished {
                        Ok(totals) => {
                            this.totals = totals;
                            End::Good
                        }
                        Err(error) => End::Bad(error),
                    };
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}
