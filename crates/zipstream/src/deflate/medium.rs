//! The search of levels 2 to 6: four places per hash, and one look at the next place.

use super::buckets::{Buckets, Place, Search};
use super::bytes::alike_long;
use super::chains::AHEAD;
use super::dull::{self, ROW};
use super::lazy::{DULL_MOST, REACHING, Span, extended, remember};
use super::prices::Prices;
use super::sequences::{Match, Sequences};
use super::symbols::{MATCH_MAX, MATCH_MIN};
use super::tail;

/// A match of this length ends the search at its place.
const NICE: usize = 258;

/// Makes sequences of a span; returns where it stopped. A match of `good` bytes is taken without
/// searching at the next place.
#[inline(never)]
pub(super) fn sequence(
    buckets: &mut Buckets,
    good: usize,
    prices: &Prices,
    data: &[u8],
    span: Span,
    out: &mut Sequences,
) -> usize {
    let Span {
        mut at, end, pause, ..
    } = span;
    let search = Search {
        data,
        end,
        nice: NICE,
        triple: prices.triple_distance(),
    };
    let last = end.saturating_sub(AHEAD);
    let (least, shift) = span.limits(prices);
    let least = least - 1;
    let mut from = at;
    let mut dull = at + (1 << shift);
    let most = out.list.len() + span.matches;
    let mut before = 0;
    let mut next = if at < last {
        buckets.place(data, at)
    } else {
        Place::default()
    };
    while at < last {
        let mut found = buckets.find(&search, &mut next, at, least);
        if found.length == 0 || !prices.pays(data, at, found) {
            out.literal(data[at]);
            at += 1;
            if at >= dull {
                let row = dull::next(at - from, shift, DULL_MOST, at, last);
                dull::literals(data, at, row, out);
                for place in (at.next_multiple_of(ROW)..row).step_by(ROW) {
                    buckets.insert(data, place, place + 1);
                }
                at = row;
                next = buckets.place(data, at.min(last));
                dull = at + ROW;
            }
            if at >= pause {
                out.close(at - from);
                return at;
            }
            continue;
        }
        let mut seen = at;
        while found.length < good && at + 1 < last {
            seen = at + 1;
            let other = buckets.find(&search, &mut next, at + 1, found.length - 1);
            if other.length == 0 || !prices.is_better(&data[at..=at], found, other) {
                break;
            }
            out.literal(data[at]);
            at += 1;
            found = other;
        }
        if found.length == MATCH_MAX {
            found.length = extended(data, at, found.distance, end);
        }
        if at - from >= 1 << shift || (found.length >= REACHING && at > from) {
            at = dull::reach_back(data, from, at, &mut found, out);
        }
        let Match { length, distance } = found;
        out.push(at - from, length, distance);
        before = distance;
        let behind = (at + length).min(last);
        next = buckets.place(data, behind);
        remember(seen + 1, behind, distance, |start, end| {
            buckets.insert(data, start, end);
        });
        at += length;
        from = at;
        dull = at + (1 << shift);
        if at >= pause || out.list.len() >= most {
            return at;
        }
    }
    if span.in_rows {
        return out.end_span(data, at, from, end);
    }
    let near = |word, at| buckets.near(word, at);
    tail::end(data, at..end, from, before, prices, near, out)
}

/// Inserts the content that primes the next one.
pub(super) fn prime(buckets: &mut Buckets, data: &[u8], end: usize) {
    let search = Search {
        data,
        end: data.len(),
        nice: NICE,
        triple: 0,
    };
    let last = end.min(data.len().saturating_sub(AHEAD));
    let mut at = 0;
    while at < last {
        let mut next = (at + MATCH_MAX).min(last);
        let mut here = buckets.place(data, at);
        let found = buckets.find(&search, &mut here, at, MATCH_MIN);
        if found.length == MATCH_MAX && at + 2 * MATCH_MAX < last {
            let (earlier, from) = (at + MATCH_MAX - found.distance, at + MATCH_MAX);
            next = from + alike_long(data, earlier, from, last - from);
        }
        remember(at + 1, next, found.distance, |start, end| {
            buckets.insert(data, start, end);
        });
        at = next;
    }
}
