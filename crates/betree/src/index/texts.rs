//! The patterns of texts that are keys of the tree, found in one pass over the text of an event.
//!
//! Each pattern has a *window*: a few of its bytes, chosen so that few other patterns share them. A table leads from
//! the window to the patterns that have it there. Patterns of one attribute, one place and one width of windows are a
//! *lane*. A pattern that may be anywhere has its window looked up at each byte of the text, another one only at the
//! distances from the start or the end that patterns of its lane have. Patterns that too many others share every
//! window with, and very long ones, come last in their lane: they are looked for one by one.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;

use super::mix::mixed;
use super::windows::{Pattern, PatternKey, WIDTH_MAX, choose, window};
use crate::code::Op;
use crate::dictionary::Dictionary;
use crate::expr::Position;
use crate::memory;

/// The most patterns of a window, and the longest pattern that is found by one.
const SHARED_MAX: usize = 16;
const LENGTH_MAX: usize = 1024;
/// Bits of the filter for each place of a table.
const FILTER_BITS: usize = 8;
/// A pattern that is the last one of its window.
const LAST: u32 = 1 << 31;

/// The position of a test of a text; `None` for other tests.
pub(super) fn position(op: Op) -> Option<Position> {
    Some(match op {
        Op::Contains => Position::Anywhere,
        Op::StartsWith => Position::Start,
        Op::EndsWith => Position::End,
        _ => return None,
    })
}

/// A window that patterns have at a distance; the first of them, counted from 1.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    window: u64,
    distance: u32,
    first: u32,
}

/// Patterns of one attribute, one position and one width of windows.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) attribute: u16,
    pub(crate) position: Position,
    width: usize,
    /// The distances at which windows are, ascending; empty for those that may be anywhere.
    distances: Vec<u32>,
    slots: Vec<Slot>,
    filter: Vec<u64>,
    /// Its patterns among all, and how many of them have a window.
    pub(crate) patterns: Range<usize>,
    pub(crate) with_window: usize,
}

/// All patterns that are keys of a tree.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// In the order of attributes and positions.
    pub(crate) lanes: Vec<Lane>,
    patterns: Vec<Pattern>,
    /// Random for each index, so that an attacker cannot choose colliding windows.
    seed: u64,
}

