//! Hash tables of earlier places: the last four places of `LONG` bytes in one word, and the last
//! place of three bytes and of the few bytes, four or more, whose matches pay off.
//!
//! The four places are compared at once, without following a chain.

use std::hint::black_box;

use super::bytes::{AT_ONCE, alike, alike_at_once, load32, load64};
use super::prices::Prices;
use super::sequences::Match;
use super::symbols::{MATCH_MAX, MATCH_MIN, WINDOW};

const LONGS_LOG: u32 = 14;
const QUADS_LOG: u32 = 14;
const TRIPLES_LOG: u32 = 15;
/// The bytes of a word.
pub(super) const WORD: usize = 8;
/// The fewest bytes hashed for a short match.
const QUAD_BYTES: usize = 4;
const QUAD_BYTES_MAX: usize = 6;
const WAYS: u32 = 4;
const MASK_LOG_MIN: u32 = 9;
const MULTIPLIER: u64 = 0x9e37_79b1_85eb_ca87;
/// For the bytes behind a word.
const DEEP_MULTIPLIER: u64 = 0xc2b2_ae3d_27d4_eb4f;
const NONE: Match = Match {
    length: 0,
    distance: 0,
};

/// The low 16 bits of places by their hashes: 224 KiB.
#[derive(Debug)]
pub(super) struct Buckets {
    /// The last place is in the lowest bits.
    longs: [u64; 1 << LONGS_LOG],
    quads: [u16; 1 << QUADS_LOG],
    triples: [u16; 1 << TRIPLES_LOG],
    /// The part of the hash in use: small contents use small tables, which are cleared fast.
    mask: usize,
    /// The same for the table of three bytes.
    triple_mask: usize,
    /// Hashes for `quads` as many bytes as a match needs to pay off.
    multiplier: u64,
}

impl Default for Buckets {
    fn default() -> Self {
        Self {
            longs: [0; 1 << LONGS_LOG],
            quads: [0; 1 << QUADS_LOG],
            triples: [0; 1 << TRIPLES_LOG],
            mask: 0,
            triple_mask: 0,
            multiplier: multiplier(QUAD_BYTES),
        }
    }
}

/// The distance back to a place. It is 0 or too large if there is none.
#[inline(always)]
fn distance(at: usize, place: u64) -> usize {
    usize::from((at as u16).wrapping_sub(place as u16))
}

/// Bytes needed ahead of a place to search there.
pub(super) const fn ahead<const LONG: usize>() -> usize {
    if LONG > WORD { LONG } else { WORD }
}

/// The hash of the first `LONG` bytes at a place.
#[inline(always)]
fn long<const LONG: usize>(data: &[u8], at: usize, word: u64) -> usize {
    let hash = if LONG > WORD {
        let deep = load64(data, at + LONG - WORD);
        word.wrapping_mul(MULTIPLIER) ^ deep.wrapping_mul(DEEP_MULTIPLIER)
    } else {
        (word << (64 - 8 * LONG)).wrapping_mul(MULTIPLIER)
    };
    (hash >> (64 - LONGS_LOG)) as usize
}

#[inline(always)]
fn quad(word: u64, multiplier: u64) -> usize {
    (word.wrapping_mul(multiplier) >> (64 - QUADS_LOG)) as usize
}

/// The multiplier that hashes the first bytes of a word.
fn multiplier(bytes: usize) -> u64 {
    MULTIPLIER << (64 - 8 * bytes)
}

#[inline(always)]
fn triple(word: u64) -> usize {
    (((word as u32) << 8).wrapping_mul(0x9e37_79b1) >> (32 - TRIPLES_LOG)) as usize
}

/// The limits of a search.
pub(super) struct Search<'a> {
    pub(super) data: &'a [u8],
    /// No match goes beyond this place.
    pub(super) end: usize,
    /// A match of this length is good enough.
    pub(super) nice: usize,
    /// How far a match of three bytes may be.
    pub(super) triple: usize,
}

/// A place with its hashes.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    word: u64,
    long: usize,
    quad: usize,
}

impl Buckets {
    /// Hashes a place and loads its table entries into the cache.
    #[inline(always)]
    pub(super) fn place<const LONG: usize>(&self, data: &[u8], at: usize) -> Place {
        let word = load64(data, at);
        let (long, quad) = (
            long::<LONG>(data, at, word) & self.mask,
            quad(word, self.multiplier) & self.mask,
        );
        black_box(self.longs[long]);
        black_box(self.quads[quad]);
        Place { word, long, quad }
    }

    /// How far back the last places of the first few and three bytes of a word are; 0 or too much where there is none.
    pub(super) fn near(&self, word: u64, at: usize) -> [usize; 2] {
        let quad = self.quads[quad(word, self.multiplier) & self.mask];
        let triple = self.triples[triple(word) & self.triple_mask];
        [quad, triple].map(|place| distance(at, u64::from(place)))
    }

    /// Clears the tables and adapts their size to the number of places.
    pub(super) fn start(&mut self, places: usize, prices: &Prices) {
        let bytes = prices.hashed(QUAD_BYTES) - 1;
        // A match that is a byte shorter than a far one that pays off does so if it is near.
        self.multiplier = multiplier(bytes.clamp(QUAD_BYTES, QUAD_BYTES_MAX));
        let log = places.max(1).ilog2() + 1;
        self.mask = (1 << log.clamp(MASK_LOG_MIN, LONGS_LOG)) - 1;
        self.triple_mask = (1 << log.clamp(MASK_LOG_MIN, TRIPLES_LOG)) - 1;
        self.clear();
    }

