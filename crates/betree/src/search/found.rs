//! The patterns of texts that a search found.

use crate::expr::Position;
use crate::index::texts::{Lane, Texts};

/// The patterns that the event's texts have.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The strings of patterns, lane by lane.
    pub(super) strings: Vec<u32>,
    /// Where those of each lane end.
    pub(super) ends: Vec<usize>,
    /// The numbers of the same patterns, and a bit for each.
    numbers: Vec<u32>,
    bits: Vec<u64>,
    /// Patterns of the current lane that windows led to.
    pub(super) looks: usize,
}

impl Found {
    /// Forgets what was found for another event or in another part.
    pub(super) fn begin(&mut self, texts: &Texts) {
        for number in self.numbers.drain(..) {
            if let Some(word) = self.bits.get_mut(number as usize / 64) {
                *word = 0;
            }
        }
        let words = texts.len().div_ceil(64);
        if self.bits.len() < words {
            self.bits.resize(words, 0);
        }
        self.strings.clear();
        self.ends.clear();
    }

    /// The strings of patterns that a text has at a position.
    pub(super) fn strings(&self, texts: &Texts, attribute: u16, position: Position) -> &[u32] {
        let key = (attribute, position);
        let of = |lane: &Lane| (lane.attribute, lane.position);
        let first = texts.lanes.partition_point(|lane| of(lane) < key);
        let behind = texts.lanes.partition_point(|lane| of(lane) <= key);
        let end = |lanes: usize| {
            let last = lanes.checked_sub(1).and_then(|last| self.ends.get(last));
            last.copied().unwrap_or(0)
        };
        self.strings.get(end(first)..end(behind)).unwrap_or(&[])
    }

    pub(super) fn has(&self, number: usize) -> bool {
        let word = self.bits.get(number / 64).copied().unwrap_or(0);
        word >> (number % 64) & 1 == 1
    }

    pub(super) fn add(&mut self, number: usize, string: u32) {
        if let Some(word) = self.bits.get_mut(number / 64) {
            *word |= 1 << (number % 64);
            self.numbers.push(number as u32);
            self.strings.push(string);
        }
    }
}
