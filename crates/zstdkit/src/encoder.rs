//! The streaming encoder: bytes in, frames out, one context for any number of frames.
//!
//! Options live in `options`. Whole buffers are compressed by `oneshot`, which avoids the copy into a
//! window that streaming needs.

use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{CCtx, InBuffer, OutBuffer};

use crate::context::{CompressContext, failure};
use crate::error::{self, Error, Repr};
use crate::external_checksum::ExternalChecksum;
use crate::options::EncoderOptions;
use crate::parameters::Strategy;
use crate::reservation::Reservation;
use crate::step::{Operation, State, Step};

/// The most input that one call takes when there are no workers: the largest block.
const INPUT_PER_CALL_BYTES_MAX: usize = 128 << 10;

/// Compresses a stream into frames, in calls of bounded work.
///
/// A new encoder has a frame of unknown size open. [`begin`](Encoder::begin) starts another at any
/// time and drops what was not finished. Give input with [`push`](Encoder::push), and at the end
/// push with [`Operation::End`] until the state is [`State::Done`].
///
/// # What bounds a call
/// Without workers a call takes at most 128 KiB of input and compresses at most 256 KiB: its own
/// input, and what earlier calls left waiting. The first call of a frame also clears its tables. At
/// the highest levels these are hundreds of megabytes, unless a small size was pledged (see
/// [`EncoderOptions::memory_estimate_bytes`]). With workers a call copies input into the next job.
/// It waits for a job when all workers are busy, and for all jobs on a flush or at the end;
/// [`OffloadedEncoder`](crate::parallel::OffloadedEncoder) never waits longer than it is told to.
///
/// ```
/// use zstdkit::{Encoder, EncoderOptions, Operation, State};
///
/// let mut encoder = Encoder::new(&EncoderOptions::default())?;
/// encoder.begin(Some(11))?;
/// let (mut input, mut frame, mut buffer) = (&b"hello hello"[..], Vec::new(), [0; 64]);
/// loop {
///     let step = encoder.push(input, &mut buffer, Operation::End)?;
///     input = &input[step.consumed..];
///     frame.extend_from_slice(&buffer[..step.produced]);
///     if step.state == State::Done {
///         break;
///     }
/// }
/// assert_eq!(zstdkit::decompress(&frame, &Default::default())?, b"hello hello");
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[doc(alias = "ZSTD_CStream")]
pub struct Encoder {
    context: CompressContext,
    threaded: bool,
    pledged: Option<u64>,
    frame: Frame,
    /// For a frame whose checksum the caller computes.
    external_checksum: Option<ExternalChecksum>,
    /// Content bytes taken since the frame began.
    taken: u64,
    /// The memory it may hold, if it belongs to a pool.
    pub(crate) reservation: Option<Reservation>,
}

enum Frame {
    /// libzstd was given nothing yet.
    Fresh,
    Open,
    /// `End` was given with the last of the input; only output is left.
    Ending,
    /// libzstd is done with the frame, but its checksum did not fit into the output.
    Sealing,
    Closed,
    Failed(Error),
}

impl Encoder {
    /// Makes a context with these options. Its tables are allocated by the first frame.
    pub fn new(options: &EncoderOptions) -> Result<Self, Error> {
        let context = CompressContext::new(options)?;
        let threaded = options.workers > 0;
        Ok(Self {
            context,
            threaded,
            pledged: None,
            frame: Frame::Fresh,
            external_checksum: None,
            taken: 0,
            reservation: None,
        })
    }

    /// The most input that a call takes, in bytes: a good size for chunks. With workers larger chunks
    /// mean fewer calls.
    pub const fn recommended_input_bytes() -> usize {
        INPUT_PER_CALL_BYTES_MAX
    }

    /// An output of this many bytes always has room for a whole block, and so for flushing
    /// [`recommended_input_bytes`](Encoder::recommended_input_bytes).
    pub fn recommended_output_bytes() -> usize {
        CCtx::out_size()
    }

    /// The options it was made with. They never change.
    pub fn options(&self) -> &EncoderOptions {
        self.context.options()
    }

    /// The level in use: 3 if the options say 0.
    pub fn level(&self) -> i32 {
        self.options().effective_level()
    }

    /// The strategy of the current frame. It depends on the level and the pledged size.
    pub fn strategy(&self) -> Strategy {
        self.options().effective_strategy(self.pledged)
    }

    /// The window exponent of the current frame. It depends on the level and the pledged size.
    pub fn window_log(&self) -> u32 {
        self.options().effective_window_log(self.pledged)
    }

