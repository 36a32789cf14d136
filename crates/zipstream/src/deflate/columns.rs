//! Whether a content is columns of numbers: of records of four or eight bytes, whose higher bytes seldom change.
//!
//! Their matches are short and near. In text, more of those that a hash of few bytes finds are not the best ones.

/// Parts that are looked at, and the bytes of each.
const PARTS: usize = 32;
const PART_BYTES: usize = 48;
/// The sizes of numbers.
const WIDTHS: [usize; 2] = [4, 8];
/// Bytes that repeat those of the number before, of a hundred.
const REPEATED: usize = 40;
/// Bytes that repeat the one before them, of a hundred: with as many there are runs.
const RUNS: usize = 25;

/// Whether a sample of the content is columns.
pub(super) fn are_in(content: &[u8]) -> bool {
    let step = (content.len() / PARTS).max(PART_BYTES);
    let (mut bytes, mut runs, mut repeated) = (0, 0, [0; WIDTHS.len()]);
    for part in content.chunks(step) {
        let part = &part[..part.len().min(PART_BYTES)];
        let alike = |by: usize| {
            let pairs = part.iter().skip(WIDTHS[1]).zip(&part[WIDTHS[1] - by..]);
            pairs.filter(|(one, other)| one == other).count()
        };
        if part.len() <= WIDTHS[1] {
            continue;
        }
        bytes += part.len() - WIDTHS[1];
        runs += alike(1);
        for (sum, width) in repeated.iter_mut().zip(WIDTHS) {
            *sum += alike(width);
        }
    }
    let is_repeated = |count: &usize| count * 100 > REPEATED * bytes;
    repeated.iter().any(is_repeated) && runs * 100 < RUNS * bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_columns_and_text_is_none() {
        let mixed = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
        let times: Vec<u8> = (0..4096)
            .flat_map(|nth| (1_790_000_000_000_000 + 1000 * nth + mixed(nth)).to_le_bytes())
            .collect();
        let prices: Vec<u8> = (0..4096)
            .flat_map(|nth| (100.0 + (mixed(nth) % 64) as f32 / 100.0).to_le_bytes())
            .collect();
        for content in [&times[..], &prices, &times[3..], &times[..99]] {
            assert!(are_in(content), "{}", content.len());
        }
        let text = b"It was the best of times, it was the worst of times. ".repeat(99);
        let random: Vec<u8> = (0..9999).map(|nth| mixed(nth) as u8).collect();
        let zeros = [0; 9999];
        for content in [&text[..], &random, &zeros, b"", b"12345678"] {
            assert!(!are_in(content), "{}", content.len());
        }
    }
}
