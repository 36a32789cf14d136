//! Content that is one short repetition from end to end needs no search.

use super::bytes::{alike_long, load64};
use super::lazy::Span;
use super::sequences::{Sequences, whole};
#[cfg(feature = "tokio")]
use super::symbols::WINDOW;

/// The longest period that is detected.
const PERIOD_MAX: usize = 1 << 10;
/// Shorter content is not checked.
const CONTENT_LEAST: usize = 4 * PERIOD_MAX;
const WORD: usize = 8;

/// The period of `data[start..]`, if all of it repeats itself at that distance.
pub(super) fn period(data: &[u8], start: usize) -> Option<usize> {
    if data.len() - start < CONTENT_LEAST {
        return None;
    }
    let at = start + PERIOD_MAX;
    let word = load64(data, at);
    let before = data[start..at + WORD - 1].windows(WORD);
    let same = before.map(|other| load64(other, 0) == word);
    let period = same.rev().position(|same| same)? + 1;
    let from = start.max(period);
    let repeated = alike_long(data, from - period, from, data.len() - from);
    (repeated == data.len() - from).then_some(period)
}

/// Whether all of `data[start..]` repeats itself, so that it is compressed in almost no time at every level.
#[cfg(feature = "tokio")]
pub(crate) fn repeats(data: &[u8], start: usize) -> bool {
    let from = start.saturating_sub(WINDOW);
    period(&data[from..], start - from).is_some()
}

/// Makes sequences of a span of such content; returns its end.
pub(super) fn sequence(data: &[u8], period: usize, span: Span, out: &mut Sequences) -> usize {
    let literals = period.saturating_sub(span.at).min(span.end - span.at);
    let length = whole(span.end - span.at - literals);
    let (before, matched) = (span.at + literals, span.at + literals + length);
    for &byte in data[span.at..before].iter().chain(&data[matched..span.end]) {
        out.literal(byte);
    }
    if length >= super::symbols::MATCH_MIN {
        out.push(literals, length, period);
        out.close(span.end - matched);
    } else {
        for &byte in &data[before..matched] {
            out.literal(byte);
        }
        out.close(span.end - span.at);
    }
    span.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_repetitions_have_a_period() {
        let noise: Vec<u8> = (0..PERIOD_MAX as u32 + 1)
            .map(|index| (index.wrapping_mul(0x9e37_79b1) >> 24) as u8)
            .collect();
        for length in [1, 2, 9, 500, PERIOD_MAX] {
            let line = noise[..length].iter().copied().cycle();
            let mut content: Vec<u8> = line.take(10_000).collect();
            for start in [0, 1, 3000] {
                assert_eq!(period(&content, start), Some(length), "from {start}");
            }
            assert_eq!(period(&content, 10_000 - CONTENT_LEAST + 1), None);
            content[9_999] ^= 1;
            assert_eq!(period(&content, 0), None);
        }
        let long: Vec<u8> = noise.iter().copied().cycle().take(10_000).collect();
        assert_eq!(period(&long, 0), None);
    }
}
