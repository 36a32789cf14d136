//! Hash chains of earlier places, each linked to the one before it.

use super::bytes::{alike, load32, load64};
use super::prices::Prices;
use super::sequences::Match;
use super::symbols::{MATCH_MAX, WINDOW};

const HEADS_LOG: u32 = 15;
const QUADS_LOG: u32 = 13;
const TRIPLES_LOG: u32 = 11;
/// The fewest bytes hashed for a chain. Shorter matches are found only at their last place.
const CHAIN_BYTES: usize = 5;
/// Bytes needed ahead of a place to search there.
pub(super) const AHEAD: usize = 8;
const MULTIPLIER: u64 = 0x9e37_79b1_85eb_ca87;

/// The low 16 bits of places by their hashes: 116 KiB.
#[derive(Debug)]
pub(super) struct Chains {
    heads: [u16; 1 << HEADS_LOG],
    quads: [u16; 1 << QUADS_LOG],
    triples: [u16; 1 << TRIPLES_LOG],
    /// The previous place with the same hash, for each place of the window.
    links: [u16; WINDOW],
    /// Bits of a word that the hash leaves out.
    shift: u32,
    /// Hashes for `quads` fewer bytes than the chains, as few as four.
    multiplier: u64,
}

impl Default for Chains {
    fn default() -> Self {
        Self {
            heads: [0; 1 << HEADS_LOG],
            links: [0; WINDOW],
            shift: 64 - 8 * CHAIN_BYTES as u32,
            multiplier: MULTIPLIER << (64 - 8 * (CHAIN_BYTES - 1)),
            quads: [0; 1 << QUADS_LOG],
            triples: [0; 1 << TRIPLES_LOG],
        }
    }
}

/// The distance back to a place. It is 0 or too large if there is none.
#[inline(always)]
fn distance(at: usize, place: u16) -> usize {
    usize::from((at as u16).wrapping_sub(place))
}

impl Chains {
    /// Clears the tables and adapts the hash to the prices.
    pub(super) fn start(&mut self, prices: &Prices) {
        let bytes = prices.hashed(CHAIN_BYTES);
        self.shift = 64 - 8 * bytes as u32;
        self.multiplier = MULTIPLIER << (64 - 8 * (bytes - 1).min(6));
        self.heads.fill(0);
        self.quads.fill(0);
        self.triples.fill(0);
    }

    #[inline(always)]
    fn head(word: u64, shift: u32) -> usize {
        ((word << shift).wrapping_mul(MULTIPLIER) >> (64 - HEADS_LOG)) as usize
    }

    #[inline(always)]
    fn quad(word: u64, multiplier: u64) -> usize {
        (word.wrapping_mul(multiplier) >> (64 - QUADS_LOG)) as usize
    }

    #[inline(always)]
    fn triple(word: u64) -> usize {
        (((word as u32) << 8).wrapping_mul(0x9e37_79b1) >> (32 - TRIPLES_LOG)) as usize
    }

    /// How far back the last places of the first four and three bytes of a word are; 0 or too much where there is none.
    pub(super) fn near(&self, word: u64, at: usize) -> [usize; 2] {
        let places = [
            self.quads[Self::quad(word, self.multiplier)],
            self.triples[Self::triple(word)],
        ];
        places.map(|place| distance(at, place))
    }

    /// Inserts the places from `start` to `end`. Needs [`AHEAD`] bytes at each.
    // As a separate function it has the registers that its loop needs.
    #[inline(never)]
    pub(super) fn insert(&mut self, data: &[u8], start: usize, end: usize) {
        let (shift, multiplier) = (self.shift, self.multiplier);
        let words = data[start..(end + AHEAD - 1).max(start)].windows(AHEAD);
        for (index, word) in words.enumerate() {
            let word = load64(word, 0);
            let at = start + index;
            let place = at as u16;
            let before = std::mem::replace(&mut self.heads[Self::head(word, shift)], place);
            self.links[at & (WINDOW - 1)] = before;
            self.quads[Self::quad(word, multiplier)] = place;
            self.triples[Self::triple(word)] = place;
        }
    }

    /// Inserts a place and returns its best match longer than `least`; its length is `least` if
    /// there is none.
    // A separate function, also for its registers.
    #[inline(never)]
    pub(super) fn find(
        &mut self,
        data: &[u8],
        at: usize,
        end: usize,
        least: usize,
        attempts: u32,
        nice: usize,
    ) -> Match {
        let most = MATCH_MAX.min(end - at);
        let word = load64(data, at);
        let place = at as u16;
        let mut best = Match {
            length: least,
            distance: 0,
        };
        let shift = self.shift;
        let mut chain = std::mem::replace(&mut self.heads[Self::head(word, shift)], place);
        self.links[at & (WINDOW - 1)] = chain;
        let quad = std::mem::replace(&mut self.quads[Self::quad(word, self.multiplier)], place);
        let triple = std::mem::replace(&mut self.triples[Self::triple(word)], place);
        if least >= most {
            return best;
        }
        if least < 4 {
            let by = distance(at, quad);
            if by.wrapping_sub(1) < WINDOW && load32(data, at - by) == word as u32 {
                best = Match {
                    length: 4 + alike(data, at - by + 4, at + 4, most - 4),
                    distance: by,
                };
                if best.length >= nice || best.length == most {
                    return best;
                }
            } else if least < 3 {
                let by = distance(at, triple);
                if by.wrapping_sub(1) < WINDOW && (load32(data, at - by) ^ word as u32) << 8 == 0 {
                    best = Match {
                        length: 3,
                        distance: by,
                    };
                }
            }
        }
        // Each place of a chain is farther away than the one before it, or the chain has ended.
        let mut beyond = 0;
        let mut tail = load32(data, at + best.length.max(3) - 3);
        for _ in 0..attempts {
            let by = distance(at, chain);
            if by <= beyond || by > WINDOW {
                break;
            }
            beyond = by;
            chain = self.links[(at - by) & (WINDOW - 1)];
            if load32(data, at - by + best.length.max(3) - 3) != tail {
                continue;
            }
            let length = alike(data, at - by, at, most);
            if length > best.length {
                best = Match {
                    length,
                    distance: by,
                };
                if length >= nice || length == most {
                    break;
                }
                tail = load32(data, at + length - 3);
            }
        }
        best
    }
}
