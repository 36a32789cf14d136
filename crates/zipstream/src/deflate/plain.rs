//! Stretches whose matches hardly pay off, as in base64, hexadecimal digits or samples: literals alone
//! where they are shorter, and rows instead of a whole search for what follows.
//!
//! Rows find what comes again for long, as [`super::dull`] says. A stretch of another kind ends them.

use super::block::Lengths;
use super::prices::SMALL;
use super::sequences::{Freqs, Sequences};
use super::split;
use super::symbols::END;

/// The share of a stretch that matches must save to be searched for: one part in this many.
const SAVED: u64 = 512;
/// Literals that cost less, in bits of 64 KiB, have few letters, of which matches become long.
const CHEAP: u64 = 5 << 15;
/// Literals alone are counted if the estimate is within this many sixty-fourths of what there is.
const NEAR: u64 = 66;
/// Bits of a header for matches, about.
const MATCHES_HEADER: u64 = 160;
/// Fewer literals than one in this many bytes are no sample.
const SAMPLE: usize = 4;
/// The most stretches searched in rows before the next whole search.
const ROWS_MOST: u32 = 15;
/// Rows end with a stretch of which they match more than one byte in this many,
const MATCHED: usize = 32;
/// or whose literals cost more or less than before by one part in this many.
const CHANGED: u64 = 32;

/// What the stretches so far have shown.
#[derive(Debug, Default)]
pub(super) struct Plain {
    /// Stretches that are searched in rows from here on, and how many they were at the start.
    rows: u32,
    started: u32,
    /// Bits of 64 KiB of literals of the last stretch that was searched as a whole.
    cost: u64,
}

impl Plain {
    /// Whether the next stretch is searched in rows.
    pub(super) fn in_rows(&self) -> bool {
        self.rows > 0
    }

    /// Forgets what there was, for another content.
    pub(super) fn start(&mut self) {
        (self.rows, self.started) = (0, 0);
    }

    /// Takes a stretch, whose sequences begin at `first` of the list and have the frequencies of
    /// `sequences`. Returns its literals if these are shorter alone.
    pub(super) fn judge(&mut self, content: &[u8], sequences: &Sequences) -> Option<Freqs> {
        let literals = sequences.freqs.literals();
        let count: usize = literals.iter().map(|freq| *freq as usize).sum();
        if count * SAMPLE < content.len() {
            self.start();
            return None;
        }
        let cost = (split::literal_bits(literals) << 16) / count.max(1) as u64;
        if self.rows > 0 {
            self.rows -= 1;
            let matched = content.len() - count.min(content.len());
            let is_as_before = cost.abs_diff(self.cost) * CHANGED < self.cost;
            if matched * MATCHED > content.len() || !is_as_before {
                self.start();
            }
            return None;
        }
        let extra = sequences.freqs.extra_bits();
        let estimate = (cost * content.len() as u64) >> 16;
        // The headers of a small content are a good part of it, and one with matches is longer.
        let is_small = content.len() <= SMALL;
        let header = if is_small { MATCHES_HEADER } else { 0 };
        let near = (split::bits(&sequences.freqs) + extra + header) * NEAR;
        if (cost < CHEAP && !is_small) || estimate * 64 > near {
            self.started = 0;
            return None;
        }
        if count == content.len() {
            self.search_rows(cost);
            return None;
        }
        let mut plain = Freqs::default();
        plain.count(content);
        let bits = |freqs: &Freqs| {
            let mut all = freqs.clone();
            all.litlens[END] = 1;
            let lengths = Lengths::of(&all);
            let header = if is_small { lengths.header_bits() } else { 0 };
            lengths.bits(&all) + header
        };
        let (alone, own) = (bits(&plain), bits(&sequences.freqs) + extra);
        if alone.saturating_sub(own) * SAVED < alone {
            self.search_rows(cost);
        } else {
            self.started = 0;
        }
        (alone <= own).then_some(plain)
    }

    /// Starts rows, twice as many as the last time.
    fn search_rows(&mut self, cost: u64) {
        self.started = (2 * self.started + 1).min(ROWS_MOST);
        (self.rows, self.cost) = (self.started, cost);
    }
}
