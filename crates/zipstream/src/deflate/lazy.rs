//! The search of levels 7 to 9: a match is taken only if the next places have no better one.

use super::bytes::{alike, alike_long, load64};
use super::chains::{AHEAD, Chains};
use super::dull::{self, ROW};
use super::prices::{Prices, is_longer};
use super::sequences::{Match, Sequences, whole};
use super::symbols::{MATCH_MAX, MATCH_MIN};
use super::tail;

/// The effort of a level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// Places that are compared.
    attempts: u32,
    /// A match of this length ends the search.
    nice: usize,
    /// How many of the next places are searched before a match is taken.
    lazy: u32,
    /// From this length on, only `late` places are compared at the next places.
    good: usize,
    late: u32,
}

impl Effort {
    /// Takes each match at once.
    pub(super) const fn new(attempts: u32, nice: usize) -> Self {
        Self {
            attempts,
            nice,
            lazy: 0,
            good: 0,
            late: 0,
        }
    }

    /// Searches at the next places before a match is taken.
    pub(super) const fn lazy(self, lazy: u32, good: usize, late: u32) -> Self {
        Self {
            lazy,
            good,
            late,
            ..self
        }
    }
}

/// A part of the content that becomes sequences.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) at: usize,
    /// No match goes beyond this place.
    pub(super) end: usize,
    /// Where to stop: after `matches` matches, or behind this place.
    pub(super) pause: usize,
    pub(super) matches: usize,
    /// Whether it is searched in rows, and only for long matches.
    pub(super) in_rows: bool,
}

/// The shortest match that is taken in rows.
const IN_ROWS_LEAST: usize = 24;
/// Literals without a match after which places are skipped in rows, as a shift.
const IN_ROWS_SHIFT: u32 = 4;

impl Span {
    /// All of a content, without a stop.
    pub(super) const fn all(at: usize, end: usize) -> Self {
        Self {
            at,
            end,
            pause: end,
            matches: usize::MAX,
            in_rows: false,
        }
    }

    /// The shortest match, and the literals after which places are skipped, as a shift.
    pub(super) fn limits(&self, prices: &Prices) -> (usize, u32) {
        if self.in_rows {
            (IN_ROWS_LEAST, IN_ROWS_SHIFT)
        } else {
            (prices.least(), DULL_SHIFT)
        }
    }
}

/// Literals without a match after which places are skipped, as a shift.
const DULL_SHIFT: u32 = 9;
/// The most places skipped between two rows.
pub(super) const DULL_MOST: usize = 32 * ROW;
/// The least number of places inserted at the end of a long repetition.
pub(super) const TAIL: usize = 64;

