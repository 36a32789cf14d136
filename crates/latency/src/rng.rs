//! A small seeded generator (SplitMix64), for arrival times, orders and simulations. Not for secrets.

use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// SplitMix64: 64 bits of state, the same numbers on every platform and in every version.
///
/// ```
/// let mut rng = perfkit_latency::SplitMix64::new(1_234_567);
/// assert_eq!(rng.next(), 6_457_827_717_110_365_317);
/// ```
#[derive(Debug, Clone)]
pub struct SplitMix64(rand_xoshiro::SplitMix64);

impl SplitMix64 {
    /// The sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(rand_xoshiro::SplitMix64::seed_from_u64(seed))
    }

    /// The next number, any of 64 bits.
    #[allow(
        clippy::should_implement_trait,
        reason = "a sequence without end is no use as an iterator"
    )]
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, all about equally likely; 0 when `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in (0, 1]: its logarithm is finite.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    #[cfg(test)]
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_sequence() {
        let mut rng = SplitMix64::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([rng.next(), rng.next()], expected);
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut rng = SplitMix64::new(1);
        assert!((0..10_000).all(|_| rng.below(7) < 7));
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn units_are_in_range() {
        let mut rng = SplitMix64::new(0);
        assert!(
            (0..10_000)
                .map(|_| rng.unit())
                .all(|unit| unit > 0.0 && unit <= 1.0)
        );
    }
}
