//! Letters and digits as numbers in the alphabet of their kind, several in one step.

/// Values in one step of [`shift`].
pub(super) const LANES: usize = 8;

/// How many letters or digits a kind has, and the first of them.
#[inline]
pub(super) fn kind(byte: u8) -> Option<(u16, u8)> {
    match byte {
        b'0'..=b'9' => Some((10, b'0')),
        b'a'..=b'z' => Some((26, b'a')),
        b'A'..=b'Z' => Some((26, b'A')),
        _ => None,
    }
}

/// How many letters and digits there are.
pub(super) fn count(bytes: &[u8]) -> usize {
    // A sum of bytes is made of many at a time.
    let counts = bytes.chunks(255).map(|some| {
        let count = some
            .iter()
            .map(|byte| u8::from(byte.is_ascii_alphanumeric()));
        usize::from(count.fold(0_u8, u8::wrapping_add))
    });
    counts.sum()
}

/// Adds to each number what a random word says, modulo the count of its kind.
///
/// A word of 16 bits makes one shift more probable than another by at most 26 in 65,536.
#[inline]
pub(super) fn shift(numbers: &mut [u16; LANES], counts: &[u16; LANES], words: [u16; LANES]) {
    for lane in 0..LANES {
        let count = counts[lane];
        let sum = numbers[lane] + ((u32::from(words[lane]) * u32::from(count)) >> 16) as u16;
        numbers[lane] = if sum >= count { sum - count } else { sum };
    }
}

/// The words of a block of 16 random bytes.
#[inline]
pub(super) fn words(block: [u8; 16]) -> [u16; LANES] {
    let (pairs, _) = block.as_chunks::<2>();
    let mut words = [0; LANES];
    for (word, pair) in words.iter_mut().zip(pairs) {
        *word = u16::from_le_bytes(*pair);
    }
    words
}

/// Shifts the letters and digits among these bytes in place; a word is used up by each byte, whatever
/// it is.
#[inline]
pub(super) fn shift_bytes<const N: usize>(bytes: &mut [u8; N], words: &[u16; N]) {
    for lane in 0..N {
        let byte = bytes[lane];
        let digit = byte.wrapping_sub(b'0') < 10;
        let lower = byte.wrapping_sub(b'a') < 26;
        let upper = byte.wrapping_sub(b'A') < 26;
        let count = if digit { 10 } else { 26 };
        let lower_or_digit = if lower { b'a' } else { b'0' };
        let first = if upper { b'A' } else { lower_or_digit };
        let number = u16::from(byte.wrapping_sub(first));
        let sum = number + ((u32::from(words[lane]) * u32::from(count)) >> 16) as u16;
        let sum = if sum >= count { sum - count } else { sum };
        bytes[lane] = if digit | lower | upper {
            first.wrapping_add(sum as u8)
        } else {
            byte
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_stays_of_its_kind_and_every_shift_is_a_permutation() {
        for word in [0, 1, 700, 2520, 2521, 30_000, u16::MAX] {
            let mut seen = [0; 256];
            for byte in 0..=255_u8 {
                let mut bytes = [byte; LANES];
                shift_bytes(&mut bytes, &[word; LANES]);
                assert_eq!(kind(bytes[0]), kind(byte));
                seen[usize::from(bytes[0])] += 1;
                if let Some((count, first)) = kind(byte) {
                    let mut numbers = [u16::from(byte - first); LANES];
                    shift(&mut numbers, &[count; LANES], [word; LANES]);
                    assert_eq!(numbers.map(|number| first + number as u8), bytes);
                } else {
                    assert_eq!(bytes[0], byte);
                }
            }
            assert_eq!(seen, [1; 256]);
        }
    }
}
