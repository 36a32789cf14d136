//! The search of level 1: the last place of each hash, whose match is taken at once.
//!
//! For speed, not every place is inserted.

use super::bytes::{AT_ONCE, alike, alike_at_once, alike_long, load64};
use super::chains::AHEAD;
use super::columns;
use super::dull::{self, ROW};
use super::lazy::{Span, TAIL, first_remembered};
use super::prices::{Prices, SMALL};
use super::sequences::{Match, Sequences, whole};
use super::symbols::{MATCH_MAX, WINDOW};
use super::tail;

/// As many slots as fit the first-level cache.
const SLOTS_LOG: u32 = 14;
const MASK_LOG_MIN: u32 = 9;
/// The fewest bytes hashed, which is the shortest match.
const HASH_LEAST: usize = 6;
/// The same where short matches pay off.
const HASH_SHORT: usize = 4;
const MULTIPLIER: u64 = 0x9e37_79b1_85eb_ca87;
/// Literals without a match after which places are skipped, as a shift.
const DULL_SHIFT: u32 = 6;
const DULL_LITERALS: usize = 1 << DULL_SHIFT;
/// The most places skipped in a row.
const DULL_MOST: usize = 64 * ROW;
/// Behind a match, the same distance is tried for as many literals,
const AGAIN_LITERALS: usize = 16;
/// for matches of five bytes.
const AGAIN_SHIFT: u32 = 64 - 8 * 5;
/// One of this many priming places is inserted.
const PRIME_STEP: usize = 3;
/// One of this many places of a match is inserted.
const MATCH_STEP: usize = 3;

/// The last place of each hash: 32 KiB.
#[derive(Debug)]
pub(super) struct Places {
    slots: [u16; 1 << SLOTS_LOG],
    /// The part of the hash in use: small contents use small tables, which are cleared fast.
    mask: usize,
    /// Bits of a word that the hash leaves out.
    shift: u32,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            slots: [0; 1 << SLOTS_LOG],
            mask: (1 << SLOTS_LOG) - 1,
            shift: 0,
        }
    }
}

const NONE: Match = Match {
    length: 0,
    distance: 0,
};

impl Places {
    /// Clears the table, and adapts its size to the number of places and the hash to the prices and the content.
    pub(super) fn start(&mut self, places: usize, prices: &Prices, content: &[u8]) {
        let is_short = content.len() <= SMALL || columns::are_in(content);
        let least = if is_short { HASH_SHORT } else { HASH_LEAST };
        let log = places.max(1).ilog2() + 1;
        self.mask = (1 << log.clamp(MASK_LOG_MIN, SLOTS_LOG)) - 1;
        self.slots[..=self.mask].fill(0);
        self.shift = 64 - 8 * prices.hashed(least) as u32;
    }

    #[inline(always)]
    fn slot(&self, word: u64) -> usize {
        let hash = (word << self.shift).wrapping_mul(MULTIPLIER) >> (64 - SLOTS_LOG);
        hash as usize & self.mask
    }

    /// How far back the last place with the hash of this word is; 0 or too much if there is none.
    fn distance(&self, word: u64, at: usize) -> usize {
        usize::from((at as u16).wrapping_sub(self.slots[self.slot(word)]))
    }

    /// Inserts a place of eight bytes and returns the last one with the same hash.
    #[inline(always)]
    fn replace(&mut self, word: u64, at: usize) -> u16 {
        let slot = self.slot(word);
        self.replace_at(slot, at)
    }

    #[inline(always)]
    fn replace_at(&mut self, slot: usize, at: usize) -> u16 {
        std::mem::replace(&mut self.slots[slot & ((1 << SLOTS_LOG) - 1)], at as u16)
    }

