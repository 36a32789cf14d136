//! Windows of patterns: a few bytes at a distance, by which a pattern is found.

use super::mix::mixed;
use crate::dictionary::Dictionary;
use crate::expr::Position;

/// The most bytes of a window.
pub(super) const WIDTH_MAX: usize = 8;
/// The most windows of a pattern to choose from.
const OFFSETS_MAX: usize = 256;
/// Counters by which windows are chosen, at most.
const COUNTERS_MAX: usize = 1 << 22;

/// A pattern as a key: attribute, position and the number of its string.
pub(crate) type PatternKey = (u16, Position, u32);

/// A pattern in a lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern {
    /// The number of its string.
    pub(crate) string: u32,
    /// Bytes before its window, and all.
    pub(super) before: u32,
    pub(super) length: u32,
}

/// The window of each pattern, its distance, and the pattern: of its windows one that few patterns have.
pub(super) fn choose(
    keys: &[PatternKey],
    width: usize,
    dictionary: &Dictionary,
) -> Vec<(u64, u32, Pattern)> {
    let position = keys[0].1;
    let windows = |string: u32| {
        let text = dictionary.text(string).as_bytes();
        let last = text.len().saturating_sub(width);
        (0..=last.min(OFFSETS_MAX - 1)).map(move |offset| {
            let (before, distance) = match position {
                Position::Anywhere => (offset, 0),
                Position::Start => (offset, offset),
                Position::End => (last - offset, offset),
            };
            (window(text, before, width), distance as u32, before as u32)
        })
    };
    let count = (keys.len() * 16).next_power_of_two().min(COUNTERS_MAX);
    // Not by the random seed, so that the work of a search does not depend on it.
    let counter = |window, distance| mixed(0, window, distance) as usize & (count - 1);
    let mut counters = vec![0u32; if width < WIDTH_MAX { 0 } else { count }];
    if width == WIDTH_MAX {
        for (.., string) in keys {
            for (window, distance, _) in windows(*string) {
                counters[counter(window, distance)] += 1;
            }
        }
    }
    let shared = |window, distance| counters.get(counter(window, distance)).copied();
    let mut out = Vec::with_capacity(keys.len());
    for (.., string) in keys {
        let best = windows(*string).min_by_key(|(window, at, _)| shared(*window, *at));
        if let Some((window, distance, before)) = best {
            let pattern = Pattern {
                string: *string,
                before,
                length: dictionary.text(*string).len() as u32,
            };
            out.push((window, distance, pattern));
        }
    }
    out
}

/// Up to eight bytes of a text from one on, as a number.
#[inline]
pub(super) fn window(text: &[u8], at: usize, width: usize) -> u64 {
    let rest = text.get(at..).unwrap_or(&[]);
    let word = match rest.first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => rest
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    word & (u64::MAX >> (64 - 8 * width.clamp(1, WIDTH_MAX)))
}
