//! Length-limited Huffman codes, and their words in the order of the format.

/// The most symbols of an alphabet.
const SYMBOLS_MAX: usize = 288;
/// Frequencies below this less one are sorted by counting.
const LOW_FREQS: usize = 64;
/// The longest code of the format.
const LENGTH_MAX: usize = 15;

/// Assigns code lengths of at most `limit` to the symbols that occur, and 0 to the others. There
/// are always at least two codes: some decoders refuse fewer.
///
/// Frequencies must be below 2^23, as in every block here.
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
    let mut sorted = [0_u32; SYMBOLS_MAX];
    let sorted = &mut sorted[..count];
    sort(&used[..count], sorted);
    let counts = counts(sorted, limit);
    // The rarest get the longest codes.
    let mut rest = sorted.iter();
    for length in (1..=limit).rev() {
        for symbol in rest.by_ref().take(usize::from(counts[length])) {
            lengths[(symbol & 511) as usize] = length as u8;
        }
    }
}

/// Sorts symbols, which are in order, by their frequencies: the low ones, as most of them are in a small block, by
/// counting.
fn sort(used: &[u32], sorted: &mut [u32]) {
    let low = |key: u32| (key >> 9).min(LOW_FREQS as u32 - 1) as usize;
    let mut places = [0_u16; LOW_FREQS];
    for &key in used {
        places[low(key)] += 1;
    }
    let mut next = 0;
    for place in &mut places {
        let count = *place;
        *place = next;
        next += count;
    }
    let high = usize::from(places[LOW_FREQS - 1]);
    for &key in used {
        let place = &mut places[low(key)];
        sorted[usize::from(*place)] = key;
        *place += 1;
    }
    sorted[high..].sort_unstable();
}

/// The number of codes of each length, given the sorted frequencies.
fn counts(used: &[u32], limit: usize) -> [u16; LENGTH_MAX + 1] {
    let leaves = used.len();
    // A missing node is heavier than any other.
    let mut leaf_weight = [u32::MAX; SYMBOLS_MAX + 2];
    for (weight, key) in leaf_weight.iter_mut().zip(used) {
        *weight = key >> 9;
    }
    // Inner nodes are created in the order of their weights.
    let mut weight = [u32::MAX; SYMBOLS_MAX + 2];
    let mut parent = [0_u16; SYMBOLS_MAX + 2];
    let (mut leaf, mut inner) = (0, 0);
    for node in 0..leaves - 1 {
        let (leaf0, leaf1) = (leaf_weight[leaf], leaf_weight[leaf + 1]);
        let (inner0, inner1) = (weight[inner], weight[inner + 1]);
        // A value that is not taken is written again when it is.
        (parent[inner], parent[inner + 1]) = (node as u16, node as u16);
        let (of_leaves, of_inner) = (leaf1 <= inner0, inner1 < leaf0);
        let first = if of_inner { inner1 } else { leaf0 };
        let second = if of_leaves { leaf1 } else { inner0 };
        weight[node] = first + second;
        let taken = 1 + usize::from(of_leaves) - usize::from(of_inner);
        leaf += taken;
        inner += 2 - taken;
    }
    depths(&parent[..leaves - 2], limit)
}

/// The same, given the parent of each inner node but the last.
fn depths(parent: &[u16], limit: usize) -> [u16; LENGTH_MAX + 1] {
    let mut counts = [0_u16; LENGTH_MAX + 1];
    // Nodes of one depth are adjacent, before those of the depth above. The last is the root. Each
    // turns one code into two that are one bit longer.
    let (mut start, mut end) = (parent.len(), parent.len() + 1);
    let mut codes = 1;
    for depth in 0..limit {
        let nodes = (end - start) as u16;
        counts[depth] = codes - nodes;
        codes = 2 * nodes;
        end = start;
        while start > 0 && usize::from(parent[start - 1]) >= end {
            start -= 1;
        }
        if nodes == 0 {
            return counts;
        }
    }
    counts[limit] = codes;
    // The rest is too deep: the longest code that may still grow is split instead.
    for _ in 0..end {
        let mut at = limit - 1;
        while counts[at] == 0 && at > 0 {
            at -= 1;
        }
        counts[at] -= 1;
        counts[at + 1] += 2;
    }
    counts
}

/// The code words, first bit lowest, each with its length in the top byte.
pub(super) fn words(lengths: &[u8], words: &mut [u32]) {
    let mut used = [0_u16; SYMBOLS_MAX];
    let mut count = 0;
    // Separate counters avoid waiting for the previous store.
    let mut counts = [[0_u16; LENGTH_MAX + 1]; 4];
    for (symbol, &length) in lengths.iter().enumerate().take(SYMBOLS_MAX) {
        used[count] = symbol as u16;
        count += usize::from(length > 0);
    }
    for (index, &symbol) in used[..count].iter().enumerate() {
        counts[index & 3][usize::from(lengths[usize::from(symbol)] & 15)] += 1;
    }
    let mut first = [0_u32; LENGTH_MAX + 1];
    let mut code = 0;
    for length in 1..=LENGTH_MAX {
        first[length] = code << (16 - length);
        code = (code
            + counts
                .iter()
                .map(|counts| u32::from(counts[length]))
                .sum::<u32>())
            << 1;
    }
    words.fill(0);
    for &symbol in &used[..count] {
        let length = usize::from(lengths[usize::from(symbol)] & 15);
        words[usize::from(symbol)] = first[length] | (length as u32) << 24;
        first[length] += 1 << (16 - length);
    }
    for word in words {
        *word = reversed(*word & 0xffff) | *word & 0xff00_0000;
    }
}

/// Reverses 16 bits.
#[inline(always)]
fn reversed(mut bits: u32) -> u32 {
    for (by, mask) in [(1, 0x5555), (2, 0x3333), (4, 0x0f0f), (8, 0x00ff)] {
        bits = (bits >> by & mask) | (bits & mask) << by;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of all codes as fractions of the code space, in units of the longest.
    fn filled(lengths: &[u8]) -> u32 {
        let used = lengths.iter().filter(|length| **length > 0);
        used.map(|length| 1 << (15 - length)).sum()
    }

    #[test]
    fn codes_are_complete_within_the_limit() {
        // Fibonacci numbers make the deepest tree.
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
