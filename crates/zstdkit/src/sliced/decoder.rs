//! The decoder in slices.

use std::ops::DerefMut;

use super::append::append;
use super::budget::{Budget, SLICE_BYTES};
use crate::decoder::{Decoder, Totals};
use crate::error::Error;
use crate::format::{BLOCK_BYTES_MAX, BLOCK_HEADER_BYTES, CHECKSUM_BYTES, HEADER_BYTES_MAX};
use crate::options::DecoderOptions;
use crate::step::{State, Step};

/// A call sees at most the bytes of a frame of one block, so that skipping input without decoding is
/// bounded too.
const INPUT_PER_SLICE_BYTES_MAX: usize =
    HEADER_BYTES_MAX + BLOCK_HEADER_BYTES + BLOCK_BYTES_MAX as usize + CHECKSUM_BYTES;

/// Decompresses a stream in slices.
///
/// # What bounds a step
/// libzstd decodes whole blocks, so a step may exceed its budget by one block less one slice: with blocks
/// of 128 KiB by 112 KiB. Each block is charged by the content that it gives, at least one slice.
///
/// ```
/// use zstdkit::sliced::{Budget, SlicedDecoder};
/// use zstdkit::{DecoderOptions, State};
///
/// let content = b"to be or not to be ".repeat(20_000);
/// let frame = zstdkit::compress(&content, &Default::default())?;
/// let mut decoder = SlicedDecoder::new(&DecoderOptions::default())?;
/// let (mut input, mut output, mut turns) = (&frame[..], Vec::new(), 0);
/// while decoder.step_into(&mut input, &mut output, &mut Budget::slices(1))? == State::MoreOutput {
///     turns += 1; // Others run here.
/// }
/// assert_eq!(decoder.finish()?.frames, 1);
/// assert!(output == content && turns >= 2);
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[derive(Debug)]
pub struct SlicedDecoder<D = Box<Decoder>> {
    decoder: D,
}

impl SlicedDecoder {
    /// Makes a context with these options.
    pub fn new(options: &DecoderOptions) -> Result<Self, Error> {
        Ok(Self::with_decoder(Box::new(Decoder::new(options)?)))
    }
}

impl<D: DerefMut<Target = Decoder>> SlicedDecoder<D> {
    /// Slices a decoder.
    pub fn with_decoder(decoder: D) -> Self {
        Self { decoder }
    }

    /// Forgets the stream: [`Decoder::reset`].
    pub fn reset(&mut self) {
        self.decoder.reset();
    }

    /// Takes input and writes content until the input is used up, the output is full or the budget is
    /// spent. In the last two cases the state is [`State::MoreOutput`]: call again with the rest of the
    /// input. Errors are those of [`Decoder::push`].
    pub fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        budget: &mut Budget,
    ) -> Result<Step, Error> {
        let mut total = Step {
            consumed: 0,
            produced: 0,
            state: State::MoreOutput,
        };
        while !budget.is_spent() {
            let rest = &input[total.consumed..];
            let shown = &rest[..rest.len().min(INPUT_PER_SLICE_BYTES_MAX)];
            let room = &mut output[total.produced..];
            let step = self.decoder.push(shown, room)?;
            budget.charge(slices(step.produced));
            total.consumed += step.consumed;
            total.produced += step.produced;
            if step.state != State::MoreOutput && total.consumed == input.len() {
                total.state = step.state;
                break;
            }
            if step.consumed + step.produced == 0 {
                break;
            }
        }
        Ok(total)
    }

    /// The same for buffers: removes input from the front of `input` and appends to `content`. The state
    /// is [`State::MoreOutput`] only if the budget is spent.
    pub fn step_into(
        &mut self,
        input: &mut &[u8],
        content: &mut Vec<u8>,
        budget: &mut Budget,
    ) -> Result<State, Error> {
        loop {
            let step = append(content, BLOCK_BYTES_MAX as usize, |room| {
                let step = self.step(input, room, budget)?;
                Ok((step, step.produced))
            })?;
            *input = &input[step.consumed..];
            if step.state != State::MoreOutput || budget.is_spent() {
                return Ok(step.state);
            }
        }
    }

    /// Whether the stream may end here: [`Decoder::finish`].
    pub fn finish(&self) -> Result<Totals, Error> {
        self.decoder.finish()
    }

    /// What was decoded so far: [`Decoder::totals`].
    pub fn totals(&self) -> Totals {
        self.decoder.totals()
    }

    /// The inner decoder.
    #[cfg(feature = "tokio")]
    pub(crate) fn inner(&self) -> &Decoder {
        &self.decoder
    }

    /// The inner decoder.
    pub fn into_inner(self) -> D {
        self.decoder
    }

    /// Bytes of memory that the decoder holds.
    pub fn memory_bytes(&self) -> usize {
        self.decoder.memory_bytes()
    }
}

fn slices(produced: usize) -> u32 {
    produced.div_ceil(SLICE_BYTES).max(1) as u32
}
