//! Block boundaries: similar stretches of content share a block, others get their own.

use super::sequences::Freqs;

/// The approximate size of a block header.
const TABLE_BITS: u64 = 70 * 8;
/// Bits after the binary point.
pub(super) const FRACTION_BITS: u32 = 12;

/// Entropy of the symbols, in bits.
pub(super) fn bits(freqs: &Freqs) -> u64 {
    (entropy(&freqs.litlens) + entropy(&freqs.distances)) >> FRACTION_BITS
}

/// Entropy of literals alone, in bits.
pub(super) fn literal_bits(literals: &[u32]) -> u64 {
    entropy(literals) >> FRACTION_BITS
}

/// Whether a stretch is shorter in its own block than in the block before it, given the bits of
/// both and of their union.
pub(super) fn pays_off(before: u64, own: u64, together: u64) -> bool {
    before + own + TABLE_BITS < together
}

/// Bits of the header of a block with these symbols, about.
fn header_bits(freqs: &Freqs) -> u64 {
    let used = |freqs: &[u32]| freqs.iter().filter(|freq| **freq > 0).count() as u64;
    60 + 4 * (used(&freqs.litlens) + used(&freqs.distances))
}

/// Divides parts of content, by their frequencies, into the blocks that need the fewest bits; returns behind
/// which part each block ends.
pub(super) fn cheapest(parts: &[Freqs]) -> Vec<usize> {
    // For each number of parts: their bits, and where the last block begins.
    let mut ways = vec![(u64::MAX, 0); parts.len() + 1];
    ways[0] = (0, 0);
    for from in 0..parts.len() {
        let mut freqs = Freqs::default();
        for (nth, part) in parts[from..].iter().enumerate() {
            freqs.add(part);
            let bits = ways[from].0 + bits(&freqs) + header_bits(&freqs);
            let way = &mut ways[from + nth + 1];
            if bits < way.0 {
                *way = (bits, from);
            }
        }
    }
    let mut ends = Vec::new();
    let mut end = parts.len();
    while end > 0 {
        ends.push(end);
        end = ways[end].1;
    }
    ends.reverse();
    ends
}

fn entropy(freqs: &[u32]) -> u64 {
    let mut total = 0;
    let mut sum = 0;
    for &freq in freqs {
        total += u64::from(freq);
        sum += weighed(freq);
    }
    weighed(total as u32) - sum.min(weighed(total as u32))
}

/// `freq` times its binary logarithm.
fn weighed(freq: u32) -> u64 {
    if freq < 2 {
        return 0;
    }
    u64::from(freq) * u64::from(log2(freq))
}

/// The binary logarithm of a number that is not 0, with [`FRACTION_BITS`].
pub(super) fn log2(freq: u32) -> u32 {
    let whole = freq.ilog2();
    // The eight bits below the highest choose the fraction.
    let index = (u64::from(freq) << 8 >> whole) as usize & 255;
    whole << FRACTION_BITS | u32::from(FRACTION[index])
}

/// log2(1 + i / 256), by squaring: a bit comes out whenever the square reaches 2.
static FRACTION: [u16; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = (256 + index as u64) << 22;
        let mut bits = 0;
        let mut left = FRACTION_BITS;
        while left > 0 {
            value = (value * value) >> 30;
            bits <<= 1;
            if value >= 2 << 30 {
                value >>= 1;
                bits |= 1;
            }
            left -= 1;
        }
        table[index] = bits;
        index += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_close() {
        for freq in [2_u32, 3, 10, 255, 256, 257, 1000, 65_537, 1 << 22] {
            let exact = f64::from(freq) * f64::from(freq).log2();
            let found = weighed(freq) as f64 / f64::from(1 << FRACTION_BITS);
            assert!(
                (found - exact).abs() <= exact * 0.005 + 0.01,
                "{freq}: {found}"
            );
        }
    }

    #[test]
    fn what_is_alike_stays_together() {
        let mut text = Freqs::default();
        text.litlens[97..123].fill(100);
        let mut other = Freqs::default();
        other.litlens[128..160].fill(100);
        let together = |a: &Freqs, b: &Freqs| {
            let mut sum = a.clone();
            sum.add(b);
            bits(&sum)
        };
        let own = bits(&text);
        assert!(!pays_off(own, own, together(&text, &text)));
        assert!(pays_off(own, bits(&other), together(&text, &other)));
    }
}
