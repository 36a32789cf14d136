//! The random numbers of a run, the same on every platform.
//!
//! A block depends only on the seed, its producer and its number, so the bytes of a run do not depend on the
//! order of threads. Not for secrets.

use latency::SplitMix64;

/// The numbers of one block.
pub(crate) fn of_block(seed: u64, producer: u32, nth: u64) -> SplitMix64 {
    let own = seed ^ u64::from(producer).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let mixed = SplitMix64::new(own).next();
    SplitMix64::new(mixed ^ nth.wrapping_mul(0xa076_1d64_78bd_642f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_streams_of_their_own() {
        let first = |seed, producer, nth| of_block(seed, producer, nth).next();
        let mut seen: Vec<u64> = (0..4)
            .flat_map(|seed| (0..4).map(move |producer| (seed, producer)))
            .flat_map(|(seed, producer)| (0..4).map(move |nth| first(seed, producer, nth)))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 64);
        assert_eq!(first(1, 2, 3), first(1, 2, 3));
    }
}
