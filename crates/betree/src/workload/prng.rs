//! A small random number generator (SplitMix64) and skewed choices, in integer arithmetic only.
//!
//! A leaf crate keeps these few lines of its own rather than depend on another crate for them.

/// A deterministic stream of 64-bit numbers. Not for secrets.
#[derive(Debug, Clone)]
pub(super) struct Prng(u64);

impl Prng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
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
