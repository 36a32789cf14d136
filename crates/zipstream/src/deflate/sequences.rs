//! The result of a search: literals and matches in order, with symbol frequencies.
//!
//! A sequence is a number of literals and the match after them, packed into 64 bits. The literals
//! themselves stay in the content.

use super::symbols::{
    DISTANCES, END, LITLENS, MATCH_MAX, MATCH_MIN, distance_extra, distance_slot, length_extra,
    length_slot,
};

/// Bits for the number of literals and for the length. The distance has 16 bits, its slot the rest.
const FIELD_BITS: u32 = 20;
const FIELD_MASK: u64 = (1 << FIELD_BITS) - 1;
/// The most content that the fields can express.
pub(super) const FIELD_MAX: usize = FIELD_MASK as usize;

/// An earlier occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) length: usize,
    pub(super) distance: usize,
}

/// The frequency of each symbol.
#[derive(Debug, Clone)]
pub(super) struct Freqs {
    pub(super) litlens: [u32; LITLENS],
    pub(super) distances: [u32; DISTANCES],
}

impl Default for Freqs {
    fn default() -> Self {
        Self {
            litlens: [0; LITLENS],
            distances: [0; DISTANCES],
        }
    }
}

impl Freqs {
    pub(super) fn clear(&mut self) {
        self.litlens.fill(0);
        self.distances.fill(0);
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (sum, freq) in self.litlens.iter_mut().zip(&other.litlens) {
            *sum += freq;
        }
        for (sum, freq) in self.distances.iter_mut().zip(&other.distances) {
            *sum += freq;
        }
    }

    /// The frequency of each literal.
    pub(super) fn literals(&self) -> &[u32] {
        &self.litlens[..END]
    }

    /// Counts literals.
    pub(super) fn count(&mut self, content: &[u8]) {
        // Several tables, so that equal bytes in a row do not wait for each other.
        let (long, short) = content.split_at(content.len() / 2);
        let mut counts = [0_u32; 256];
        for (&one, &other) in long.iter().zip(short) {
            self.litlens[usize::from(one)] += 1;
            counts[usize::from(other)] += 1;
        }
        for &byte in &short[long.len()..] {
            counts[usize::from(byte)] += 1;
        }
        let sums = self.litlens[..END].iter_mut().zip(counts);
        sums.for_each(|(sum, count)| *sum += count);
    }

    /// Extra bits of lengths and distances.
    pub(super) fn extra_bits(&self) -> u64 {
        let lengths = self.litlens[END + 1..].iter().enumerate();
        let lengths = lengths.map(|(slot, freq)| u64::from(*freq) * u64::from(length_extra(slot)));
        let distances = self.distances.iter().enumerate();
        let distances =
            distances.map(|(slot, freq)| u64::from(*freq) * u64::from(distance_extra(slot)));
        lengths.sum::<u64>() + distances.sum::<u64>()
    }
}

/// The sequences of a stretch of content, and their symbol frequencies.
#[derive(Debug, Default)]
pub(super) struct Sequences {
    pub(super) list: Vec<u64>,
    pub(super) freqs: Freqs,
}

impl Sequences {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.freqs.clear();
    }

    /// Counts a literal.
    #[inline(always)]
    pub(super) fn literal(&mut self, byte: u8) {
        self.freqs.litlens[usize::from(byte)] += 1;
    }

    /// Takes back a literal that was counted.
    pub(super) fn uncount(&mut self, byte: u8) {
        self.freqs.litlens[usize::from(byte)] -= 1;
    }

    /// Adds literals, which are counted already, and a match. A match longer than one symbol can
    /// express becomes several: its length must be [`whole`].
    #[inline(always)]
    pub(super) fn push(&mut self, literals: usize, length: usize, distance: usize) {
        let slot = distance_slot(distance) & (DISTANCES - 1);
        let mut last = length;
        if length > MATCH_MAX {
            let (full, rest) = (length / MATCH_MAX, length % MATCH_MAX);
            last = if rest == 0 { MATCH_MAX } else { rest };
            let full = (full - usize::from(rest == 0)) as u32;
            self.freqs.litlens[LITLENS - 3] += full;
            self.freqs.distances[slot] += full;
        }
        // The slots of lengths are below 29.
        self.freqs.litlens[(END + 1 + length_slot(last)).min(LITLENS - 1)] += 1;
        self.freqs.distances[slot] += 1;
        self.list.push(
            literals as u64
                | (length as u64) << FIELD_BITS
                | (distance as u64) << (2 * FIELD_BITS)
                | (slot as u64) << (2 * FIELD_BITS + 16),
        );
    }

    /// Ends a span: the bytes from `at` on are literals, and so are those from `from` on, which are
    /// counted already. Returns the end.
    #[inline(always)]
    pub(super) fn end_span(&mut self, data: &[u8], at: usize, from: usize, end: usize) -> usize {
        for &byte in &data[at..end] {
            self.literal(byte);
        }
        self.close(end - from);
        end
    }

    /// Adds literals without a match after them, which are counted already.
    pub(super) fn close(&mut self, literals: usize) {
        if literals > 0 {
            self.list.push(literals as u64);
        }
    }
}

/// An unpacked sequence. Without a match the length is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sequence {
    pub(super) literals: usize,
    pub(super) length: usize,
    pub(super) distance: usize,
    /// The slot of the distance.
    pub(super) slot: usize,
}

impl Sequence {
    #[inline(always)]
    pub(super) fn of(packed: u64) -> Self {
        Self {
            literals: (packed & FIELD_MASK) as usize,
            length: (packed >> FIELD_BITS & FIELD_MASK) as usize,
            distance: usize::from((packed >> (2 * FIELD_BITS)) as u16),
            slot: (packed >> (2 * FIELD_BITS + 16)) as usize,
        }
    }
}

/// The largest length up to this one that matches can express: the rest is not 1 or 2.
#[inline(always)]
pub(super) fn whole(length: usize) -> usize {
    let rest = length % MATCH_MAX;
    if length > MATCH_MAX && rest < MATCH_MIN {
        length - rest
    } else {
        length
    }
}
