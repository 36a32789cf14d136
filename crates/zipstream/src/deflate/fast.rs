//! Matches as they come: two places of each hash, and the better of them is taken at once.

use super::bytes::{alike, alike_long, load32};
use super::chains::AHEAD;
use super::lazy::{DULL_LITERALS, Span, TAIL, skip};
use super::sequences::{Sequences, whole};
use super::symbols::{MATCH_MAX, WINDOW};

const SLOTS_LOG: u32 = 14;
/// Bytes of a hash, and so of the shortest match.
const LEAST: usize = 4;

/// The last two places of each hash: 64 KiB.
#[derive(Debug)]
pub(super) struct Pairs {
    slots: [u32; 1 << SLOTS_LOG],
}

impl Default for Pairs {
    fn default() -> Self {
        Self {
            slots: [0; 1 << SLOTS_LOG],
        }
    }
}

impl Pairs {
    /// Forgets the content before.
    pub(super) fn start(&mut self) {
        self.slots.fill(0);
    }

    /// Remembers a place where four bytes are; those before with the same hash.
    #[inline(always)]
    fn replace(&mut self, bytes: u32, at: usize) -> u32 {
        let slot = &mut self.slots[(bytes.wrapping_mul(0x9e37_79b1) >> (32 - SLOTS_LOG)) as usize];
        let before = *slot;
        *slot = before << 16 | at as u32 & 0xffff;
        before
    }

    /// Remembers the places from `start` to `end`, at each of which there are four bytes.
    #[inline(always)]
    fn insert(&mut self, data: &[u8], start: usize, end: usize) {
        for at in start..end {
            self.replace(load32(data, at), at);
        }
    }

    /// Remembers what primes a content.
    pub(super) fn prime(&mut self, data: &[u8], end: usize) {
        let last = end.min(data.len().saturating_sub(AHEAD));
        let mut at = 0;
        while at < last {
            let near = distance(at, self.replace(load32(data, at), at));
            let mut next = (at + MATCH_MAX).min(last);
            let mut from = at + 1;
            if near.wrapping_sub(1) < WINDOW {
                let length = alike_long(data, at - near, at, last - at);
                if length > MATCH_MAX {
                    next = at + length;
                    from = from.max(next.saturating_sub(near.max(MATCH_MAX) + TAIL));
                }
            }
            self.insert(data, from, next);
            at = next;
        }
    }
}

#[inline(always)]
fn distance(at: usize, place: u32) -> usize {
    usize::from((at as u16).wrapping_sub(place as u16))
}

/// Makes sequences of a span; where it stopped.
pub(super) fn sequence(pairs: &mut Pairs, data: &[u8], span: Span, out: &mut Sequences) -> usize {
    let Span {
        mut at, end, pause, ..
    } = span;
    let last = end.saturating_sub(AHEAD);
    let mut from = at;
    let most_matches = out.list.len() + span.matches;
    while at < last {
        let bytes = load32(data, at);
        let before = pairs.replace(bytes, at);
        let (near, far) = (distance(at, before), distance(at, before >> 16));
        let most = MATCH_MAX.min(end - at);
        let mut length;
        let mut by = near;
        if near.wrapping_sub(1) < WINDOW && load32(data, at - near) == bytes {
            length = LEAST + alike(data, at - near + LEAST, at + LEAST, most - LEAST);
            if far.wrapping_sub(1) < WINDOW
                && length < most
                && load32(data, at - far + length - 3) == load32(data, at + length - 3)
            {
                let other = alike(data, at - far, at, most);
                if other > length {
                    (length, by) = (other, far);
                }
            }
        } else if far.wrapping_sub(1) < WINDOW && load32(data, at - far) == bytes {
            length = LEAST + alike(data, at - far + LEAST, at + LEAST, most - LEAST);
            by = far;
        } else {
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
        if length == MATCH_MAX {
            let (earlier, next) = (at + length - by, at + length);
            length = whole(length + alike_long(data, earlier, next, end - next));
        }
        out.push(at - from, length, by);
        let next = at + length;
        let tail = next.saturating_sub(by.max(MATCH_MAX) + TAIL);
        pairs.insert(data, tail.max(at + 1), next.min(last));
        at = next;
        from = at;
        if at >= pause || out.list.len() >= most_matches {
            return at;
        }
    }
    for &byte in &data[at..end] {
        out.literal(byte);
    }
    out.close(end - from);
    end
}
