//! The phases that turn bits into ids, ascending, and clear the bits on the way.

use super::{Phase, Search, WORDS_PER_REDUCTION};

/// How far a part was written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    /// The word after the one at hand.
    word: usize,
    /// Bits of the word at hand that are not yet written.
    bits: u64,
}

impl Search<'_> {
    /// Writes the ids of the only part.
    pub(super) fn write(&mut self, mut word: usize, limit: u64) -> Phase {
        let ids = &self.inner.parts[0].index.sources.ids;
        let buffers = &mut *self.buffers;
        for (bits, ids) in buffers.bits[0][word..]
            .iter_mut()
            .zip(ids[word * 64..].chunks(64))
        {
            if self.spent >= limit {
                return Phase::Write { word };
            }
            self.spent += u64::from(word.is_multiple_of(WORDS_PER_REDUCTION));
            if *bits != 0 {
                let mut left = std::mem::take(bits);
                self.spent += u64::from(left.count_ones());
                while left != 0 {
                    buffers.ids.extend(ids.get(left.trailing_zeros() as usize));
                    left &= left - 1;
                }
            }
            word += 1;
        }
        self.done()
    }

    /// Writes the ids of several parts, the least of all first.
    pub(super) fn merge(&mut self, limit: u64) -> Phase {
        let parts = &self.inner.parts;
        let buffers = &mut *self.buffers;
        buffers.cursors.resize(parts.len(), Cursor::default());
        loop {
            if self.spent >= limit {
                return Phase::Merge;
            }
            self.spent += 1;
            let mut least = None;
            let mut ready = true;
            for (at, cursor) in buffers.cursors.iter_mut().enumerate() {
                ready &= cursor.fill(&mut buffers.bits[at]);
                if cursor.bits == 0 {
                    continue;
                }
                let slot = (cursor.word - 1) * 64 + cursor.bits.trailing_zeros() as usize;
                let id = parts[at].index.sources.ids.get(slot).copied();
                if least.is_none_or(|(least, _)| id < least) {
                    least = Some((id, at));
                }
            }
            if !ready {
                continue;
            }
            let Some((id, at)) = least else {
                return self.done();
            };
            buffers.ids.extend(id);
            let cursor = &mut buffers.cursors[at];
            cursor.bits &= cursor.bits - 1;
        }
    }
}

impl Cursor {
    /// Goes on to the next word with bits, over a bounded number of words; false when it did not
    /// get there.
    fn fill(&mut self, bits: &mut [u64]) -> bool {
        for _ in 0..WORDS_PER_REDUCTION {
            if self.bits != 0 {
                return true;
            }
            let Some(word) = bits.get_mut(self.word) else {
                return true;
            };
            self.bits = std::mem::take(word);
            self.word += 1;
        }
        self.bits != 0
    }
}
