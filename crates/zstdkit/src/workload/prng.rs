//! A small generator of numbers (SplitMix64) and skewed choices, in integer arithmetic only.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A deterministic stream of 64-bit numbers. Not for secrets.
pub(super) struct Prng(SplitMix64);

impl Prng {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, practically uniform.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` up to and excluding `high`.
    pub(super) fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).max(1))
    }

    /// True with a probability of `percent` %.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A number below 2^`bits` with about equally many of each bit length: small ones are common.
    pub(super) fn skewed(&mut self, bits: u32) -> u64 {
        let length = self.below(u64::from(bits) + 1) as u32;
        if length == 0 {
            0
        } else {
            self.next() >> (64 - length)
        }
    }

    pub(super) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// A choice among `n` things in which the k-th is chosen in proportion to 1/k.
pub(super) struct Zipf {
    cumulative: Vec<u32>,
}

impl Zipf {
    pub(super) fn new(n: usize) -> Self {
        let mut total = 0;
        let weight = |rank: usize| 1_000_000 / (rank as u32 + 1);
        let cumulative = (0..n.max(1))
            .map(|rank| {
                total += weight(rank);
                total
            })
            .collect();
        Self { cumulative }
    }

    pub(super) fn pick(&self, prng: &mut Prng) -> usize {
        let total = self.cumulative.last().copied().unwrap_or(1);
        let at = prng.below(total.into()) as u32;
        self.cumulative.partition_point(|&sum| sum <= at)
    }
}
