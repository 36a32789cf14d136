//! Matches as they come: the last place of each hash, and what is there is taken at once.
//!
//! Not every place is remembered: this is for speed.

use super::bytes::{AT_ONCE, alike, alike_at_once, alike_long, load64};
use super::lazy::{DULL_LITERALS, Span, TAIL};
use super::sequences::{Sequences, whole};
use super::symbols::{MATCH_MAX, WINDOW};

/// As many slots as the nearest cache has room for beside the content.
const SLOTS_LOG: u32 = 13;
/// Bytes of a hash, and the least of a match: shorter ones take more time than they save bytes.
const HASH_BYTES: u32 = 7;
const LEFT_OUT_BITS: u32 = 64 - 8 * HASH_BYTES;
const MULTIPLIER: u64 = 0x9e37_79b1_85eb_ca87;
/// Bytes that have to lie ahead of a place to be looked at.
const AHEAD: usize = AT_ONCE;
/// Literals without a match behind which not every place is looked at any more, as a shift.
const DULL_SHIFT: u32 = 6;
/// Of the places that prime a content, each of so many is remembered.
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
    /// Forgets the content before.
    pub(super) fn start(&mut self) {
        self.slots.fill(0);
    }

    /// Remembers a place where eight bytes are; how far before it the last one with the same hash is,
    /// which may be none at all: 0 or too far.
    #[inline(always)]
    fn replace(&mut self, word: u64, at: usize) -> usize {
        let hash = (word << LEFT_OUT_BITS).wrapping_mul(MULTIPLIER);
        let slot = &mut self.slots[(hash >> (64 - SLOTS_LOG)) as usize];
        let before = std::mem::replace(slot, at as u16);
        usize::from((at as u16).wrapping_sub(before))
    }

    /// Remembers what primes a content.
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

/// Makes sequences of a span; where it stopped.
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
    for &byte in &data[at..end] {
        out.literal(byte);
    }
    out.close(end - from);
    end
}

/// How long a match is that is longer than what is compared at once.
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

/// Takes literals without looking: the more, the longer nothing was found.
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
