//! The fate of every block, counted per thread.

use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! counts {
    ($($(#[$doc:meta])+ $field:ident,)+) => {
        /// The fate of the blocks of a run. Each block that was begun is in exactly one of `failed`,
        /// `panicked_compress`, `verified`, `mismatched`, `refused`, `panicked_decompress`.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counts {
            $($(#[$doc])+ pub $field: u64,)+
        }

        impl AddAssign for Counts {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)+
            }
        }

        /// The counts of one thread, on separate cache lines; another thread can read them during the run.
        #[derive(Debug, Default)]
        #[repr(align(128))]
        pub(crate) struct Tally {
            $(pub(crate) $field: AtomicU64,)+
        }

        impl Tally {
            pub(crate) fn read(&self) -> Counts {
                Counts { $($field: self.$field.load(Relaxed),)+ }
            }
        }
    };
}

counts! {
    /// Blocks that a producer began.
    begun,
    /// Blocks that the codec refused to compress.
    failed,
    /// Blocks lost to a panic of a producer.
    panicked_compress,
    /// Blocks sent.
    sent,
    /// Blocks that reached a consumer.
    received,
    /// Blocks whose content came back unchanged.
    verified,
    /// Blocks whose content came back changed.
    mismatched,
    /// Blocks that the codec refused to decompress.
    refused,
    /// Blocks lost to a panic of a consumer.
    panicked_decompress,
    /// Blocks with a bit flipped on purpose.
    corrupted,
    /// Of those, blocks whose content came back unchanged all the same.
    corrupted_harmless,
    /// Blocks that went wrong without an injected fault.
    wrong,
    /// Batches that a producer could not send because the queue was full.
    queue_full,
    /// Times that a thread slept because there was nothing to do.
    slept,
    /// Times that a thread spun because a block was due too soon for a sleep.
    spun,
    /// Bytes of content that were compressed.
    content_bytes,
    /// Bytes of their compressed blocks.
    block_bytes,
    /// Compressions; fewer than blocks in the seed loop.
    compressions,
    /// Bytes of blocks that were sent.
    sent_bytes,
    /// Bytes of content that were decompressed.
    decompressed_bytes,
}

impl Counts {
    /// Whether every block that was begun is accounted for.
    #[must_use]
    pub fn balanced(&self) -> bool {
        let came = self.verified + self.mismatched + self.refused + self.panicked_decompress;
        self.begun == self.failed + self.panicked_compress + self.sent
            && self.sent == self.received
            && self.received == came
    }

    /// Compression ratio: content bytes by compressed bytes.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.block_bytes > 0).then(|| self.content_bytes as f64 / self.block_bytes as f64)
    }
}

/// Adds to a counter of the calling thread.
pub(crate) fn add(counter: &AtomicU64, more: u64) {
    // Only its own thread writes it, so no locked instruction is needed.
    counter.store(counter.load(Relaxed) + more, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_nowhere_is_missed() {
        let mut counts = Counts {
            begun: 10,
            panicked_compress: 1,
            sent: 9,
            received: 9,
            verified: 7,
            refused: 1,
            panicked_decompress: 1,
            ..Counts::default()
        };
        assert!(counts.balanced());
        counts.verified -= 1;
        assert!(!counts.balanced());
    }
}
