//! Where a value is in a hash table.

/// A value and a salt with their bits mixed. With one seed and one salt, no two values become the same one.
#[inline]
pub(super) fn mixed(seed: u64, value: u64, salt: u32) -> u64 {
    let mut mixed = (value ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 32 ^ u64::from(salt)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ mixed >> 32
}