    /// Compresses at this level from the next job of the workers on; without workers, from the next frame on.
    /// The window stays. [`options`](Encoder::options) keep the level that the encoder was made with, and its
    /// memory is estimated by it.
    ///
    /// This is for levels that follow the speed at which output can be written.
    ///
    /// ```
    /// use zstdkit::{Encoder, EncoderOptions, Operation};
    ///
    /// let mut encoder = Encoder::new(&EncoderOptions::default().with_workers(1))?;
    /// encoder.push(b"at level 3, ", &mut [0; 64], Operation::Continue)?;
    /// encoder.set_level(9)?;
    /// # Ok::<(), zstdkit::Error>(())
    /// ```
    pub fn set_level(&mut self, level: i32) -> Result<(), Error> {
        self.context.set_level(level)
    }

    /// Starts a frame. If its size is pledged, the frame states it, a small frame gets smaller
    /// tables, and giving a different number of bytes is an error.
    ///
    /// Output of the previous frame that was not yet written is dropped. Options and memory stay.
    pub fn begin(&mut self, pledged: Option<u64>) -> Result<(), Error> {
        self.start(pledged, None)
    }

    /// The same for a frame whose checksum the caller computes, for example on another thread. Give
    /// the hash with [`set_content_hash`](Encoder::set_content_hash) before the call that ends the
    /// frame. Without [`checksum`](EncoderOptions::checksum) no hash is needed.
    ///
    /// ```
    /// use std::hash::Hasher;
    /// use zstdkit::{Encoder, EncoderOptions, Operation};
    ///
    /// let mut hasher = twox_hash::XxHash64::with_seed(0);
    /// hasher.write(b"hello hello");
    /// let mut encoder = Encoder::new(&EncoderOptions::default())?;
    /// encoder.begin_external_checksum(Some(11))?;
    /// encoder.set_content_hash(hasher.finish());
    /// let mut frame = [0; 64];
    /// let step = encoder.push(b"hello hello", &mut frame, Operation::End)?;
    /// assert_eq!(
    ///     frame[..step.produced],
    ///     zstdkit::compress(b"hello hello", &EncoderOptions::default())?
    /// );
    /// # Ok::<(), zstdkit::Error>(())
    /// ```
    pub fn begin_external_checksum(&mut self, pledged: Option<u64>) -> Result<(), Error> {
        let external_checksum = self.options().checksum.then(ExternalChecksum::default);
        self.start(pledged, external_checksum)
    }

    /// Sets the XXH64 (seed 0) of the whole content of a frame that was begun with
    /// [`begin_external_checksum`](Encoder::begin_external_checksum). It is not verified: decoders
    /// refuse a frame with a wrong one.
    pub fn set_content_hash(&mut self, xxh64: u64) {
        if let Some(external_checksum) = &mut self.external_checksum {
            external_checksum.set_content_hash(xxh64);
        }
    }

    fn start(
        &mut self,
        pledged: Option<u64>,
        external_checksum: Option<ExternalChecksum>,
    ) -> Result<(), Error> {
        let checksum = self.options().checksum && external_checksum.is_none();
        if let Some(reservation) = &mut self.reservation {
            reservation.cover(self.context.options().memory_estimate_bytes(pledged))?;
        }
        self.context
            .begin(pledged, checksum)
            .map_err(|code| Repr::Internal {
                offset: 0,
                reason: error::reason(code),
            })?;
        self.pledged = pledged;
        self.external_checksum = external_checksum;
        self.frame = Frame::Fresh;
        self.taken = 0;
        Ok(())
    }

    /// Takes input and writes compressed bytes. The type's documentation says what bounds a call.
    ///
    /// Give input that was not consumed again, with the same operation. After [`State::Done`] a call
    /// without input does nothing, and a call with input is an error. After an error the frame is
    /// lost, and every call repeats the error until the next [`begin`](Encoder::begin).
    pub fn push(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        operation: Operation,
    ) -> Result<Step, Error> {
        match self.frame {
            Frame::Failed(ref error) => return Err(error.clone()),
            Frame::Closed if input.is_empty() => {
                return Ok(Step {
                    consumed: 0,
                    produced: 0,
                    state: State::Done,
                });
            }
            Frame::Closed => return Err(Repr::NoOpenFrame { given: input.len() }.into()),
            Frame::Sealing if input.is_empty() => return Ok(self.seal(output)),
            Frame::Fresh | Frame::Open | Frame::Ending | Frame::Sealing => {}
        }
        let result = self.check_size(input, operation).and_then(|()| {
            self.check_hash(operation)?;
            let operation = self.operation_for(input, operation)?;
            self.step(input, output, operation)
        });
        if let Err(ref error) = result {
            self.frame = Frame::Failed(error.clone());
        }
        result
    }

