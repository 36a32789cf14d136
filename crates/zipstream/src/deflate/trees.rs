//! Binary trees of earlier places, ordered by the bytes that follow them: the nearest match of each length.
//!
//! All places with the same first three bytes form a tree. The latest place is its root, so that each place is
//! older than its parent. A search walks down and splits the tree at the place: what it meets becomes the two
//! children of the new root.

use super::bytes::{alike, load32};
use super::symbols::{MATCH_MAX, MATCH_MIN, WINDOW};

const HEADS_LOG: u32 = 16;
/// Bytes needed ahead of a place to search there.
pub(super) const AHEAD: usize = 4;
/// Places are numbered on from content to content. Beyond this number the tables are cleared.
const NUMBERS_MAX: usize = 1 << 31;

/// Places that are compared in a search, and the length that ends it.
const ATTEMPTS: usize = 24;
const NICE: usize = 128;

/// The trees of a window: 512 KiB.
#[derive(Debug)]
pub(super) struct Trees {
    /// The number of the latest place by the hash of its first three bytes.
    heads: Vec<u32>,
    /// The roots of what is smaller and of what is larger, for each place of the window.
    children: Vec<[u32; 2]>,
    /// The number of the first place of this content. Smaller ones belong to earlier contents.
    base: usize,
    /// The number behind the last place.
    end: usize,
}

impl Default for Trees {
    fn default() -> Self {
        Self {
            heads: vec![0; 1 << HEADS_LOG],
            children: vec![[0; 2]; WINDOW],
            base: 1,
            end: 1,
        }
    }
}

impl Trees {
    /// Forgets everything before another content of this size.
    pub(super) fn start(&mut self, bytes: usize) {
        self.base = self.end;
        if self.base + bytes > NUMBERS_MAX {
            self.heads.fill(0);
            self.base = 1;
        }
        self.end = self.base + bytes;
    }

    /// How far back a place is, if it is a place of this content within the window.
    #[inline(always)]
    fn distance(&self, at: usize, number: u32) -> Option<usize> {
        let place = (number as usize).checked_sub(self.base)?;
        let by = at.wrapping_sub(place);
        (by.wrapping_sub(1) < WINDOW).then_some(by)
    }

    /// Inserts a place.
    pub(super) fn insert(&mut self, data: &[u8], at: usize, end: usize) {
        self.find(data, at, end, |_, _| {});
    }

    /// Inserts a place and appends its matches, each longer and farther than the one before it.
    /// Needs [`AHEAD`] bytes.
    #[inline(always)]
    pub(super) fn find(
        &mut self,
        data: &[u8],
        at: usize,
        end: usize,
        mut put: impl FnMut(usize, usize),
    ) {
        let mut longest = MATCH_MIN - 1;
        let most = MATCH_MAX.min(end - at);
        let head = &mut self.heads[hash(load32(data, at) << 8)];
        let mut node = std::mem::replace(head, (self.base + at) as u32);
        // Where the next smaller and the next larger place belong.
        let mut open = [(at & (WINDOW - 1), 0), (at & (WINDOW - 1), 1)];
        // What is alike for all smaller and for all larger places from here on.
        let mut sure = [0, 0];
        for _ in 0..ATTEMPTS {
            let Some(by) = self.distance(at, node) else {
                break;
            };
            let place = (at - by) & (WINDOW - 1);
            let same = sure[0].min(sure[1]);
            let length = same + alike(data, at - by + same, at + same, most - same);
            if length > longest {
                longest = length;
                put(length, by);
            }
            // The children of the last place of the window gave way to those of this one.
            let children = if by == WINDOW {
                [0; 2]
            } else {
                self.children[place]
            };
            if length >= most.min(NICE) {
                for (side, child) in children.into_iter().enumerate() {
                    self.children[open[side].0][open[side].1] = child;
                }
                return;
            }
            let side = usize::from(data[at - by + length] > data[at + length]);
            self.children[open[side].0][open[side].1] = node;
            open[side] = (place, 1 - side);
            sure[side] = length;
            node = children[1 - side];
        }
        for (place, side) in open {
            self.children[place][side] = 0;
        }
    }
}

/// Of three bytes, which are the upper ones.
#[inline(always)]
fn hash(word: u32) -> usize {
    (word.wrapping_mul(0x9e37_79b1) >> (32 - HEADS_LOG)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(bytes: usize, letters: u32) -> Vec<u8> {
        let mut seed = letters;
        let next = |_| {
            seed = seed.wrapping_mul(0x915f_77f5).wrapping_add(12_345);
            (seed >> 16) as u8 % letters as u8
        };
        (0..bytes).map(next).collect()
    }

    /// The nearest match of each length, by trying each distance.
    fn all(data: &[u8], at: usize) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut longest = MATCH_MIN - 1;
        for distance in 1..=at.min(WINDOW) {
            let most = MATCH_MAX.min(data.len() - at);
            let length = alike(data, at - distance, at, most);
            if length > longest {
                longest = length;
                found.push((length, distance));
            }
        }
        found
    }

    #[test]
    fn the_nearest_match_of_each_length_is_found() {
        let mut trees = Trees::default();
        let repeated = noise(WINDOW, 250).repeat(2);
        let far = noise(WINDOW + 1, 250).repeat(2);
        for data in [noise(3000, 8), noise(3000, 30), repeated, far] {
            trees.start(data.len());
            for at in 0..data.len() - AHEAD {
                let mut found = Vec::new();
                trees.find(&data, at, data.len(), |length, by| found.push((length, by)));
                // The last places are enough: what is long goes on.
                if data.len() < 4000 || at + 300 > data.len() || at == WINDOW {
                    assert_eq!(found, all(&data, at), "at {at} of {}", data.len());
                }
            }
        }
    }

    #[test]
    fn earlier_contents_are_forgotten() {
        let mut trees = Trees::default();
        let data = noise(1000, 200);
        for _ in 0..3 {
            trees.start(data.len());
            let mut found = 0;
            for at in 0..data.len() - AHEAD {
                trees.find(&data, at, data.len(), |_, _| found += 1);
            }
            assert_eq!(found, all_count(&data));
        }
        trees.end = NUMBERS_MAX;
        trees.start(data.len());
        assert_eq!(trees.base, 1);
        trees.find(&data, 0, data.len(), |_, _| panic!("nothing is before it"));
    }

    fn all_count(data: &[u8]) -> usize {
        (0..data.len() - AHEAD).map(|at| all(data, at).len()).sum()
    }
}
