//! Items in the order of their times, as far as bounded memory holds those that wait.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What an item takes beyond its own bytes.
const ITEM_BYTES: usize = 64;

/// An item that waits; of equal times, the one that came first goes first.
#[derive(Debug)]
struct Held<T> {
    time_ns: i64,
    number: u64,
    bytes: usize,
    item: T,
}

impl<T> Held<T> {
    fn key(&self) -> (i64, u64) {
        (self.time_ns, self.number)
    }
}

impl<T> PartialEq for Held<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Held<T> {}

impl<T> PartialOrd for Held<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Held<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Brings items into the order of their times. Items of equal times stay in the order in which they came.
///
/// It holds as many as fit into its memory, and then gives out the earliest. An item that comes after a later one was
/// given out is given out next, and counts as [`late`](Self::late).
///
/// ```
/// let mut sorter = fixlog::Sorter::new(1 << 20);
/// for (time, item) in [(3, 'c'), (1, 'a'), (3, 'd'), (2, 'b')] {
///     sorter.push(time, 1, item);
/// }
/// assert_eq!(sorter.next(), None, "there is room for more");
/// let all: String = std::iter::from_fn(|| sorter.rest()).collect();
/// assert_eq!((&all[..], sorter.late()), ("abcd", 0));
/// ```
#[derive(Debug)]
pub struct Sorter<T> {
    held: BinaryHeap<Reverse<Held<T>>>,
    bytes: usize,
    bytes_max: usize,
    number: u64,
    last_ns: i64,
    late: u64,
}

impl<T> Sorter<T> {
    /// Holds about as many bytes.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self {
            held: BinaryHeap::new(),
            bytes: 0,
            bytes_max,
            number: 0,
            last_ns: i64::MIN,
            late: 0,
        }
    }

    /// Adds an item of this time and size.
    pub fn push(&mut self, time_ns: i64, bytes: usize, item: T) {
        let bytes = bytes.saturating_add(ITEM_BYTES);
        self.bytes = self.bytes.saturating_add(bytes);
        self.held.push(Reverse(Held {
            time_ns,
            number: self.number,
            bytes,
            item,
        }));
        self.number += 1;
    }

    /// The earliest item, if more are held than there is memory for.
    #[expect(
        clippy::should_implement_trait,
        reason = "it ends whenever there is room, and goes on afterwards"
    )]
    pub fn next(&mut self) -> Option<T> {
        match self.bytes > self.bytes_max {
            true => self.rest(),
            false => None,
        }
    }

    /// The earliest item, however few there are: for the end.
    pub fn rest(&mut self) -> Option<T> {
        let Reverse(first) = self.held.pop()?;
        self.bytes = self.bytes.saturating_sub(first.bytes);
        self.late += u64::from(first.time_ns < self.last_ns);
        self.last_ns = self.last_ns.max(first.time_ns);
        Some(first.item)
    }

    /// How many items were given out behind later ones.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_sorted_and_what_comes_later_is_counted() {
        let mut random = 11_u64;
        let mut below = move |limit: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % limit
        };
        for room in [1, 2, 10, 1000] {
            let mut sorter = Sorter::new(room * ITEM_BYTES);
            let (mut given, mut all) = (Vec::new(), Vec::new());
            for number in 0..200 {
                let time = number as i64 + below(12) as i64;
                all.push((time, number));
                sorter.push(time, 0, (time, number));
                given.extend(std::iter::from_fn(|| sorter.next()));
                assert!(sorter.held.len() <= room);
            }
            given.extend(std::iter::from_fn(|| sorter.rest()));
            let mut latest = i64::MIN;
            let late = given.iter().filter(|(time, _)| {
                let is_late = *time < latest;
                latest = latest.max(*time);
                is_late
            });
            assert_eq!(late.count() as u64, sorter.late());
            // An item is at most 12 places from where it belongs.
            assert_eq!(sorter.late() == 0, room >= 10 || given.is_sorted());
            all.sort_unstable();
            match sorter.late() {
                0 => assert_eq!(given, all),
                _ => given.sort_unstable(),
            }
            assert_eq!(given, all, "each once");
        }
    }
}
