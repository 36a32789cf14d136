//! Matches that are taken only when the next places have none that is better.

use super::bytes::alike_long;
use super::chains::{AHEAD, Chains, Match};
use super::sequences::{Sequences, whole};
use super::symbols::{MATCH_MAX, MATCH_MIN};

/// How hard a level looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// Places that are compared.
    attempts: u32,
    /// A match of this length is good enough.
    nice: usize,
    /// How many of the next places are looked at before a match is taken.
    lazy: u32,
    /// From this length on the next places are compared with `late` others only.
    good: usize,
    late: u32,
}

impl Effort {
    /// Takes each match as it comes.
    pub(super) const fn new(attempts: u32, nice: usize) -> Self {
        Self {
            attempts,
            nice,
            lazy: 0,
            good: 0,
            late: 0,
        }
    }

    /// Looks at the next places before a match is taken.
    pub(super) const fn lazy(self, lazy: u32, good: usize, late: u32) -> Self {
        Self {
            lazy,
            good,
            late,
            ..self
        }
    }
}

/// A stretch of content to make sequences of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) at: usize,
    /// Where no match may go beyond.
    pub(super) end: usize,
    /// Where to stop, after as many matches or behind this place.
    pub(super) pause: usize,
    pub(super) matches: usize,
}

impl Span {
    /// All of a content, without a pause.
    pub(super) const fn all(at: usize, end: usize) -> Self {
        Self {
            at,
            end,
            pause: end,
            matches: usize::MAX,
        }
    }
}

/// Literals without a match behind which not every place is looked at any more.
pub(super) const DULL_LITERALS: usize = 512;
/// The most places in a row that are not looked at.
const DULL_MOST: usize = 32;
/// Places at the end of a long repetition that are remembered at least.
pub(super) const TAIL: usize = 64;

/// Makes sequences of a span; where it stopped.
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
            let (earlier, next) = (at + length - found.distance, at + length);
            length = whole(length + alike_long(data, earlier, next, end - next));
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
    for &byte in &data[at..end] {
        out.literal(byte);
    }
    out.close(end - from);
    end
}

/// Takes literals without looking: the more, the longer nothing was found.
#[cold]
pub(super) fn skip(data: &[u8], from: usize, at: usize, last: usize, out: &mut Sequences) -> usize {
    let next = at + ((at - from) / DULL_LITERALS).min(DULL_MOST).min(last - at);
    for &byte in &data[at..next] {
        out.literal(byte);
    }
    next
}

/// A match that starts one or two places later and is worth it.
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

/// Remembers the places from `start` to `end`, of a long repetition the last ones.
#[inline(always)]
fn remember(chains: &mut Chains, data: &[u8], start: usize, end: usize, distance: usize) {
    let start = start.max(end.saturating_sub(distance.max(MATCH_MAX) + TAIL));
    if start < end {
        chains.insert(data, start, end);
    }
}

/// Remembers what primes a content.
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
