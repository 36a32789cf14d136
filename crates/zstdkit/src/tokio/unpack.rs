//! Whole buffers that are decompressed: inline, or a block at a time.

use turns::{Content, Keeps, OutOfMemory, Turn, timed};

use super::memory::Need;
use super::scheduler::{PooledDecoder, Scheduler};
use super::whole::out_of_memory;
use crate::decoder::Suspended;
use crate::error::Error;
use crate::format::{self, BLOCK_BYTES_MAX};
use crate::memory::DECODER_BYTES;
use crate::options::DecoderOptions;
use crate::schedule::{CostKey, Decision};
use crate::sliced::{Budget, SLICE_BYTES};
use crate::step::State;

/// Room for content is reserved up to this many times the input, and where blocks were examined that may have more, up to
/// this.
const TRUSTED_RATIO: usize = 64;
const TRUSTED_BYTES: u64 = 64 << 20;
/// The most frames and blocks that are examined before decoding. Each block may cost a look at memory that is not in
/// the cache.
const FRAMES_MAX: usize = 64;
const BLOCKS_MAX: usize = 512;
/// About how long it takes to copy a block into memory that was not used before, or to free some.
const STEP_NS: u64 = 60_000;

impl Scheduler {
    /// Decompresses all frames of `stream`: inline if they are small, else a block at a time.
    ///
    /// The content is written where it is returned: room for it is reserved, but cleared only block after block. Where more
    /// comes than can be reserved (above 64 MiB that is more than 64 times the stream), it is decoded in parts, which are
    /// joined block after block at the end. A stream of a megabyte and more is dropped on another thread.
    pub async fn decompress<C>(&self, stream: C, options: &DecoderOptions) -> Result<Vec<u8>, Error>
    where
        C: AsRef<[u8]> + Send + 'static,
    {
        let found = survey(stream.as_ref());
        let decide = |bytes| (bytes, self.model().decide_decompress(bytes));
        if let Some((bytes, Decision::Inline)) = found.bytes.map(decide) {
            let content = self.decompress_inline(stream.as_ref(), bytes, options);
            return content.await;
        }
        let limit = options.output_limit.unwrap_or(u64::MAX);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let reserved_bytes = found.reserved_bytes.min(limit);
        let content = self.decompress_sliced(stream, reserved_bytes, options);
        content.await
    }

    async fn decompress_inline(
        &self,
        stream: &[u8],
        bytes: usize,
        options: &DecoderOptions,
    ) -> Result<Vec<u8>, Error> {
        let key = CostKey::decompress(bytes);
        let predicted_ns = self.model().predict_ns(key, bytes);
        let mut turn = Turn::new();
        turn.take(predicted_ns, self.model().threshold_ns(), Keeps::Nothing)
            .await;
        let need = Need {
            bytes: DECODER_BYTES,
            brief: true,
        };
        let call = || timed(|| self.pool().decompressor(options)?.decompress(stream));
        let timed = self.with_memory(need, || {
            let (content, ns) = call();
            turn.held(ns);
            content.map(|content| (content, ns))
        });
        let (content, ns) = timed.await?;
        self.model().observe(key, bytes, ns);
        Ok(content)
    }

    async fn decompress_sliced<C>(
        &self,
        stream: C,
        reserved_bytes: usize,
        options: &DecoderOptions,
    ) -> Result<Vec<u8>, Error>
    where
        C: AsRef<[u8]> + Send + 'static,
    {
        let mut content = Content::with_capacity(reserved_bytes);
        let mut turn = Turn::new();
        let decoded = self.decode(stream.as_ref(), &mut content, &mut turn, options);
        let decoded = decoded.await;
        self.discard(stream);
        if let Err(error) = decoded {
            let mut refuse = content.refuse();
            while !self.step(&mut turn, || refuse.step()).await {}
            return Err(error);
        }
        let mut join = match content.whole().map_err(no_memory)? {
            Ok(whole) => return Ok(whole),
            Err(join) => join,
        };
        while !self.step(&mut turn, || join.step()).await {}
        Ok(join.into_whole())
    }

