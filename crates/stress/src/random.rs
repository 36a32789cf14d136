//! The random numbers of a run: small, seeded, the same on every platform.
//!
//! A block depends on the seed, its producer and its number alone, so that the bytes of a run do not
//! depend on which thread came first. Not for secrets.

use latency::SplitMix64;

/// A stream of them.
#[derive(Debug, Clone)]
pub(crate) struct Random(SplitMix64);

impl Random {
    /// The stream of one block.
    pub(crate) fn of_block(seed: u64, producer: u32, nth: u64) -> Self {
        let own = seed ^ u64::from(producer).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let mixed = SplitMix64::new(own).next();
        Self(SplitMix64::new(
            mixed ^ nth.wrapping_mul(0xa076_1d64_78bd_642f),
        ))
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A number below `bound`, 0 when that is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_streams_of_their_own() {
        let first = |seed, producer, nth| Random::of_block(seed, producer, nth).next();
        let mut seen: Vec<u64> = (0..4)
            .flat_map(|seed| (0..4).map(move |producer| (seed, producer)))
            .flat_map(|(seed, producer)| (0..4).map(move |nth| first(seed, producer, nth)))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 64);
        assert_eq!(first(1, 2, 3), first(1, 2, 3));
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut random = Random::of_block(1, 0, 0);
        assert!((0..10_000).all(|_| random.below(7) < 7));
        assert_eq!(random.below(0), 0);
    }
}
