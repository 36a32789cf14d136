//! The hash tables of level 1: the last place of eight bytes, and that of the few bytes whose matches pay off.
//!
//! A long match is found although the same first bytes came again after it.

use super::bytes::{AT_ONCE, alike, alike_at_once, alike_long, load64};
use super::chains::AHEAD;
use super::dull::ROW;
use super::lazy::{TAIL, first_remembered};
use super::prices::Prices;
use super::sequences::{Match, whole};
use super::symbols::{MATCH_MAX, WINDOW};

/// 32 KiB of slots in each table.
const SLOTS_LOG: u32 = 14;
const SLOTS: usize = 1 << SLOTS_LOG;
const MASK_LOG_MIN: u32 = 9;
/// The fewest bytes hashed, which is the shortest match.
const HASH_LEAST: usize = 4;
const MULTIPLIER: u64 = 0x9e37_79b1_85eb_ca87;
/// One of this many priming places is inserted.
const PRIME_STEP: usize = 3;

pub(super) const NONE: Match = Match {
    length: 0,
    distance: 0,
};

/// The low 16 bits of the last place of each hash.
#[derive(Debug)]
pub(super) struct Places {
    shorts: [u16; SLOTS],
    longs: [u16; SLOTS],
    hash: Hash,
}

/// How words are hashed for the short matches.
#[derive(Debug, Clone, Copy)]
struct Hash {
    /// Shifted, so that the last bytes of a word do not count.
    multiplier: u64,
    /// The bits of a word that count.
    hashed: u64,
    /// The slots in use: small contents use few, which are cleared fast.
    mask: usize,
}

impl Hash {
    /// Of the first bytes of a word.
    fn of(bytes: usize, slots_log: u32) -> Self {
        let shift = 64 - 8 * bytes as u32;
        Self {
            multiplier: MULTIPLIER << shift,
            hashed: u64::MAX >> shift,
            mask: (1 << slots_log) - 1,
        }
    }

    /// Of all its bytes.
    #[inline(always)]
    fn long_slot(self, word: u64) -> usize {
        (word.wrapping_mul(MULTIPLIER) >> (64 - SLOTS_LOG)) as usize & self.mask
    }

    #[inline(always)]
    fn slot(self, word: u64) -> usize {
        (word.wrapping_mul(self.multiplier) >> (64 - SLOTS_LOG)) as usize & self.mask
    }
}

impl Default for Places {
    fn default() -> Self {
        Self {
            shorts: [0; SLOTS],
            longs: [0; SLOTS],
            hash: Hash::of(8, SLOTS_LOG),
        }
    }
}

impl Places {
    /// Clears the tables, and adapts their size to the number of places and the hash to the prices.
    pub(super) fn start(&mut self, places: usize, prices: &Prices) {
        let log = places.max(1).ilog2() + 1;
        self.hash = Hash::of(
            prices.hashed(HASH_LEAST),
            log.clamp(MASK_LOG_MIN, SLOTS_LOG),
        );
        self.shorts[..=self.hash.mask].fill(0);
        self.longs[..=self.hash.mask].fill(0);
    }