    /// Decodes all frames, block after block.
    async fn decode(
        &self,
        stream: &[u8],
        content: &mut Content,
        turn: &mut Turn,
        options: &DecoderOptions,
    ) -> Result<(), Error> {
        let mut decoder = self.decoder_for(options, None).await?;
        let (mut rest, mut total_ns) = (stream, 0_u64);
        loop {
            let block = BLOCK_BYTES_MAX as usize;
            let predicted_ns = self.model().predict_ns(CostKey::decompress_slice(), block);
            turn.take(predicted_ns, self.model().threshold_ns(), Keeps::Context)
                .await;
            let (mut held_ns, mut produced) = (0, 0);
            // Short blocks one after another: each of its own would cost more for its turn than for its content.
            let step = loop {
                let (step, ns) =
                    timed(|| decoder.step(rest, room(content)?, &mut Budget::slices(1)));
                held_ns += ns;
                let Ok(step) = step else {
                    break step;
                };
                self.learn_block(step.produced, ns);
                rest = &rest[step.consumed..];
                content.keep(step.produced);
                produced += step.produced;
                let is_enough = produced >= SLICE_BYTES || held_ns >= predicted_ns / 2;
                if is_enough
                    || step.state != State::MoreOutput
                    || decoder.inner().suspended().is_some()
                {
                    break Ok(step);
                }
            };
            turn.held(held_ns);
            let step = step?;
            total_ns = total_ns.saturating_add(held_ns);
            if let Some(suspended) = decoder.inner().suspended() {
                // Others may have the context while this waits.
                drop(decoder);
                decoder = self.decoder_for(options, Some(suspended)).await?;
            } else if step.state != State::MoreOutput {
                break;
            }
        }
        decoder.finish()?;
        let total = content.total();
        self.model()
            .observe(CostKey::decompress(total), total, total_ns);
        Ok(())
    }

    /// A step of work with memory, in turn. Returns what it says.
    async fn step(&self, turn: &mut Turn, step: impl FnOnce() -> bool) -> bool {
        turn.take(STEP_NS, self.model().threshold_ns(), Keeps::Nothing)
            .await;
        let (done, ns) = timed(step);
        turn.held(ns);
        done
    }

    /// A decoder, when there is memory for it.
    async fn decoder_for(
        &self,
        options: &DecoderOptions,
        suspended: Option<Suspended>,
    ) -> Result<PooledDecoder, Error> {
        let bytes = suspended.map_or(DECODER_BYTES, |suspended| suspended.need_bytes);
        let brief = false;
        let make = || self.pooled_decoder(options, suspended);
        self.with_memory(Need { bytes, brief }, make).await
    }

    /// Learns from a block, unless it is too small.
    pub(super) fn learn_block(&self, produced: usize, ns: u64) {
        if produced >= SLICE_BYTES {
            self.model()
                .observe(CostKey::decompress_slice(), produced, ns);
        }
    }
}

fn room(content: &mut Content) -> Result<&mut [u8], Error> {
    content.room().map_err(no_memory)
}

fn no_memory(error: OutOfMemory) -> Error {
    out_of_memory(error.bytes)
}

/// What is found of a stream before it is decoded.
#[derive(Debug, Default, PartialEq, Eq)]
struct Survey {
    /// Its content, as the frames state it or their blocks bound it.
    bytes: Option<usize>,
    /// Room for it. That is reserved, and not touched before there is content for it.
    reserved_bytes: usize,
}

/// Looks at the headers of frames and blocks, as far as that is quick. Errors in the stream are left to the decoder.
fn survey(stream: &[u8]) -> Survey {
    let (mut rest, mut total, mut blocks_left) = (stream, 0_u64, BLOCKS_MAX);
    for _ in 0..FRAMES_MAX {
        if rest.is_empty() {
            return Survey {
                bytes: usize::try_from(total).ok(),
                reserved_bytes: trusted(total, total, stream),
            };
        }
        if let Some(after) = format::after_skippable_frame(rest) {
            rest = after;
            continue;
        }
        let Some((header, body)) = format::split_header(rest) else {
            return Survey::default();
        };
        let Some(blocks) = format::measure_blocks(&header, body, &mut blocks_left) else {
            return Survey::default();
        };
        let (stated, seen) = (header.content_size, total.saturating_add(blocks.bound));
        rest = blocks.rest;
        if !blocks.ended {
            // Most such streams are one frame, whose header is enough.
            let stated = stated.map(|stated| total.saturating_add(stated));
            let all = stated.unwrap_or_else(|| extrapolate(seen, stream, rest));
            return Survey {
                bytes: stated.and_then(|stated| usize::try_from(stated).ok()),
                reserved_bytes: trusted(all, seen, stream),
            };
        }
        total = stated.map_or(seen, |stated| seen.min(total.saturating_add(stated)));
    }
    let all = extrapolate(total, stream, rest);
    Survey {
        bytes: None,
        reserved_bytes: trusted(all, total, stream),
    }
}

/// What all of a stream has, if what lies before `rest` has so much.
fn extrapolate(bytes: u64, stream: &[u8], rest: &[u8]) -> u64 {
    let seen = stream.len() - rest.len();
    let all = u128::from(bytes) * stream.len() as u128 / seen.max(1) as u128;
    u64::try_from(all).unwrap_or(u64::MAX)
}

/// As much of this as is reserved for a stream whose blocks were seen to have so much.
fn trusted(bytes: u64, seen: u64, stream: &[u8]) -> usize {
    let most = stream.len().saturating_mul(TRUSTED_RATIO) as u64;
    let most = most.max(seen.min(TRUSTED_BYTES));
    usize::try_from(bytes.min(most)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
