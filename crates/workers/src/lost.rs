//! Blocks that a stream removed before a worker had them: what is said of them, and how they are noticed from the
//! numbers of deliveries. No I/O.

use std::fmt;

/// Blocks that are lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Their stream.
    pub stream: String,
    /// The number of the first that may be one of them.
    pub first: u64,
    /// The number of the last that may be one of them.
    pub last: u64,
    /// How many they are.
    pub count: u64,
}

impl fmt::Display for Lost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            stream,
            first,
            last,
            count,
        } = self;
        let all = (last + 1).saturating_sub(*first);
        match (count, all) {
            (1, 1) => write!(out, "block {first} of {stream}"),
            (count, all) if *count == all => write!(out, "blocks {first} to {last} of {stream}"),
            (1, _) => write!(out, "1 block of {stream} between {first} and {last}"),
            (count, _) => write!(out, "{count} blocks of {stream} between {first} and {last}"),
        }
    }
}

/// The deliveries of a consumer, each with its number among them and the number of its block.
///
/// As long as each block is given out once, and none is missing, both numbers grow alike. A delivery that is repeated makes
/// the first grow alone, a block that is missing the second. Workers share a consumer, and each sees a part of its
/// deliveries, but the numbers are of all.
#[cfg(any(feature = "nats", test))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deliveries {
    consumer: u64,
    block: u64,
    /// Deliveries since then that were repeated.
    repeated: u64,
}

#[cfg(any(feature = "nats", test))]
impl Deliveries {
    /// After this many deliveries, the last new one of this block.
    pub(crate) fn new(consumer: u64, block: u64) -> Self {
        Self {
            consumer,
            block,
            repeated: 0,
        }
    }

    /// The last block that was given out.
    pub(crate) fn block(&self) -> u64 {
        self.block
    }

    /// A block was given out again.
    pub(crate) fn repeated(&mut self, consumer: u64) {
        self.repeated += u64::from(consumer > self.consumer);
    }

    /// A block was given out for the first time: the blocks between it and the one before that no worker got, if there
    /// seem to be any.
    pub(crate) fn given(&mut self, consumer: u64, block: u64) -> Option<(u64, u64, u64)> {
        let before = std::mem::replace(self, Self::new(consumer, block));
        // A server that was killed may begin again a little before.
        if consumer < before.consumer || block <= before.block {
            return None;
        }
        let got = (consumer - before.consumer).saturating_sub(before.repeated);
        let missing = (block - before.block).saturating_sub(got);
        (missing > 0).then(|| (before.block + 1, block - 1, missing))
    }

    /// Blocks up to this one are gone.
    pub(crate) fn skip(&mut self, block: u64) {
        self.block = self.block.max(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_blocks_are_named() {
        for (first, last, count, said) in [
            (5, 5, 1, "block 5 of IN"),
            (1, 100, 100, "blocks 1 to 100 of IN"),
            (5, 20, 1, "1 block of IN between 5 and 20"),
            (5, 20, 3, "3 blocks of IN between 5 and 20"),
        ] {
            let stream = "IN".to_owned();
            let lost = Lost {
                stream,
                first,
                last,
                count,
            };
            assert_eq!(lost.to_string(), said);
        }
    }

    #[test]
    fn a_gap_between_deliveries_is_noticed() {
        let mut all = Deliveries::new(0, 0);
        assert_eq!(all.given(1, 1), None);
        assert_eq!(all.given(2, 5), Some((2, 4, 3)));
        // Another worker had some of them.
        assert_eq!(all.given(5, 8), None);
        assert_eq!(all.given(8, 13), Some((9, 12, 2)));
        // What was given out again is no block more.
        all.repeated(9);
        assert_eq!(all.given(10, 14), None);
        all.repeated(11);
        assert_eq!(all.given(12, 16), Some((15, 15, 1)));
        // A server that was killed forgets its last deliveries.
        assert_eq!(all.given(9, 14), None);
        assert_eq!(all.given(10, 15), None);
        all.skip(20);
        assert_eq!(all.given(11, 21), None);
        assert_eq!(all.block(), 21);
    }
}
