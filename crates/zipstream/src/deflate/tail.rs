//! The last bytes of a span, which are too few for a search: each place looks where the tables say that its bytes
//! were last, and at the distance of the match before.
//!
//! In a content of a kilobyte they are one part in a hundred.

use std::ops::Range;

use super::bytes::alike;
use super::prices::Prices;
use super::sequences::{Match, Sequences};
use super::symbols::{MATCH_MIN, WINDOW};

/// Ends a span: makes sequences of these bytes, after literals from `from` on, which are counted already.
/// `distance` is that of the match before, and `near` gives distances for a word and its place. Returns the end.
#[cold]
#[inline(never)]
pub(super) fn end(
    data: &[u8],
    bytes: Range<usize>,
    from: usize,
    distance: usize,
    prices: &Prices,
    near: impl Fn(u64, usize) -> [usize; 2],
    out: &mut Sequences,
) -> usize {
    let Range { start: mut at, end } = bytes;
    let (mut from, mut distance) = (from, distance);
    while end - at >= MATCH_MIN {
        let mut word = [0; 8];
        let ahead = &data[at..end.min(at + 8)];
        word[..ahead.len()].copy_from_slice(ahead);
        let [one, other] = near(u64::from_le_bytes(word), at);
        let mut best = Match {
            length: MATCH_MIN - 1,
            distance: 0,
        };
        for by in [distance, one, other] {
            if by.wrapping_sub(1) >= WINDOW.min(at) {
                continue;
            }
            let length = alike(data, at - by, at, (end - at).min(8));
            let found = Match {
                length,
                distance: by,
            };
            let pays = match length {
                ..MATCH_MIN => false,
                MATCH_MIN => prices.pays_on_average(found),
                _ => prices.pays(data, at, found),
            };
            if pays && length > best.length {
                best = found;
            }
        }
        if best.distance == 0 {
            out.literal(data[at]);
            at += 1;
            continue;
        }
        out.push(at - from, best.length, best.distance);
        at += best.length;
        (from, distance) = (at, best.distance);
    }
    out.end_span(data, at, from, end)
}

#[cfg(test)]
mod tests {
    use super::super::sequences::Sequence;
    use super::*;

    #[test]
    fn the_last_bytes_are_matches_too() {
        let data = b" one two three four, 12345678; one two";
        let mut prices = Prices::default();
        prices.start(data);
        for (left, by, lengths) in [
            // All of what is left, from where the tables point to, or from the distance of the match before.
            (7, [30, 0], vec![7]),
            (8, [30, 30], vec![8]),
            (3, [30, 0], vec![3]),
            // Nothing is there, or not far enough ahead.
            (7, [5, 0], vec![0]),
            (2, [30, 0], vec![0]),
            (7, [0, 40_000], vec![0]),
        ] {
            let mut out = Sequences::default();
            let at = data.len() - left;
            let bytes = || at..data.len();
            let stop = end(data, bytes(), at, 0, &prices, |_, _| by, &mut out);
            assert_eq!(stop, data.len());
            let found: Vec<usize> = out
                .list
                .iter()
                .map(|one| Sequence::of(*one).length)
                .collect();
            assert_eq!(found, lengths, "{left} {by:?}");
            let mut again = Sequences::default();
            end(data, bytes(), at, by[0], &prices, |_, _| [0, 0], &mut again);
            assert_eq!(again.list, out.list, "{left} {by:?}");
        }
    }
}
