//! The search of level 1: the match at the last place of eight bytes, or of fewer, is taken at once.

use super::bytes::load64;
use super::chains::AHEAD;
use super::dull::{self, ROW};
use super::lazy::Span;
use super::pairs::{NONE, Places, length};
use super::prices::Prices;
use super::sequences::{Match, Sequences};
use super::tail;

/// Literals without a match after which places are skipped, as a shift.
const DULL_SHIFT: u32 = 6;
const DULL_LITERALS: usize = 1 << DULL_SHIFT;
/// The most places skipped in a row.
const DULL_MOST: usize = 64 * ROW;
/// Behind a match, the same distance is tried for as many literals,
const AGAIN_LITERALS: usize = 16;
/// for matches of five bytes.
const AGAIN_SHIFT: u32 = 64 - 8 * 5;

/// Makes sequences of a span; returns where it stopped.
#[inline(never)]
pub(super) fn sequence(
    places: &mut Places,
    prices: &Prices,
    data: &[u8],
    span: Span,
    out: &mut Sequences,
) -> usize {
    let Span {
        mut at, end, pause, ..
    } = span;
    let last = end.saturating_sub(AHEAD);
    let mut from = at;
    let most = out.list.len() + span.matches;
    let mut dull = at + DULL_LITERALS;
    // Where a literal needs a closer look.
    let mut stop = dull.min(pause);
    let mut distance = 0;
    let mut table = places.table();
    while at < last {
        let word = load64(data, at);
        let mut found = table.find(data, word, at, end);
        if found.length == 0 && at - from < AGAIN_LITERALS {
            found = again(data, word, at, distance, end);
        }
        if found.length == 0 || !prices.pays_on_average(found) {
            out.literal(data[at]);
            at += 1;
            if at < stop {
                continue;
            }
            if at >= dull {
                let next = dull::next(at - from, DULL_SHIFT, DULL_MOST, at, last);
                dull::literals(data, at, next, out);
                table.insert_some(data, at, next);
                at = next;
                dull = at + ROW;
                stop = dull.min(pause);
            }
            if at >= pause {
                out.close(at - from);
                return at;
            }
            continue;
        }
        if at - from >= DULL_LITERALS {
            at = dull::reach_back(data, from, at, &mut found, out);
        }
        let length = found.length;
        distance = found.distance;
        out.push(at - from, length, distance);
        let next = at + length;
        table.remember(data, at + 1, next.min(last), distance);
        at = next;
        from = at;
        dull = at + DULL_LITERALS;
        stop = dull.min(pause);
        if at >= pause || out.list.len() >= most {
            return at;
        }
    }
    let near = |word, at| table.near(word, at);
    tail::end(data, at..end, from, distance, prices, near, out)
}

/// A match at the same distance as the one before.
#[inline(always)]
fn again(data: &[u8], word: u64, at: usize, distance: usize, end: usize) -> Match {
    if (load64(data, at - distance) ^ word) << AGAIN_SHIFT != 0 || distance == 0 {
        return NONE;
    }
    Match {
        length: length(data, distance, at, end),
        distance,
    }
}
