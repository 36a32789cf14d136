//! A byte at a time: the reference for all other instruction sets.

use super::block::Found;
#[cfg(test)]
use super::block::Masks;
use crate::frame::SOH;

pub(super) fn positions(bytes: &[u8], soh: &mut [u32]) -> Option<usize> {
    let mut count = 0;
    for (at, byte) in (0..).zip(bytes) {
        if *byte == SOH {
            *soh.get_mut(count)? = at;
            count += 1;
        }
    }
    Some(count)
}

pub(super) fn separators(bytes: &[u8], soh: &mut [u32], equals: &mut [u32]) -> Option<Found> {
    let mut found = Found::default();
    let mut in_tag = true;
    for (at, byte) in (0..).zip(bytes) {
        found.sum = found.sum.wrapping_add(u32::from(*byte));
        if *byte == SOH {
            *soh.get_mut(found.soh)? = at;
            found.soh += 1;
            in_tag = true;
        } else if *byte == b'=' && in_tag {
            *equals.get_mut(found.equals)? = at;
            found.equals += 1;
            in_tag = false;
        }
    }
    Some(found)
}

pub(super) fn sum(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |sum, byte| sum.wrapping_add(u32::from(*byte)))
}

/// The bit masks of 64 bytes, for tests of the other instruction sets.
#[cfg(test)]
pub(super) fn masks(block: &[u8; 64]) -> Masks {
    let bits = |is: u8| {
        let bit = |(at, byte): (u32, &u8)| u64::from(*byte == is) << at;
        (0..).zip(block).map(bit).sum()
    };
    Masks {
        soh: bits(SOH),
        equals: bits(b'='),
    }
}
