//! The entries that threads share, in blocks of about the same size in bytes.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::read::{ArchiveReader, Entry, ReadAt};

/// Entries that a thread takes at a time: enough to read ahead, few enough to share the rest.
const BLOCK_ENTRIES: usize = 32;
/// The bytes at which a block ends.
const BLOCK_BYTES: u64 = 1 << 20;
/// A block from this size on is handed out before the rest: the last one that a thread takes may keep
/// all others waiting.
const LARGE_BYTES: u64 = 4 * BLOCK_BYTES;

/// Positions of directory records, in blocks that threads take in turn.
#[derive(Debug, Default)]
pub(super) struct Work {
    positions: Vec<u64>,
    blocks: Vec<Block>,
    next: AtomicUsize,
}

/// Entries that a thread takes at a time.
#[derive(Debug, Clone)]
struct Block {
    entries: Range<usize>,
    bytes: u64,
}

impl Work {
    /// Adds an entry behind the others.
    pub(super) fn push(&mut self, entry: &Entry<'_>) {
        let bytes = entry.content_bytes().max(entry.compressed_bytes());
        self.add(entry.position(), bytes);
    }

    fn add(&mut self, position: u64, bytes: u64) {
        let at = self.positions.len();
        self.positions.push(position);
        match self.blocks.last_mut() {
            Some(block) if block.takes(bytes) => {
                block.entries.end = at + 1;
                block.bytes = block.bytes.saturating_add(bytes);
            }
            _ => self.blocks.push(Block {
                entries: at..at + 1,
                bytes,
            }),
        }
    }

    /// The positions of all records.
    pub(super) fn positions(&self) -> &[u64] {
        &self.positions
    }

    /// The number of blocks, which is the most threads that have something to do.
    pub(super) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Has large blocks handed out first, the largest before the others, for several threads that are to
    /// end at the same time.
    pub(super) fn largest_first(&mut self) {
        // The others stay in the order of the archive.
        let key = |block: &Block| std::cmp::Reverse(block.bytes.max(LARGE_BYTES));
        self.blocks.sort_by_key(key);
    }

    /// The next block; `None` after the last.
    pub(super) fn next(&self) -> Option<&[u64]> {
        let block = self.next.fetch_add(1, Ordering::Relaxed);
        let block = self.blocks.get(block)?;
        self.positions.get(block.entries.clone())
    }
}

impl Block {
    /// Whether an entry of this size belongs to it.
    fn takes(&self, bytes: u64) -> bool {
        self.entries.len() < BLOCK_ENTRIES && self.bytes.saturating_add(bytes) <= BLOCK_BYTES
    }
}

/// The entries at these positions, which were looked at before.
pub(super) fn at<'a, R: ReadAt>(
    reader: &'a ArchiveReader<R>,
    positions: &'a [u64],
) -> impl Iterator<Item = Entry<'a>> {
    let one = |position: &u64| reader.directory().iter_at(*position).next();
    positions.iter().filter_map(one).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(sizes: &[u64]) -> Work {
        let mut work = Work::default();
        for (position, bytes) in sizes.iter().enumerate() {
            work.add(position as u64, *bytes);
        }
        work
    }

    fn handed_out(work: &Work) -> Vec<Vec<u64>> {
        std::iter::from_fn(|| work.next().map(<[u64]>::to_vec)).collect()
    }

    #[test]
    fn a_block_ends_at_its_entries_or_at_its_bytes() {
        let small = work(&[10; 70]);
        let lengths: Vec<usize> = handed_out(&small).iter().map(Vec::len).collect();
        assert_eq!(lengths, [32, 32, 6]);

        let large = work(&[BLOCK_BYTES; 32]);
        assert_eq!(large.blocks(), 32);

        let mixed = work(&[1, BLOCK_BYTES - 1, 1, u64::MAX, u64::MAX, 1]);
        assert_eq!(
            handed_out(&mixed),
            [vec![0, 1], vec![2], vec![3], vec![4], vec![5]]
        );
        assert_eq!(handed_out(&work(&[])), Vec::<Vec<u64>>::new());
    }

    #[test]
    fn large_blocks_come_first_and_the_rest_stays_in_order() {
        let mut work = work(&[
            5,
            LARGE_BYTES + 1,
            7 * BLOCK_BYTES,
            BLOCK_BYTES,
            2 * BLOCK_BYTES,
        ]);
        work.largest_first();
        let order: Vec<u64> = handed_out(&work).into_iter().flatten().collect();
        assert_eq!(order, [2, 1, 0, 3, 4]);
    }
}
