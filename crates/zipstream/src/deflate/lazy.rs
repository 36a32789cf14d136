//! The search of levels 7 to 9: a match is taken only if the next places have no better one.

use super::bytes::alike_long;
use super::chains::{AHEAD, Chains, Match};
use super::sequences::{Sequences, whole};
use super::symbols::{MATCH_MAX, MATCH_MIN};

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
}

impl Span {
    /// All of a content, without a stop.
    pub(super) const fn all(at: usize, end: usize) -> Self {
        Self {
            at,
            end,
            pause: end,
            matches: usize::MAX,
        }
    }
}

/// Literals without a match after which places are skipped.
pub(super) const DULL_LITERALS: usize = 512;
/// The most places skipped in a row.
const DULL_MOST: usize = 32;
/// The least number of places inserted at the end of a long repetition.
pub(super) const TAIL: usize = 64;

/// Makes sequences of a span; returns where it stopped. Each search has its own loop, because the
/// gate on instruction counts measures them one by one: a shared loop over a trait must first show
/// the same counts.
pub(super) fn sequence(
    chains: &mut Chains,
    effort: Effort,
    data: &[u8],
    span: Span,
    out: &mut Sequences,
) -> usize {
    let Span {
        mut at, end, pause, ..
    } = span;
    let last = end.saturating_sub(AHEAD);
    let least = chains.least();
    let mut from = at;
    let most = out.list.len() + span.matches;
    while at < last {
        let mut found = chains.find(data, at, end, least - 1, effort.attempts, effort.nice);
        if found.length < least {
            out.literal(data[at]);
            at += 1;
            if at - from >= DULL_LITERALS {
                at = skip(data, from, at, last, out);
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
                let Some((ahead, better)) = better(chains, effort, data, at, end, found, &mut seen)
                else {
                    break;
                };
                for &byte in &data[at..at + ahead] {
                    out.literal(byte);
                }
                at += ahead;
                found = better;
            }
        }
        let mut length = found.length;
        if length == MATCH_MAX {
            length = extended(data, at, found.distance, end);
        }
        out.push(at - from, length, found.distance);
        remember(
            chains,
            data,
            seen + 1,
            (at + length).min(last),
            found.distance,
        );
        at += length;
        from = at;
        if at >= pause || out.list.len() >= most {
            return at;
        }
    }
    out.end_span(data, at, from, end)
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

/// Emits literals without a search: the more, the longer none has found a match.
#[cold]
pub(super) fn skip(data: &[u8], from: usize, at: usize, last: usize, out: &mut Sequences) -> usize {
    let next = at + ((at - from) / DULL_LITERALS).min(DULL_MOST).min(last - at);
    for &byte in &data[at..next] {
        out.literal(byte);
    }
    next
}

/// A better match that starts one or two places later.
#[inline(always)]
fn better(
    chains: &mut Chains,
    effort: Effort,
    data: &[u8],
    at: usize,
    end: usize,
    found: Match,
    seen: &mut usize,
) -> Option<(usize, Match)> {
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
        let gain = 4 * (next.length as i32 - found.length as i32)
            + (found.distance.ilog2() as i32 - next.distance.max(1).ilog2() as i32);
        if next.length > least && gain > 2 + 4 * (ahead as i32 - 1) {
            return Some((ahead, next));
        }
    }
    None
}

/// Inserts the places from `start` to `end`; of a long repetition only the last ones.
#[inline(always)]
fn remember(chains: &mut Chains, data: &[u8], start: usize, end: usize, distance: usize) {
    let start = first_remembered(start, end, distance);
    if start < end {
        chains.insert(data, start, end);
    }
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
            remember(chains, data, at + 1, next + length, found.distance);
            at = next + length;
            continue;
        }
        if at + 1 < step {
            chains.insert(data, at + 1, step);
        }
        at = step;
    }
}
