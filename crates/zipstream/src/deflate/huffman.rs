//! Codes of least cost under a limit of length, and their words in the order of the format.

/// The most symbols of any alphabet.
const SYMBOLS_MAX: usize = 288;
/// No code of the format is longer.
const LENGTH_MAX: usize = 15;

/// Gives each symbol that occurs a code length of at most `limit`, and 0 to the others. There are
/// always two codes at least, for some readers refuse less.
///
/// Frequencies have to be below 2^23, as those of any block here are.
pub(super) fn lengths(freqs: &[u32], limit: usize, lengths: &mut [u8]) {
    debug_assert!(freqs.len() <= SYMBOLS_MAX && freqs.len() == lengths.len());
    let mut used = [0_u32; SYMBOLS_MAX];
    let mut count = 0;
    for (symbol, &freq) in freqs.iter().enumerate().take(SYMBOLS_MAX) {
        used[count] = freq << 9 | symbol as u32;
        count += usize::from(freq > 0);
    }
    lengths.fill(0);
    if count < 2 {
        let other = (used[0] & 511) as usize;
        lengths[0] = 1;
        lengths[if count == 0 || other == 0 { 1 } else { other }] = 1;
        return;
    }
    let used = &mut used[..count];
    used.sort_unstable();
    let counts = counts(used, limit);
    // The rarest get the longest codes.
    let mut rest = used.iter();
    for length in (1..=limit).rev() {
        for symbol in rest.by_ref().take(usize::from(counts[length])) {
            lengths[(symbol & 511) as usize] = length as u8;
        }
    }
}

/// How many codes of each length there are, given the frequencies in order.
fn counts(used: &[u32], limit: usize) -> [u16; LENGTH_MAX + 1] {
    let leaves = used.len();
    // Inner nodes in the order they come up, which is that of their weights.
    let mut weight = [0_u32; SYMBOLS_MAX];
    let mut parent = [0_u16; SYMBOLS_MAX];
    let (mut leaf, mut inner) = (0, 0);
    for node in 0..leaves - 1 {
        let mut sum = 0;
        for _ in 0..2 {
            let of_leaf = used.get(leaf).map(|key| key >> 9);
            if inner >= node || of_leaf.is_some_and(|of_leaf| of_leaf <= weight[inner]) {
                sum += of_leaf.unwrap_or(0);
                leaf += 1;
            } else {
                sum += weight[inner];
                parent[inner] = node as u16;
                inner += 1;
            }
        }
        weight[node] = sum;
    }
    // From the root down each inner node makes of one code two that are longer by a bit. Where these
    // would be too long, the longest code that may still grow is taken in its place.
    let mut counts = [0_u16; LENGTH_MAX + 1];
    let mut depth = [0_u8; SYMBOLS_MAX];
    counts[0] = 1;
    for node in (0..leaves - 1).rev() {
        let own = if node + 2 == leaves {
            0
        } else {
            depth[usize::from(parent[node])] + 1
        };
        depth[node] = own;
        let mut at = usize::from(own).min(limit - 1);
        while counts[at] == 0 && at > 0 {
            at -= 1;
        }
        counts[at] -= 1;
        counts[at + 1] += 2;
    }
    counts
}

/// The words of a code, the first bit lowest, each with its length in the top byte.
pub(super) fn words(lengths: &[u8], words: &mut [u32]) {
    let mut counts = [0_u32; LENGTH_MAX + 1];
    for &length in lengths {
        counts[usize::from(length & 15)] += 1;
    }
    counts[0] = 0;
    let mut first = [0_u32; LENGTH_MAX + 1];
    for length in 1..=LENGTH_MAX {
        first[length] = (first[length - 1] + counts[length - 1]) << 1;
    }
    for (word, &length) in words.iter_mut().zip(lengths) {
        let length = u32::from(length & 15);
        let code = first[length as usize];
        first[length as usize] += 1;
        *word = if length == 0 {
            0
        } else {
            code.reverse_bits() >> (32 - length) | length << 24
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of all codes as shares of the whole, in units of the longest.
    fn filled(lengths: &[u8]) -> u32 {
        let used = lengths.iter().filter(|length| **length > 0);
        used.map(|length| 1 << (15 - length)).sum()
    }

    #[test]
    fn codes_are_complete_within_the_limit() {
        // Fibonacci's numbers make the deepest tree there is.
        let mut freqs = vec![1_u32, 1];
        while freqs.len() < 30 {
            freqs.push(freqs[freqs.len() - 1] + freqs[freqs.len() - 2]);
        }
        for limit in [5, 7, 14, 15] {
            let mut found = vec![0; freqs.len()];
            lengths(&freqs, limit, &mut found);
            assert_eq!(filled(&found), 1 << 15, "limit {limit}");
            assert_eq!(found.iter().max(), Some(&(limit as u8)));
            assert!(found.is_sorted_by(|rare, common| rare >= common));
        }
    }

    #[test]
    fn a_code_costs_what_the_tree_says() {
        let mut found = [0; 6];
        lengths(&[5, 9, 12, 13, 16, 45], 15, &mut found);
        assert_eq!(found, [4, 4, 3, 3, 3, 1]);
    }

    #[test]
    fn there_are_two_codes_at_least() {
        for freqs in [[0, 0, 0], [7, 0, 0], [0, 0, 7]] {
            let mut found = [0; 3];
            lengths(&freqs, 15, &mut found);
            assert_eq!(filled(&found), 1 << 15, "{freqs:?}");
            assert!(
                freqs
                    .iter()
                    .zip(found)
                    .all(|(freq, length)| *freq == 0 || length == 1)
            );
        }
    }

    #[test]
    fn words_are_in_the_order_of_the_format() {
        // The example of RFC 1951, 3.2.2.
        let mut found = [0; 8];
        words(&[3, 3, 3, 3, 3, 2, 4, 4], &mut found);
        let codes = found.map(|word| (word & 0xff_ffff).reverse_bits() >> (32 - (word >> 24)));
        assert_eq!(codes, [2, 3, 4, 5, 6, 0, 14, 15]);
    }
}
