//! Whole buffers that are decompressed: inline, or a block at a time.

use turns::{Keeps, Turn, timed};

use super::memory::Need;
use super::scheduler::{CHUNK_BYTES, PooledDecoder, Scheduler};
use super::whole::out_of_memory;
use crate::decoder::Suspended;
use crate::error::Error;
use crate::format::{self, BLOCK_BYTES_MAX};
use crate::memory::DECODER_BYTES;
use crate::options::DecoderOptions;
use crate::schedule::{CostKey, Decision};
use crate::sliced::{Budget, SLICE_BYTES};
use crate::step::State;

/// The stated content size is allocated at once up to this many times the input, at least up to the first
/// of these sizes, and never beyond the second.
const TRUSTED_RATIO: usize = 64;
const TRUSTED_BYTES: usize = 4 << 20;
const TRUSTED_BYTES_MAX: usize = 64 << 20;
/// The most frames that are examined before decoding.
const FRAMES_MAX: usize = 64;

impl Scheduler {
    /// Decompresses all frames of `stream`: inline if they are small, else a block at a time.
    pub async fn decompress<C>(&self, stream: C, options: &DecoderOptions) -> Result<Vec<u8>, Error>
    where
        C: AsRef<[u8]> + Send + 'static,
    {
        let bytes = content_bytes(stream.as_ref());
        match bytes.map(|bytes| (bytes, self.model().decide_decompress(bytes))) {
            Some((bytes, Decision::Inline)) => {
                self.decompress_inline(stream.as_ref(), bytes, options)
                    .await
            }
            _ => self.decompress_sliced(stream, bytes, options).await,
        }
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
        bytes: Option<usize>,
        options: &DecoderOptions,
    ) -> Result<Vec<u8>, Error>
    where
        C: AsRef<[u8]> + Send + 'static,
    {
        let mut decoder = self.decoder_for(options, None).await?;
        let trusted = stream.as_ref().len().saturating_mul(TRUSTED_RATIO);
        let trusted = trusted.clamp(TRUSTED_BYTES, TRUSTED_BYTES_MAX);
        // Zeroed allocations are not touched before content is decoded into them.
        let mut content = vec![0; bytes.unwrap_or(0).min(trusted)];
        let (mut turn, mut at, mut filled, mut total_ns) = (Turn::new(), 0, 0, 0_u64);
        loop {
            if filled == content.len() {
                grow(&mut content)?;
            }
            let block = BLOCK_BYTES_MAX as usize;
            let predicted_ns = self.model().predict_ns(CostKey::decompress_slice(), block);
            turn.take(predicted_ns, self.model().threshold_ns(), Keeps::Context)
                .await;
            let rest = &stream.as_ref()[at..];
            let (step, ns) =
                timed(|| decoder.step(rest, &mut content[filled..], &mut Budget::slices(1)));
            turn.held(ns);
            let step = step?;
            self.learn_block(step.produced, ns);
            at += step.consumed;
            filled += step.produced;
            total_ns = total_ns.saturating_add(ns);
            if let Some(suspended) = decoder.inner().suspended() {
                // Others may have the context while this waits.
                drop(decoder);
                decoder = self.decoder_for(options, Some(suspended)).await?;
            } else if step.state != State::MoreOutput {
                break;
            }
        }
        decoder.finish()?;
        self.model()
            .observe(CostKey::decompress(filled), filled, total_ns);
        content.truncate(filled);
        content.shrink_to_fit();
        Ok(content)
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

/// The content size of a stream, as its frames state it or their blocks bound it, if it can be found
/// quickly. Errors in the stream are left to the decoder.
fn content_bytes(stream: &[u8]) -> Option<usize> {
    let mut rest = stream;
    let mut total = 0_u64;
    for _ in 0..FRAMES_MAX {
        if rest.is_empty() {
            return usize::try_from(total).ok();
        }
        if let Some(after) = format::after_skippable_frame(rest) {
            rest = after;
            continue;
        }
        let (header, body) = format::split_header(rest)?;
        let (bound, after) = match header.content_size {
            // Most streams are one frame, whose header is enough.
            Some(stated) if total == 0 && body.len() > CHUNK_BYTES => {
                return usize::try_from(stated).ok();
            }
            _ => format::measure_blocks(&header, body)?,
        };
        total = total.checked_add(header.content_size.unwrap_or(bound))?;
        rest = after;
    }
    None
}

/// Makes room for a block. The capacity doubles, but only the block is cleared: clearing more would hold
/// the thread.
fn grow(content: &mut Vec<u8>) -> Result<(), Error> {
    let block = BLOCK_BYTES_MAX as usize;
    if content.capacity() - content.len() < block {
        let more = content.len().max(block);
        content
            .try_reserve(more)
            .map_err(|_| out_of_memory(content.len() + more))?;
    }
    content.resize(content.len() + block, 0);
    Ok(())
}
