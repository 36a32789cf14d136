//! Numbers from a seed.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::Rng as _;

/// A number below `end`; 0 if that is 0.
pub(super) fn below(random: &mut SplitMix64, end: u64) -> u64 {
    random.next_u64() % end.max(1)
}

/// A number of this range.
pub(super) fn between(random: &mut SplitMix64, (least, most): (u32, u32)) -> u32 {
    least + below(random, u64::from(most.saturating_sub(least)) + 1) as u32
}
