//! Words of an event for its counters: one bit per counter, by its number.
//!
//! A cap holds for an event without the counter, and an event has few of all counters. So a clear bit says that a cap
//! holds; a set one says nothing, for several counters share a bit where there are many.

use std::ops::Range;

use super::guard::Guard;
use crate::code::Head;
use crate::event::EventValues;

/// Bits of a word.
const BITS: usize = 64;
/// The most words.
const COUNTERS_WORDS_MAX: usize = 256;
/// Counters of which the bits are set in one step.
const STEP: usize = 64;

/// The place of the bits of counters.
#[derive(Debug)]
pub(super) struct Counters {
    attribute: usize,
    words: Range<usize>,
}

impl Counters {
    /// The bits of this number of counters, in words of a range; `None` when there is no room.
    pub(super) fn new(attribute: usize, counters: usize, room: Range<usize>) -> Option<Self> {
        let wanted = counters.div_ceil(BITS).clamp(1, COUNTERS_WORDS_MAX);
        let count = wanted.min(room.len());
        (count > 0).then_some(Self {
            attribute,
            words: room.start..room.start + count,
        })
    }

    /// How many words there are.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The word after the last.
    pub(super) fn end(&self) -> usize {
        self.words.end
    }

    /// Whether guards look at any of the bits.
    pub(super) fn is_used(&self, used: &[u64]) -> bool {
        let words = used.get(self.words.clone()).unwrap_or(&[]);
        words.iter().any(|word| *word != 0)
    }

    /// The word and the bit of a counter.
    fn place(&self, slot: u32) -> (usize, u64) {
        let bit = slot as usize % (self.words.len() * BITS);
        (self.words.start + bit / BITS, 1 << (bit % BITS))
    }

    /// Whether an event has what caps need.
    fn is_known(&self, event: &EventValues) -> bool {
        event.now().is_some() && event.is_defined(self.attribute)
    }

    /// In how many steps the bits of an event are set.
    pub(super) fn steps(&self, event: &EventValues) -> usize {
        match self.is_known(event) {
            true => event.counters().len().div_ceil(STEP),
            false => 1,
        }
    }

    /// Sets the bits of a step. Returns the reductions of that.
    pub(super) fn set(&self, step: usize, event: &EventValues, words: &mut [u64]) -> u64 {
        if !self.is_known(event) {
            // Only the programs say what a cap is then.
            let own = words.get_mut(self.words.clone()).unwrap_or(&mut []);
            own.fill(u64::MAX);
            return 1;
        }
        let all = event.counters();
        let slots = all.get(step * STEP..).unwrap_or(&[]);
        let slots = slots.get(..STEP).unwrap_or(slots);
        for slot in slots {
            let (word, bit) = self.place(*slot);
            if let Some(word) = words.get_mut(word) {
                *word |= bit;
            }
        }
        slots.len() as u64
    }

    /// The guard that confirms a cap.
    pub(super) fn guard(&self, test: &[u32]) -> Option<Guard> {
        let [head, slot, ..] = test else {
            return None;
        };
        let head = Head(*head);
        let (word, mask) = self.place(*slot);
        let confirms = !head.flag() && head.attribute() == self.attribute;
        confirms.then_some(Guard {
            word: word as u16,
            wants: false,
            mask,
            is_exact: false,
            confirms: true,
            pass: 1.0,
        })
    }
}
