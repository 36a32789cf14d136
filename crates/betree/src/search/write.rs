//! The phases that convert bits to ascending ids and clear the bits.

use super::Search;
use super::bits::Bits;
use super::phase::{Cursor, Phase, WORDS_PER_REDUCTION};
use crate::simd;

/// Reductions of the ids of a word, in addition to one per id: they are not in the cache, unless those of the word
/// before were written just now.
const WORD_REDUCTIONS: u64 = 40;
const NEXT_REDUCTIONS: u64 = 8;

impl Search<'_> {
    /// Writes the ids of the only part.
    pub(super) fn write(&mut self, mut next: usize, limit: u64) -> Phase {
        let ids = &self.state.parts[0].index.sources.ids;
        let buffers = &mut *self.buffers;
        loop {
            if self.spent >= limit {
                return Phase::Write { word: next };
            }
            let Some((word, found)) = buffers.bits[0].take(next / 64) else {
                break;
            };
            self.spent += u64::from(found.count_ones());
            self.spent += match word == next {
                true => NEXT_REDUCTIONS,
                false => WORD_REDUCTIONS,
            };
            next = word + 1;
            let ids = ids.get(word * 64..).unwrap_or(&[]);
            let ids = ids.get(..64).unwrap_or(ids);
            let place = &mut buffers.ids[buffers.found..];
            buffers.found += simd::compress(buffers.isa, ids, found, place);
        }
        self.done()
    }

    /// Copies the bits of the only part.
    pub(super) fn words(&mut self, limit: u64) -> Phase {
        let buffers = &mut *self.buffers;
        loop {
            let word = buffers.bitmap.len();
            if self.spent >= limit {
                return Phase::Words;
            }
            let left = buffers.bits[0].words().get(word..).unwrap_or(&[]);
            let Some(bits) = left.chunks(WORDS_PER_REDUCTION).next() else {
                break;
            };
            self.spent += 1;
            buffers.bitmap.extend_from_slice(bits);
            buffers.bits[0].clear_group(word / WORDS_PER_REDUCTION);
        }
        buffers.dirty = false;
        Phase::Done
    }

    /// Sets a bit for each written id.
    pub(super) fn rank(&mut self, at: usize, limit: u64) -> Phase {
        let all = self.state.ids();
        let buffers = &mut *self.buffers;
        if at == 0 {
            buffers.bitmap.resize(all.len().div_ceil(64), 0);
        }
        let found = buffers.ids.get(..buffers.found).unwrap_or(&[]);
        for (at, id) in found.iter().enumerate().skip(at) {
            if self.spent >= limit {
                return Phase::Rank { at };
            }
            self.spent += 1;
            if let Ok(bit) = all.binary_search(id) {
                buffers.bitmap[bit / 64] |= 1 << (bit % 64);
            }
        }
        Phase::Done
    }

    /// Writes the ids of several parts, merged in ascending order.
    pub(super) fn merge(&mut self, limit: u64) -> Phase {
        let parts = &self.state.parts;
        let buffers = &mut *self.buffers;
        buffers.cursors.resize(parts.len(), Cursor::default());
        loop {
            if self.spent >= limit {
                return Phase::Merge;
            }
            self.spent += 1;
            let mut least = None;
            for (at, cursor) in buffers.cursors.iter_mut().enumerate() {
                cursor.fill(&mut buffers.bits[at]);
                if cursor.bits == 0 {
                    continue;
                }
                let slot = cursor.word * 64 + cursor.bits.trailing_zeros() as usize;
                let id = parts[at].index.sources.ids.get(slot).copied();
                if least.is_none_or(|(least, _)| id < least) {
                    least = Some((id, at));
                }
            }
            let Some((id, at)) = least else {
                return self.done();
            };
            id.into_iter().for_each(|id| buffers.push(id));
            let cursor = &mut buffers.cursors[at];
            cursor.bits &= cursor.bits - 1;
        }
    }
}

impl Cursor {
    /// Moves to the next word with bits, if there is one and the current word has none left.
    fn fill(&mut self, bits: &mut Bits) {
        if self.bits == 0
            && let Some((word, found)) = bits.take(self.group)
        {
            (self.word, self.bits, self.group) = (word, found, word / 64);
        }
    }
}
