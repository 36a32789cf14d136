//! A small random number generator (SplitMix64) and skewed choices, in integer arithmetic only.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A deterministic stream of 64-bit numbers. Not for secrets.
#[derive(Debug, Clone)]
pub(super) struct Prng(SplitMix64);

impl Prng {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, all about equally likely.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// True with a probability of `percent` in a hundred.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A number below `bound`, small ones more often: the smaller of two.
    pub(super) fn skewed(&mut self, bound: u64) -> u64 {
        self.below(bound).min(self.below(bound))
    }
}
