//! Injected faults.
//!
//! Panics come from inside a context, after its work; a corrupt block changes between producer and consumer.
//! The engine injects slow consumers and full queues.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::codec::{Codec, Compress, Context, Decompress};
use crate::error::CodecError;
use crate::random::of_block;

/// Injected faults; none by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faults {
    /// Flips one bit of every n-th block between producer and consumer.
    pub corrupt_every: Option<NonZeroU64>,
    /// Lets every n-th call of the codec panic, in either direction.
    pub panic_every: Option<NonZeroU64>,
    /// How long a consumer does nothing after each batch.
    pub consumer_pause: Option<Duration>,
    /// Consumers wait until the queue is full.
    pub full_queue: bool,
}

impl Faults {
    /// Sets [`Faults::corrupt_every`]; 0 means never.
    #[must_use]
    pub fn corrupt_every(mut self, blocks: u64) -> Self {
        self.corrupt_every = NonZeroU64::new(blocks);
        self
    }

    /// Sets [`Faults::panic_every`]; 0 means never.
    #[must_use]
    pub fn panic_every(mut self, calls: u64) -> Self {
        self.panic_every = NonZeroU64::new(calls);
        self
    }

    /// Sets [`Faults::consumer_pause`].
    #[must_use]
    pub fn consumer_pause(mut self, pause: Option<Duration>) -> Self {
        self.consumer_pause = pause;
        self
    }

    /// Sets [`Faults::full_queue`].
    #[must_use]
    pub fn full_queue(mut self, full: bool) -> Self {
        self.full_queue = full;
        self
    }

    /// Whether any fault is injected.
    #[must_use]
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// True every n-th time.
#[derive(Debug)]
pub(crate) struct Every {
    every: Option<NonZeroU64>,
    count: AtomicU64,
}

impl Every {
    pub(crate) fn new(every: Option<NonZeroU64>) -> Self {
        Self {
            every,
            count: AtomicU64::new(0),
        }
    }

    pub(crate) fn now(&self) -> bool {
        self.every.is_some_and(|every| {
            let count = self.count.fetch_add(1, Relaxed) + 1;
            count.is_multiple_of(every.get())
        })
    }
}

/// Flips one bit of a block, chosen by its number. An empty block stays as it is.
pub(crate) fn corrupt(block: &mut [u8], producer: u32, nth: u64) {
    let bits = block.len() as u64 * 8;
    let bit = of_block(u64::MAX, producer, nth).below(bits);
    if let Some(byte) = block.get_mut((bit / 8) as usize) {
        *byte ^= 1 << (bit % 8);
    }
}

/// A codec whose contexts panic every n-th time, after their work.
#[derive(Debug)]
pub(crate) struct Panicking {
    codec: Arc<dyn Codec>,
    every: Arc<Every>,
}

impl Panicking {
    pub(crate) fn new(codec: Arc<dyn Codec>, every: NonZeroU64) -> Self {
        Self {
            codec,
            every: Arc::new(Every::new(Some(every))),
        }
    }
}

impl Codec for Panicking {
    fn name(&self) -> &str {
        self.codec.name()
    }

    fn compressor(&self, content_bytes_max: usize) -> Result<Box<dyn Compress>, CodecError> {
        Ok(Box::new(PanickingContext {
            inner: self.codec.compressor(content_bytes_max)?,
            every: self.every.clone(),
        }))
    }

    fn decompressor(&self, content_bytes_max: usize) -> Result<Box<dyn Decompress>, CodecError> {
        Ok(Box::new(PanickingContext {
            inner: self.codec.decompressor(content_bytes_max)?,
            every: self.every.clone(),
        }))
    }
}

struct PanickingContext<C> {
    inner: C,
    every: Arc<Every>,
}

impl<C> PanickingContext<C> {
    fn perhaps(&self) {
        if self.every.now() {
            // Not `panic!`, which would fill standard error with messages.
            std::panic::resume_unwind(Box::new("an injected fault"));
        }
    }
}

impl Context for PanickingContext<Box<dyn Compress>> {
    fn memory_bytes(&self) -> usize {
        self.inner.memory_bytes()
    }
}

impl Context for PanickingContext<Box<dyn Decompress>> {
    fn memory_bytes(&self) -> usize {
        self.inner.memory_bytes()
    }
}

impl Compress for PanickingContext<Box<dyn Compress>> {
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
        self.inner.compress(content, block)?;
        self.perhaps();
        Ok(())
    }
}

impl Decompress for PanickingContext<Box<dyn Decompress>> {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        self.inner.decompress(block, content)?;
        self.perhaps();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_is_flipped_and_an_empty_block_has_none() {
        for nth in 0..200 {
            let mut block = vec![0; 37];
            corrupt(&mut block, 1, nth);
            assert_eq!(block.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
        }
        corrupt(&mut [], 0, 0);
    }

    #[test]
    fn every_third_is_the_one() {
        let every = Every::new(NonZeroU64::new(3));
        let said: Vec<bool> = (0..6).map(|_| every.now()).collect();
        assert_eq!(said, [false, false, true, false, false, true]);
        assert!(!Every::new(None).now());
    }
}