    /// Bytes of memory that the context holds, workers included.
    pub fn memory_bytes(&self) -> usize {
        self.context.memory_bytes() + size_of::<Self>()
    }

    /// Whether libzstd itself failed in it.
    pub(crate) fn spoiled(&self) -> bool {
        matches!(&self.frame, Frame::Failed(error) if error.spoils_context())
    }

    /// Compares the size with the pledge before libzstd sees the bytes: its own error has no sizes.
    fn check_size(&self, input: &[u8], operation: Operation) -> Result<(), Error> {
        let given = self.taken.saturating_add(input.len() as u64);
        if matches!(self.frame, Frame::Ending | Frame::Sealing) && !input.is_empty() {
            return Err(Repr::NoOpenFrame { given: input.len() }.into());
        }
        match self.pledged {
            Some(pledged)
                if given > pledged || (operation == Operation::End && given < pledged) =>
            {
                Err(Repr::PledgedSize {
                    given,
                    pledged,
                    offset: given.min(pledged),
                }
                .into())
            }
            _ => Ok(()),
        }
    }

    /// Refuses to end a frame whose content hash was not set.
    fn check_hash(&self, operation: Operation) -> Result<(), Error> {
        match &self.external_checksum {
            Some(external_checksum)
                if operation == Operation::End && !external_checksum.has_content_hash() =>
            {
                Err(Repr::MissingHash.into())
            }
            _ => Ok(()),
        }
    }

    /// Writes the external checksum, or the rest of it.
    fn seal(&mut self, output: &mut [u8]) -> Step {
        let (produced, whole) = match &mut self.external_checksum {
            Some(external_checksum) => external_checksum.write(output),
            None => (0, true),
        };
        let (frame, state) = match whole {
            true => (Frame::Closed, State::Done),
            false => (Frame::Sealing, State::MoreOutput),
        };
        self.frame = frame;
        Step {
            consumed: 0,
            produced,
            state,
        }
    }

    /// The operation for libzstd. An end that was begun stays an end. A frame that is given whole has
    /// a known size.
    fn operation_for(&mut self, input: &[u8], asked: Operation) -> Result<Operation, Error> {
        match self.frame {
            Frame::Ending => return Ok(Operation::End),
            Frame::Fresh if asked == Operation::End && self.pledged.is_none() => {
                let external_checksum = self.external_checksum.take();
                self.start(Some(input.len() as u64), external_checksum)?;
            }
            _ => {}
        }
        Ok(asked)
    }

    fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        operation: Operation,
    ) -> Result<Step, Error> {
        let cut = match self.threaded {
            true => input.len(),
            false => input.len().min(INPUT_PER_CALL_BYTES_MAX),
        };
        // Flush and end apply to the last piece of the input only.
        let directive = match operation {
            _ if cut < input.len() => ZSTD_EndDirective::ZSTD_e_continue,
            Operation::Continue => ZSTD_EndDirective::ZSTD_e_continue,
            Operation::Flush => ZSTD_EndDirective::ZSTD_e_flush,
            Operation::End => ZSTD_EndDirective::ZSTD_e_end,
        };
        let mut source = InBuffer::around(&input[..cut]);
        let mut target = OutBuffer::around(output);
        let waiting = self
            .context
            .stream(&mut source, &mut target, directive)
            .map_err(|code| failure(code, self.taken))?;
        let (consumed, produced) = (source.pos(), target.pos());
        self.taken += consumed as u64;
        let all_taken = consumed == input.len();
        let state = match directive {
            _ if !all_taken => State::MoreOutput,
            // Workers always hold some output. Another call is needed only if the room was full.
            ZSTD_EndDirective::ZSTD_e_continue if self.threaded => {
                if produced == output.len() {
                    State::MoreOutput
                } else {
                    State::NeedInput
                }
            }
            _ if waiting > 0 => State::MoreOutput,
            ZSTD_EndDirective::ZSTD_e_end => State::Done,
            _ => State::NeedInput,
        };
        self.frame = match (operation, state) {
            (_, State::Done) => Frame::Closed,
            (Operation::End, _) if all_taken => Frame::Ending,
            _ => Frame::Open,
        };
        if let Some(external_checksum) = &mut self.external_checksum {
            external_checksum.announce_in_header(&mut output[..produced]);
        }
        let step = Step {
            consumed,
            produced,
            state,
        };
        if self.external_checksum.is_none() || state != State::Done {
            return Ok(step);
        }
        let sealed = self.seal(&mut output[produced..]);
        Ok(Step {
            produced: produced + sealed.produced,
            state: sealed.state,
            ..step
        })
    }
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder")
            .field("pledged", &self.pledged)
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}
