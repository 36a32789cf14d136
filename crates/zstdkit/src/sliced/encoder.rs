//! The encoder in slices.

use std::ops::DerefMut;

use super::append::{ROOM_BYTES, append};
use super::budget::{Budget, SLICE_BYTES};
use crate::encoder::Encoder;
use crate::error::{Error, Repr};
use crate::options::EncoderOptions;
use crate::step::{Operation, State, Step};

/// Compresses a stream in slices: one block of at most 16 KiB per slice.
///
/// # What bounds a step
/// A step never does more slices than its budget has left. Each slice takes at most 16 KiB of input and
/// compresses at most 16 KiB of content. The opening of a frame by its first slice does not count: it
/// clears the tables (see [`EncoderOptions::memory_estimate_bytes`]) and indexes a prefix or an undigested
/// dictionary. [`open`](SlicedEncoder::open) does that separately.
///
/// Small blocks make the output about 1 % larger.
///
/// ```
/// use zstdkit::sliced::{Budget, SlicedEncoder};
/// use zstdkit::{EncoderOptions, Operation, State};
///
/// let content = vec![7; 100_000];
/// let mut encoder = SlicedEncoder::new(&EncoderOptions::default())?;
/// encoder.begin(Some(content.len() as u64))?;
/// let (mut input, mut frame, mut turns) = (&content[..], Vec::new(), 0);
/// while encoder.step_into(&mut input, &mut frame, Operation::End, &mut Budget::slices(1))?
///     != State::Done
/// {
///     turns += 1; // Others run here.
/// }
/// assert!(turns >= 6);
/// assert_eq!(zstdkit::decompress(&frame, &Default::default())?, content);
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[derive(Debug)]
pub struct SlicedEncoder<E = Box<Encoder>> {
    encoder: E,
    /// The content of a full block.
    block_bytes: usize,
    /// Bytes taken that are not yet in a block.
    gathered: usize,
}

impl SlicedEncoder {
    /// Makes a context with these options and smaller blocks. Options with worker threads are refused:
    /// their work is not bounded by the call.
    pub fn new(options: &EncoderOptions) -> Result<Self, Error> {
        let options = Self::options(options)?;
        Ok(Self::with_encoder(
            Box::new(Encoder::new(&options)?),
            &options,
        ))
    }

    /// These options with blocks of at most one slice, for an encoder that is to be sliced.
    pub fn options(options: &EncoderOptions) -> Result<EncoderOptions, Error> {
        if options.workers > 0 {
            return Err(Repr::Conflict {
                one: "slices",
                other: "worker threads",
            }
            .into());
        }
        let most = SLICE_BYTES as u32;
        Ok(EncoderOptions {
            block_bytes_max: Some(options.block_bytes_max.unwrap_or(most).min(most)),
            ..options.clone()
        })
    }
}

impl<E: DerefMut<Target = Encoder>> SlicedEncoder<E> {
    /// Slices an encoder that was made with the result of [`options`](SlicedEncoder::options) and has an
    /// empty frame open.
    pub fn with_encoder(encoder: E, options: &EncoderOptions) -> Self {
        let block_bytes = options
            .block_bytes_max
            .map_or(SLICE_BYTES, |bytes| bytes as usize);
        Self {
            encoder,
            block_bytes: block_bytes.clamp(1, SLICE_BYTES),
            gathered: 0,
        }
    }

    /// Where its context lies in memory.
    #[cfg(feature = "tokio")]
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref::<Encoder>(&self.encoder).addr()
    }

    /// Starts a frame: [`Encoder::begin`].
    pub fn begin(&mut self, pledged: Option<u64>) -> Result<(), Error> {
        self.gathered = 0;
        self.encoder.begin(pledged)
    }

    /// Makes the tables of the frame now instead of in its first slice. If they are large, do it on
    /// another thread.
    pub fn open(&mut self) -> Result<(), Error> {
        self.encoder
            .push(&[], &mut [], Operation::Continue)
            .map(drop)
    }

    /// Takes input and writes compressed bytes until everything is done, the output is full or the budget
    /// is spent. In the last two cases the state is [`State::MoreOutput`]: call again with the same
    /// operation and the rest of the input. Errors are those of [`Encoder::push`].
    pub fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        operation: Operation,
        budget: &mut Budget,
    ) -> Result<Step, Error> {
        let mut total = Step {
            consumed: 0,
            produced: 0,
            state: State::MoreOutput,
        };
        while !budget.is_spent() {
            let rest = &input[total.consumed..];
            let cut = rest.len().min(self.block_bytes - self.gathered);
            let last = cut == rest.len();
            let operation = if last { operation } else { Operation::Continue };
            let room = &mut output[total.produced..];
            let step = self.encoder.push(&rest[..cut], room, operation)?;
            budget.charge(1);
            total.consumed += step.consumed;
            total.produced += step.produced;
            self.gathered = match (operation, step.state) {
                (Operation::Continue, _) => (self.gathered + step.consumed) % self.block_bytes,
                (_, State::MoreOutput) => (self.gathered + step.consumed).min(self.block_bytes - 1),
                _ => 0,
            };
            if last && step.state != State::MoreOutput {
                total.state = step.state;
                break;
            }
            if step.state == State::MoreOutput && total.produced == output.len() {
                break;
            }
        }
        Ok(total)
    }

    /// The same for buffers: removes input from the front of `input` and appends to `frame`, which grows
    /// by little more than the content of the budget. The state is [`State::MoreOutput`] only if the
    /// budget is spent.
    pub fn step_into(
        &mut self,
        input: &mut &[u8],
        frame: &mut Vec<u8>,
        operation: Operation,
        budget: &mut Budget,
    ) -> Result<State, Error> {
        loop {
            let mut one = Budget::slices(budget.left().min(1));
            let step = append(frame, ROOM_BYTES, |room| {
                let step = self.step(input, room, operation, &mut one)?;
                Ok((step, step.produced))
            })?;
            budget.charge(1);
            *input = &input[step.consumed..];
            if step.state != State::MoreOutput || budget.is_spent() {
                return Ok(step.state);
            }
        }
    }

    /// The inner encoder.
    pub fn into_inner(self) -> E {
        self.encoder
    }

    /// Bytes of memory that the context holds.
    pub fn memory_bytes(&self) -> usize {
        self.encoder.memory_bytes()
    }
}
