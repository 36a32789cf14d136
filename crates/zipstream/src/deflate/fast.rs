//! The search of level 1: the last place of each hash, whose match is taken at once.
//!
//! For speed, not every place is inserted.

use super::bytes::{AT_ONCE, alike, alike_at_once, alike_long, load64};
use super::lazy::{DULL_LITERALS, Span, TAIL};
use super::sequences::{Sequences, whole};
use super::symbols::{MATCH_MAX, WINDOW};

/// As many slots as fit the first-level cache besides the content.
const SLOTS_LOG: u32 = 13;
/// Bytes hashed, and the shortest match: shorter ones cost more time than they save bytes.
const HASH_BYTES: u32 = 7;
const LEFT_OUT_BITS: u32 = 64 - 8 * HASH_BYTES;
const MULTIPLIER: u64 = 0x9e37_79b1_85eb_ca87;
/// Bytes needed ahead of a place to search there.
const AHEAD: usize = AT_ONCE;
/// Literals without a match after which places are skipped, as a shift.
const DULL_SHIFT: u32 = 6;
/// One of this many priming places is inserted.
const PRIME_STEP: usize = 3;

/// The last place of each hash: 16 KiB.
#[derive(Debug)]
pub(super) struct Places {
    slots: [u16; 1 << SLOTS_LOG],
}

impl Default for Places {
    fn default() -> Self {
        Self {
            slots: [0; 1 << SLOTS_LOG],
        }
    }
}

impl Places {
    /// Clears the table.
    pub(super) fn start(&mut self) {
        self.slots.fill(0);
    }

    /// Inserts a place of eight bytes and returns the distance back to the last one with the same
    /// hash. It is 0 or too large if there is none.
    #[inline(always)]
    fn replace(&mut self, word: u64, at: usize) -> usize {
        let hash = (word << LEFT_OUT_BITS).wrapping_mul(MULTIPLIER);
        let slot = &mut self.slots[(hash >> (64 - SLOTS_LOG)) as usize];
        let before = std::mem::replace(slot, at as u16);
        usize::from((at as u16).wrapping_sub(before))
    }

    /// Inserts the content that primes the next one.
    pub(super) fn prime(&mut self, data: &[u8], end: usize) {
        let last = end.min(data.len().saturating_sub(AHEAD));
        let mut at = 0;
        while at < last {
            let by = self.replace(load64(data, at), at);
            let mut next = at + PRIME_STEP;
            if by.wrapping_sub(1) < WINDOW && at % MATCH_MAX == 0 {
                let length = alike_long(data, at - by, at, last - at);
                if length > MATCH_MAX {
                    next = (at + length)
                        .saturating_sub(by.max(MATCH_MAX) + TAIL)
                        .max(next);
                }
            }
            at = next;
        }
    }
}

/// Makes sequences of a span; returns where it stopped.
pub(super) fn sequence(places: &mut Places, data: &[u8], span: Span, out: &mut Sequences) -> usize {
    let Span {
        mut at, end, pause, ..
    } = span;
    let last = end.saturating_sub(AHEAD);
    let mut from = at;
    let most = out.list.len() + span.matches;
    while at < last {
        let word = load64(data, at);
        let by = places.replace(word, at);
        let other = load64(data, at - by);
        if (other ^ word) << LEFT_OUT_BITS != 0 || by.wrapping_sub(1) >= WINDOW {
            out.literal(word as u8);
            at += 1;
            if at - from >= 1 << DULL_SHIFT {
                at = skip(data, from, at, last, out);
            }
            if at >= pause {
                out.close(at - from);
                return at;
            }
            continue;
        }
        let mut length = alike_at_once(data, at - by, at);
        if length == AT_ONCE {
            length = long(data, by, at, end);
        }
        out.push(at - from, length, by);
        let next = at + length;
        if next < last {
            let place = next - 2;
            places.replace(load64(data, place), place);
        }
        at = next;
        from = at;
        if at >= pause || out.list.len() >= most {
            return at;
        }
    }
    out.end_span(data, at, from, end)
}

/// The length of a match that is longer than one comparison.
#[inline(always)]
fn long(data: &[u8], by: usize, at: usize, end: usize) -> usize {
    let from = at + AT_ONCE;
    let most = MATCH_MAX.min(end - at) - AT_ONCE;
    let length = AT_ONCE + alike(data, from - by, from, most);
    if length < MATCH_MAX {
        return length;
    }
    let from = at + length;
    whole(length + alike_long(data, from - by, from, end - from))
}

/// Emits literals without a search: the more, the longer none has found a match.
#[cold]
fn skip(data: &[u8], from: usize, at: usize, last: usize, out: &mut Sequences) -> usize {
    let next = at
        + ((at - from) >> DULL_SHIFT)
            .min(DULL_LITERALS)
            .min(last - at);
    for &byte in &data[at..next] {
        out.literal(byte);
    }
    next
}