    /// The tables, with a copy of the hash.
    #[inline(always)]
    pub(super) fn table(&mut self) -> Table<'_> {
        Table {
            shorts: &mut self.shorts,
            longs: &mut self.longs,
            hash: self.hash,
        }
    }

    /// Inserts the content that primes the next one.
    pub(super) fn prime(&mut self, data: &[u8], end: usize) {
        let mut table = self.table();
        let last = end.min(data.len().saturating_sub(AHEAD));
        let mut at = 0;
        while at < last {
            let by = distance(at, table.insert(load64(data, at), at)[0]);
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

/// The slots, and a copy of the hash that stays in registers.
pub(super) struct Table<'a> {
    shorts: &'a mut [u16; SLOTS],
    longs: &'a mut [u16; SLOTS],
    hash: Hash,
}

impl Table<'_> {
    /// How far back the last places with the hashes of this word are; 0 or too much where there is none.
    pub(super) fn near(&self, word: u64, at: usize) -> [usize; 2] {
        let short = self.shorts[self.hash.slot(word) & (SLOTS - 1)];
        let long = self.longs[self.hash.long_slot(word) & (SLOTS - 1)];
        [distance(at, short), distance(at, long)]
    }

    /// Inserts a place and returns the last ones whose long and short hashes are the same.
    #[inline(always)]
    fn insert(&mut self, word: u64, at: usize) -> [u16; 2] {
        let (short, long) = (self.hash.slot(word), self.hash.long_slot(word));
        let long = std::mem::replace(&mut self.longs[long & (SLOTS - 1)], at as u16);
        let short = std::mem::replace(&mut self.shorts[short & (SLOTS - 1)], at as u16);
        [long, short]
    }

    /// Inserts a place and returns its match, or one of length 0. Needs eight bytes at it.
    #[inline(always)]
    pub(super) fn find(&mut self, data: &[u8], word: u64, at: usize, end: usize) -> Match {
        let before = self.insert(word, at);
        let [far, near] = before.map(|place| distance(at, place));
        let differing = |by: usize, hashed: u64| {
            // A distance is 0 or too large if there is none.
            let is_outside = by.wrapping_sub(1) & !(WINDOW - 1);
            (load64(data, at - by) ^ word) & hashed | is_outside as u64
        };
        let is_long = differing(far, u64::MAX) == 0;
        if !(is_long | (differing(near, self.hash.hashed) == 0)) {
            return NONE;
        }
        let by = if is_long { far } else { near };
        Match {
            length: length(data, by, at, end),
            distance: by,
        }
    }

    /// Inserts the places of a match from `start` to `end`; of a long repetition only some of the last ones.
    /// Needs eight bytes at each.
    #[inline(always)]
    pub(super) fn remember(&mut self, data: &[u8], start: usize, end: usize, distance: usize) {
        if end - start < MATCH_MAX {
            self.insert_all(data, start, end);
        } else {
            self.remember_long(data, start, end, distance);
        }
    }

    #[inline(never)]
    fn remember_long(&mut self, data: &[u8], start: usize, end: usize, distance: usize) {
        let start = first_remembered(start, end, distance);
        self.insert_some(data, start, end);
        self.insert_all(data, end.saturating_sub(2).max(start), end);
    }

    #[inline(always)]
    fn insert_all(&mut self, data: &[u8], start: usize, end: usize) {
        let words = data[start..(end + AHEAD - 1).max(start)].windows(8);
        for (index, word) in words.enumerate() {
            self.insert(load64(word, 0), start + index);
        }
    }

    /// Inserts one place of each row.
    pub(super) fn insert_some(&mut self, data: &[u8], start: usize, end: usize) {
        for at in (start.next_multiple_of(ROW)..end).step_by(ROW) {
            self.insert(load64(data, at), at);
        }
    }
}

/// How far back a place is; 0 or too much if there is none.
#[inline(always)]
fn distance(at: usize, place: u16) -> usize {
    usize::from((at as u16).wrapping_sub(place))
}

/// The length of the match at a distance.
#[inline(always)]
pub(super) fn length(data: &[u8], by: usize, at: usize, end: usize) -> usize {
    let length = if at + AT_ONCE <= end {
        alike_at_once(data, at - by, at)
    } else {
        alike(data, at - by, at, end - at)
    };
    if length == AT_ONCE {
        long(data, by, at, end)
    } else {
        length
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The match of a tail with the content before it.
    fn found(content: &[u8], tail: &[u8]) -> Match {
        let mut data = [content, tail].concat();
        let end = data.len();
        data.extend_from_slice(&[0; AHEAD]);
        let mut places = Places::default();
        let mut prices = Prices::default();
        prices.start(&data);
        places.start(data.len(), &prices);
        let mut table = places.table();
        let at = content.len();
        table.insert_all(&data, 0, at);
        table.find(&data, load64(&data, at), at, end)
    }

    #[test]
    fn a_long_match_is_found_behind_a_short_one() {
        let (long, short) = (b"0123456789abcdef", b"01234");
        let content = [&long[..], b"-----", short, b"+++++"].concat();
        let far = found(&content, long);
        assert_eq!((far.length, far.distance), (16, content.len()));
        let near = found(&content, b"01234!,;:_");
        assert_eq!((near.length, near.distance), (5, 10));
        assert_eq!(found(&content, b"!,;:_#*'()=?"), NONE);
    }

    #[test]
    fn matches_of_any_length_are_whole() {
        let random = |seed: u64| move |at: u64| ((at ^ seed).wrapping_mul(MULTIPLIER) >> 56) as u8;
        let content: Vec<u8> = (0..3000).map(random(7)).collect();
        for length in [8, 31, 32, 33, 64, 257, 258, 262, 1000] {
            let found = found(&content, &content[500..500 + length]);
            assert_eq!(found.length, whole(length), "{length}");
            assert_eq!(found.distance, 2500);
        }
    }
}