    /// Inserts a place and returns its match, or one of length 0. `here` is the place, with its
    /// slot, and becomes the next one.
    #[inline(always)]
    fn find(&mut self, data: &[u8], here: &mut (u64, usize), at: usize, end: usize) -> Match {
        let (word, slot) = *here;
        let before = self.replace_at(slot, at);
        let next = load64(data, at + 1);
        *here = (next, self.slot(next));
        std::hint::black_box(self.slots[here.1 & ((1 << SLOTS_LOG) - 1)]);
        // The distance is 0 or too large if there is none.
        let by = usize::from((at as u16).wrapping_sub(before));
        if (load64(data, at - by) ^ word) << self.shift != 0 || by.wrapping_sub(1) >= WINDOW {
            return NONE;
        }
        let mut length = if at + AT_ONCE <= end {
            alike_at_once(data, at - by, at)
        } else {
            alike(data, at - by, at, end - at)
        };
        if length == AT_ONCE {
            length = long(data, by, at, end);
        }
        Match {
            length,
            distance: by,
        }
    }

    /// Inserts the places from `start` to `end`, some of them; of a long repetition only the last
    /// ones. Needs eight bytes at each.
    #[inline(always)]
    fn remember(&mut self, data: &[u8], start: usize, end: usize, distance: usize) {
        if end - start <= 2 * ROW {
            let mut at = start;
            while at < end {
                self.replace(load64(data, at), at);
                at += MATCH_STEP;
            }
        } else {
            self.remember_long(data, start, end, distance);
        }
    }

    #[inline(never)]
    fn remember_long(&mut self, data: &[u8], start: usize, end: usize, distance: usize) {
        let start = first_remembered(start, end, distance);
        self.insert_some(data, start, end);
        for at in end.saturating_sub(2).max(start)..end {
            self.replace(load64(data, at), at);
        }
    }

    /// Inserts one place of each row.
    fn insert_some(&mut self, data: &[u8], start: usize, end: usize) {
        for at in (start.next_multiple_of(ROW)..end).step_by(ROW) {
            self.replace(load64(data, at), at);
        }
    }

    /// Inserts the content that primes the next one.
    pub(super) fn prime(&mut self, data: &[u8], end: usize) {
        let last = end.min(data.len().saturating_sub(AHEAD));
        let mut at = 0;
        while at < last {
            let before = self.replace(load64(data, at), at);
            let by = usize::from((at as u16).wrapping_sub(before));
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
    let mut here = (0, 0);
    let mut distance = 0;
    if at < last {
        let word = load64(data, at);
        here = (word, places.slot(word));
    }
    while at < last {
        let word = here.0;
        let mut found = places.find(data, &mut here, at, end);
        if found.length == 0 && at - from < AGAIN_LITERALS {
            found = again(data, word, at, distance, end);
        }
        if found.length == 0 || !prices.pays_on_average(found) {
            out.literal(data[at]);
            at += 1;
            if at >= dull {
                let next = dull::next(at - from, DULL_SHIFT, DULL_MOST, at, last);
                dull::literals(data, at, next, out);
                places.insert_some(data, at, next);
                at = next;
                dull = at + ROW;
                let word = load64(data, at);
                here = (word, places.slot(word));
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
        places.remember(data, at + 1, next.min(last), distance);
        at = next;
        from = at;
        let word = load64(data, at.min(last));
        here = (word, places.slot(word));
        dull = at + DULL_LITERALS;
        if at >= pause || out.list.len() >= most {
            return at;
        }
    }
    let near = |word, at| [places.distance(word, at), 0];
    tail::end(data, at..end, from, distance, prices, near, out)
}

/// A match at the same distance as the one before.
#[inline(always)]
fn again(data: &[u8], word: u64, at: usize, distance: usize, end: usize) -> Match {
    if (load64(data, at - distance) ^ word) << AGAIN_SHIFT != 0 || distance == 0 {
        return NONE;
    }
    let mut length = if at + AT_ONCE <= end {
        alike_at_once(data, at - distance, at)
    } else {
        alike(data, at - distance, at, end - at)
    };
    if length == AT_ONCE {
        length = long(data, distance, at, end);
    }
    Match { length, distance }
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
