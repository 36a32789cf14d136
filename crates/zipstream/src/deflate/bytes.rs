//! Words of a content, and the length of a match between two places.

use wide::{CmpEq as _, i8x16};

/// The eight bytes at `at`.
#[inline(always)]
pub(super) fn load64(data: &[u8], at: usize) -> u64 {
    // A 32-bit index needs only one comparison.
    let at = at as u32 as usize;
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&data[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// The four bytes at `at`.
#[inline(always)]
pub(super) fn load32(data: &[u8], at: usize) -> u32 {
    // A 32-bit index needs only one comparison.
    let at = at as u32 as usize;
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&data[at..at + 4]);
    u32::from_le_bytes(bytes)
}

/// How many of the `most` bytes at `at` equal those at `earlier`. Both ranges must be within
/// `data`.
#[inline(always)]
pub(super) fn alike(data: &[u8], earlier: usize, at: usize, most: usize) -> usize {
    let (earlier, at) = (earlier as u32 as usize, at as u32 as usize);
    let (behind, ahead) = (&data[earlier..earlier + most], &data[at..at + most]);
    let mut length = 0;
    let mut rest = behind.chunks_exact(8).zip(ahead.chunks_exact(8));
    for (a, b) in &mut rest {
        let differing = load64(a, 0) ^ load64(b, 0);
        if differing != 0 {
            return length + (differing.trailing_zeros() >> 3) as usize;
        }
        length += 8;
    }
    while length < most && behind[length] == ahead[length] {
        length += 1;
    }
    length
}

/// Bytes that [`alike_at_once`] compares.
pub(super) const AT_ONCE: usize = 32;

/// How many of the 32 bytes at `at` equal those at `earlier`, without a branch per length. Both
/// ranges must be within `data`.
#[inline(always)]
pub(super) fn alike_at_once(data: &[u8], earlier: usize, at: usize) -> usize {
    let (earlier, at) = (earlier as u32 as usize, at as u32 as usize);
    let (behind, ahead) = (&data[earlier..earlier + AT_ONCE], &data[at..at + AT_ONCE]);
    let half = |from: usize| {
        let load = |bytes: &[u8]| {
            let mut half = [0; 16];
            half.copy_from_slice(&bytes[from..from + 16]);
            i8x16::new(half.map(|byte: u8| byte as i8))
        };
        load(behind).cmp_eq(load(ahead)).move_mask() as u32 & 0xffff
    };
    (!(half(0) | half(16) << 16)).trailing_zeros() as usize
}

/// The same for matches that are expected to be long.
#[inline(never)]
pub(super) fn alike_long(data: &[u8], earlier: usize, at: usize, most: usize) -> usize {
    const STRIDE: usize = 1024;
    const STEP: usize = 64;
    let end = (at + most).min(data.len());
    let (Some(ahead), Some(behind)) = (data.get(at..end), data.get(earlier..)) else {
        return 0;
    };
    let mut same = 0;
    for step in [STRIDE, STEP] {
        let (ahead, behind) = (&ahead[same..], &behind[same..]);
        let steps = ahead.chunks_exact(step).zip(behind.chunks_exact(step));
        same += steps.take_while(|(a, b)| a == b).count() * step;
    }
    same + alike(data, earlier + same, at + same, ahead.len() - same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_ends_at_the_first_other_byte() {
        for at in 0..200 {
            let mut data = [7_u8; 520];
            data[260 + at] = 8;
            for most in [at, at + 1, 250] {
                let expected = at.min(most);
                assert_eq!(alike(&data, 0, 260, most), expected);
                assert_eq!(alike_long(&data, 0, 260, most), expected);
            }
            let mut data = [7_u8; 9000];
            data[5000 + 20 * at] = 8;
            assert_eq!(alike_long(&data, 0, 5000, 4000), 20 * at);
            let mut data = [7_u8; 520];
            data[260 + at] = 8;
            assert_eq!(alike_at_once(&data, 0, 260), at.min(AT_ONCE));
        }
        assert_eq!(alike_long(&[7; 520], 1, 2, 518), 518);
    }
}