impl Texts {
    pub(crate) fn new(mut keys: Vec<PatternKey>, dictionary: &Dictionary) -> Self {
        let mut out = Self {
            seed: RandomState::new().build_hasher().finish(),
            ..Self::default()
        };
        let width = |key: &PatternKey| dictionary.text(key.2).len().min(WIDTH_MAX);
        keys.sort_unstable_by_key(|key| (key.0, key.1, width(key), key.2));
        keys.dedup();
        let same = |a: &PatternKey, b: &PatternKey| (a.0, a.1, width(a)) == (b.0, b.1, width(b));
        for lane in keys.chunk_by(same) {
            let width = width(&lane[0]);
            if width > 0 {
                out.add(lane, width, dictionary);
            }
        }
        out
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// How many patterns there are.
    pub(crate) fn len(&self) -> usize {
        self.patterns.len()
    }

    pub(crate) fn pattern(&self, at: usize) -> Option<Pattern> {
        self.patterns.get(at).copied()
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let lanes = self.lanes.iter();
        memory::of(&self.patterns)
            + lanes
                .map(|lane| {
                    memory::of(&lane.slots) + memory::of(&lane.filter) + memory::of(&lane.distances)
                })
                .sum::<usize>()
    }

    fn add(&mut self, keys: &[PatternKey], width: usize, dictionary: &Dictionary) {
        let (attribute, position, _) = keys[0];
        let mut chosen = choose(keys, width, dictionary);
        chosen.sort_unstable_by_key(|(window, distance, pattern)| {
            (*window, *distance, pattern.string)
        });
        let same = |a: &(u64, u32, Pattern), b: &(u64, u32, Pattern)| (a.0, a.1) == (b.0, b.1);
        let count = chosen.chunk_by(same).count();
        let size = (count * 3 / 2).next_power_of_two().max(2);
        let mut lane = Lane {
            attribute,
            position,
            width,
            distances: Vec::new(),
            slots: vec![Slot::default(); size],
            filter: vec![0; (size * FILTER_BITS).div_ceil(64)],
            patterns: self.patterns.len()..self.patterns.len() + keys.len(),
            with_window: 0,
        };
        let mut alone: Vec<Pattern> = Vec::new();
        for group in chosen.chunk_by(same) {
            let (window, distance, _) = group[0];
            let patterns = group.iter().map(|(.., pattern)| *pattern);
            let is_short = |pattern: &Pattern| pattern.length as usize <= LENGTH_MAX;
            let first = self.patterns.len() as u32 + 1;
            for pattern in patterns {
                let count = self.patterns.len() + 1 - first as usize;
                match is_short(&pattern) && count < SHARED_MAX {
                    true => self.patterns.push(pattern),
                    false => alone.push(pattern),
                }
            }
            if self.patterns.len() < first as usize {
                continue;
            }
            if let Some(last) = self.patterns.last_mut() {
                last.before |= LAST;
            }
            if position != Position::Anywhere {
                lane.distances.push(distance);
            }
            let hash = mixed(self.seed, window, distance);
            lane.note(hash);
            let mut at = hash as usize & (size - 1);
            while lane.slots[at].first != 0 {
                at = (at + 1) & (size - 1);
            }
            lane.slots[at] = Slot {
                window,
                distance,
                first,
            };
        }
        lane.with_window = self.patterns.len() - lane.patterns.start;
        self.patterns.append(&mut alone);
        lane.distances.sort_unstable();
        lane.distances.dedup();
        self.lanes.push(lane);
    }

    /// Calls `found` with the number of each pattern of a lane that may be where the text has a window: those of which
    /// the window is at a byte. Returns how many there were.
    #[inline]
    pub(crate) fn at(
        &self,
        lane: &Lane,
        text: &[u8],
        at: usize,
        distance: u32,
        mut found: impl FnMut(usize),
    ) -> u64 {
        let window = window(text, at, lane.width);
        let hash = mixed(self.seed, window, distance);
        if !lane.may_have(hash) {
            return 0;
        }
        let mask = lane.slots.len().wrapping_sub(1);
        let mut way = hash as usize & mask;
        let mut count = 0;
        while let Some(slot) = lane.slots.get(way).filter(|slot| slot.first != 0) {
            if slot.window == window && slot.distance == distance {
                for number in slot.first as usize - 1.. {
                    count += 1;
                    found(number);
                    let last = self.patterns.get(number).map_or(LAST, |one| one.before);
                    if last & LAST != 0 {
                        break;
                    }
                }
                break;
            }
            way = (way + 1) & mask;
        }
        count
    }

    /// Whether a text has a pattern whose window is at a byte, and where it has to be for its position.
    #[inline]
    pub(crate) fn is_there(
        &self,
        lane: &Lane,
        number: usize,
        (text, at): (&[u8], usize),
        dictionary: &Dictionary,
    ) -> bool {
        let Some(pattern) = self.patterns.get(number) else {
            return false;
        };
        let Some(start) = at.checked_sub((pattern.before & !LAST) as usize) else {
            return false;
        };
        let end = start + pattern.length as usize;
        let fits = match lane.position {
            Position::Anywhere => end <= text.len(),
            Position::Start => start == 0 && end <= text.len(),
            Position::End => end == text.len(),
        };
        let is_whole = pattern.length as usize == lane.width;
        fits && (is_whole
            || text.get(start..end) == Some(dictionary.text(pattern.string).as_bytes()))
    }
}

impl Lane {
    /// The bytes of a text at which windows are looked up, by their number; `None` beyond the last.
    #[inline]
    pub(crate) fn place(&self, text: &[u8], number: usize) -> Option<Place> {
        let last = text.len().checked_sub(self.width)?;
        if self.position == Position::Anywhere {
            return (number <= last).then_some(Place {
                at: number,
                distance: 0,
            });
        }
        let distance = *self.distances.get(number)? as usize;
        let from_end = last.checked_sub(distance)?;
        Some(Place {
            at: match self.position {
                Position::End => from_end,
                _ => distance,
            },
            distance: distance as u32,
        })
    }

    fn bit(&self, hash: u64) -> (usize, u64) {
        let bits = self.filter.len() * 64;
        let bit = (hash >> 32) as usize & (bits - 1);
        (bit / 64, 1 << (bit % 64))
    }

    fn note(&mut self, hash: u64) {
        let (word, bit) = self.bit(hash);
        self.filter[word] |= bit;
    }

    #[inline]
    fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = self.bit(hash);
        self.filter.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// A byte of a text at which a window is looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) at: usize,
    pub(crate) distance: u32,
}