    /// Forgets all places.
    pub(super) fn clear(&mut self) {
        self.longs[..=self.mask].fill(0);
        self.quads[..=self.mask].fill(0);
        self.triples[..=self.triple_mask].fill(0);
    }

    /// Inserts the places from `start` to `end`, except into the table of three bytes. Needs
    /// [`ahead`] bytes at each.
    #[inline(never)]
    pub(super) fn insert<const LONG: usize>(&mut self, data: &[u8], start: usize, end: usize) {
        let ahead = ahead::<LONG>();
        let words = data[start..(end + ahead - 1).max(start)].windows(ahead);
        let (mask, multiplier) = (self.mask, self.multiplier);
        for (index, bytes) in words.enumerate() {
            let word = load64(bytes, 0);
            let place = (start + index) as u16;
            let bucket = &mut self.longs[long::<LONG>(bytes, 0, word) & mask];
            *bucket = *bucket << 16 | u64::from(place);
            self.quads[quad(word, multiplier) & mask] = place;
        }
    }

    /// Inserts places into the table of three bytes.
    #[inline(always)]
    pub(super) fn insert_triples(&mut self, data: &[u8], start: usize, end: usize) {
        for at in start..end {
            let word = u64::from(load32(data, at));
            self.triples[triple(word) & self.triple_mask] = at as u16;
        }
    }

    /// Inserts a place and returns its best match longer than `least`, or one of length 0. `here`
    /// becomes the next place, which needs one more byte ahead.
    #[inline(always)]
    pub(super) fn find<const LONG: usize>(
        &mut self,
        search: &Search<'_>,
        here: &mut Place,
        at: usize,
        least: usize,
    ) -> Match {
        let data = search.data;
        let Place { word, long, quad } = *here;
        let place = at as u16;
        let slot = &mut self.longs[long & ((1 << LONGS_LOG) - 1)];
        let bucket = *slot;
        *slot = bucket << 16 | u64::from(place);
        let near = std::mem::replace(&mut self.quads[quad & ((1 << QUADS_LOG) - 1)], place);
        *here = self.place::<LONG>(data, at + 1);
        let nearer = std::mem::replace(&mut self.triples[triple(word) & self.triple_mask], place);
        // The last bytes that a longer match must have, and `LONG` of them at least.
        let needed = LONG.max(least + 1);
        let offset = needed.max(WORD) - WORD;
        if at + offset + WORD > search.end {
            return NONE;
        }
        let last = load64(data, at + offset);
        let shift = 64 - 8 * needed.min(WORD) as u32;
        let mut alike = false;
        for way in 0..WAYS {
            let by = distance(at, bucket >> (16 * way));
            alike |= (load64(data, at - by + offset) ^ last) << shift == 0;
        }
        if alike {
            let best = longest(search, at, bucket, least);
            if best.length > 0 {
                return best;
            }
        }
        if least >= LONG - 1 {
            return NONE;
        }
        let by = distance(at, u64::from(near));
        let differing = load64(data, at - by) ^ word;
        if differing as u32 == 0 && by.wrapping_sub(1) < WINDOW {
            let length = if differing == 0 {
                extended(search, at, by, 8)
            } else {
                (differing.trailing_zeros() >> 3) as usize
            };
            return if length > least {
                Match {
                    length,
                    distance: by,
                }
            } else {
                NONE
            };
        }
        if least >= MATCH_MIN {
            return NONE;
        }
        let by = distance(at, u64::from(nearer));
        if by.wrapping_sub(1) < search.triple && (load32(data, at - by) ^ word as u32) << 8 == 0 {
            return Match {
                length: MATCH_MIN,
                distance: by,
            };
        }
        NONE
    }
}

#[inline(always)]
fn extended(search: &Search<'_>, at: usize, by: usize, known: usize) -> usize {
    let most = MATCH_MAX.min(search.end - at);
    known + alike(search.data, at - by + known, at + known, most - known)
}

/// The longest match among the places of a bucket, the nearest of them.
#[inline(always)]
fn longest(search: &Search<'_>, at: usize, bucket: u64, least: usize) -> Match {
    let data = search.data;
    let (mut ways, mut known) = ((1 << WAYS) - 1, 0);
    if at + AT_ONCE <= search.end {
        let (mut longest, mut long) = (0, 0);
        for way in 0..WAYS {
            let by = distance(at, bucket >> (16 * way));
            let length = alike_at_once(data, at - by, at);
            let length = if by.wrapping_sub(1) < WINDOW {
                length
            } else {
                0
            };
            longest = longest.max(length << 2 | (WAYS - 1 - way) as usize);
            long |= u32::from(length == AT_ONCE) << way;
        }
        if long == 0 {
            let way = WAYS - 1 - (longest & 3) as u32;
            let length = longest >> 2;
            return if length > least {
                Match {
                    length,
                    distance: distance(at, bucket >> (16 * way)),
                }
            } else {
                NONE
            };
        }
        (ways, known) = (long, AT_ONCE);
    }
    let mut best = NONE;
    let mut least = least.max(MATCH_MIN);
    while ways != 0 && at + least < search.end {
        let by = distance(at, bucket >> (16 * ways.trailing_zeros()));
        ways &= ways - 1;
        if by.wrapping_sub(1) >= WINDOW
            || load32(data, at - by + least - 3) != load32(data, at + least - 3)
        {
            continue;
        }
        let length = extended(search, at, by, known);
        if length > least {
            best = Match {
                length,
                distance: by,
            };
            least = length;
            if length >= search.nice {
                break;
            }
        }
    }
    best
}
