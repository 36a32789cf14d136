//! Tables whose keys are hashes, and the hashes.

use std::hash::{BuildHasherDefault, Hasher};

use twox_hash::XxHash3_128;

/// Odd, and without a pattern: the golden ratio.
const SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// The hash of an id among those of its domain; those of other domains have other ones.
///
/// A seed of XXH3 does not do that: it is added to what a short id is combined with, so that two ids of two domains have
/// one hash wherever they differ by as much as the seeds.
#[inline]
pub(crate) fn of_id(domain: u128, id: &[u8]) -> u128 {
    XxHash3_128::oneshot(id) ^ domain.wrapping_mul(SPREAD)
}

/// The hash of two numbers, which no other two have.
#[inline]
pub(crate) fn of_pair([one, other]: [u32; 2]) -> u128 {
    (u128::from(one) << 32 | u128::from(other)).wrapping_mul(SPREAD)
}

/// For keys that are hashes of 128 bits.
pub(crate) type OwnHash = BuildHasherDefault<Own>;

/// A hash is its own hash.
#[derive(Debug, Default)]
pub(crate) struct Own(u64);

impl Hasher for Own {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, number: u128) {
        self.0 = number as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn ids_in_a_row_have_hashes_of_their_own_in_every_domain() {
        let parties = [
            [0_u128, 1],
            [0, 2],
            [1, 2],
            [2, 2],
            [0, 0],
            [65_535, 65_536],
        ];
        let mut ids: Vec<String> = Vec::new();
        for width in 1..=18 {
            let rows = 10_u64.pow(width.min(3));
            let rows = (0..rows).step_by(if rows > 100 { 7 } else { 1 });
            ids.extend(rows.map(|row| format!("{row:0width$}", width = width as usize)));
        }
        let mut seen = HashMap::new();
        for kind in 1..=5 {
            for [one, other] in parties {
                let domain = kind << 64 | one << 32 | other;
                for id in &ids {
                    let before = seen.insert(of_id(domain, id.as_bytes()), (domain, id));
                    assert_eq!(before, None, "{id} of {domain:x}");
                }
            }
        }
    }
}