/// Makes sequences of a span; returns where it stopped. Each search has its own loop, because the
/// gate on instruction counts measures them one by one: a shared loop over a trait must first show
/// the same counts.
pub(super) fn sequence(
    chains: &mut Chains,
    effort: Effort,
    prices: &Prices,
    data: &[u8],
    span: Span,
    out: &mut Sequences,
) -> usize {
    let Span {
        mut at, end, pause, ..
    } = span;
    let last = end.saturating_sub(AHEAD);
    let (least, shift) = span.limits(prices);
    let mut from = at;
    let mut dull = at + (1 << shift);
    let most = out.list.len() + span.matches;
    let mut before = 0;
    let search = Search {
        effort,
        prices,
        data,
        end,
    };
    while at < last {
        let mut found = chains.find(data, at, end, least - 1, effort.attempts, effort.nice);
        if found.length < least || !prices.pays(data, at, found) {
            out.literal(data[at]);
            at += 1;
            if at >= dull {
                let next = dull::next(at - from, shift, DULL_MOST, at, last);
                dull::literals(data, at, next, out);
                for place in (at.next_multiple_of(ROW)..next).step_by(ROW) {
                    chains.insert(data, place, place + 1);
                }
                at = next;
                dull = at + ROW;
            }
            if at >= pause {
                out.close(at - from);
                return at;
            }
            continue;
        }
        let mut seen = at;
        if effort.lazy > 0 {
            while found.length < effort.nice && at + 1 < last {
                let Some((ahead, better)) = better(chains, &search, at, found, &mut seen) else {
                    break;
                };
                for &byte in &data[at..at + ahead] {
                    out.literal(byte);
                }
                at += ahead;
                found = better;
            }
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
        remember(seen + 1, behind, distance, |start, end| {
            chains.insert(data, start, end);
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
    let near = |word, at| chains.near(word, at);
    tail::end(data, at..end, from, before, prices, near, out)
}

/// The length of a match that is at least [`MATCH_MAX`] bytes long.
#[inline(always)]
pub(super) fn extended(data: &[u8], at: usize, distance: usize, end: usize) -> usize {
    let next = at + MATCH_MAX;
    whole(MATCH_MAX + alike_long(data, next - distance, next, end - next))
}

/// The first place from `start` on that is inserted: of a long repetition only the last ones.
#[inline(always)]
pub(super) fn first_remembered(start: usize, end: usize, distance: usize) -> usize {
    start.max(end.saturating_sub(distance.max(MATCH_MAX) + TAIL))
}

/// Of a longer match only some places are inserted,
const SPARSE_FROM: usize = 2048;
/// so that a match of this length may begin earlier than where it was found.
pub(super) const REACHING: usize = 64;

/// Inserts the places from `start` to `end`; of a long repetition only the last ones, and one of each row
/// before them.
#[inline(always)]
pub(super) fn remember(
    start: usize,
    end: usize,
    distance: usize,
    mut insert: impl FnMut(usize, usize),
) {
    let mut start = first_remembered(start, end, distance);
    if start + SPARSE_FROM < end {
        let dense = end - TAIL;
        for place in (start.next_multiple_of(ROW)..dense).step_by(ROW) {
            insert(place, place + 1);
        }
        start = dense;
    }
    if start < end {
        insert(start, end);
    }
}

/// What the search at the next places needs.
struct Search<'a> {
    effort: Effort,
    prices: &'a Prices,
    data: &'a [u8],
    /// No match goes beyond this place.
    end: usize,
}

/// A better match that starts one or two places later.
#[inline(always)]
fn better(
    chains: &mut Chains,
    search: &Search<'_>,
    at: usize,
    found: Match,
    seen: &mut usize,
) -> Option<(usize, Match)> {
    let &Search {
        effort,
        prices,
        data,
        end,
    } = search;
    // A run of equal bytes needs a literal, but no far distance, even if it does not reach farther.
    let is_run = |word: u64| word == word.rotate_left(8);
    if found.length >= AHEAD && found.distance > 1 && is_run(load64(data, at)) {
        let run = Match {
            length: alike(data, at, at + 1, MATCH_MAX.min(end - at - 1)),
            distance: 1,
        };
        if run.length + 1 == found.length && prices.is_better(&data[at..=at], found, run) {
            *seen = at + 1;
            chains.insert(data, at + 1, at + 2);
            return Some((1, run));
        }
    }
    for ahead in 1..=effort.lazy as usize {
        if at + ahead + AHEAD >= end {
            return None;
        }
        let attempts = if found.length >= effort.good {
            effort.late
        } else {
            effort.attempts >> ahead
        };
        let least = found.length - 1;
        *seen = at + ahead;
        let next = chains.find(data, at + ahead, end, least, attempts, effort.nice);
        let is_better = next.length > least
            && (is_longer(ahead, found, next)
                || (ahead == 1
                    && next.length > found.length
                    && prices.is_better(&data[at..=at], found, next)));
        if is_better {
            return Some((ahead, next));
        }
    }
    None
}

/// Inserts the content that primes the next one.
pub(super) fn prime(chains: &mut Chains, data: &[u8], end: usize) {
    let last = end.min(data.len().saturating_sub(AHEAD));
    let mut at = 0;
    while at < last {
        let step = (at + MATCH_MAX).min(last);
        let found = chains.find(data, at, data.len(), MATCH_MIN, 1, MATCH_MAX);
        if found.length == MATCH_MAX && at + 2 * MATCH_MAX < last {
            let next = at + MATCH_MAX;
            let length = alike_long(data, next - found.distance, next, last - next);
            remember(at + 1, next + length, found.distance, |start, end| {
                chains.insert(data, start, end);
            });
            at = next + length;
            continue;
        }
        if at + 1 < step {
            chains.insert(data, at + 1, step);
        }
        at = step;
    }
}
