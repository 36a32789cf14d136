//! A store without files.

use fixcore::Timestamp;

use crate::store::{Store, StoreFailure};

/// The first block of bytes; each further one has twice the size of the one before, up to the most.
const BLOCK_BYTES_MIN: usize = 4 << 10;
const BLOCK_BYTES_MAX: usize = 1 << 20;

/// Keeps everything in memory: nothing survives the process.
///
/// Messages are copied into blocks that never move, so keeping one asks for memory only when a block is full.
#[derive(Debug)]
pub struct MemoryStore {
    created: Timestamp,
    next_sender: u64,
    next_target: u64,
    /// By ascending number.
    sent: Vec<Place>,
    blocks: Vec<Vec<u8>>,
}

/// Where a message is.
#[derive(Debug, Clone, Copy)]
struct Place {
    number: u64,
    block: usize,
    start: usize,
    end: usize,
}

impl MemoryStore {
    /// An empty store whose numbers begin at 1 now.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self {
            created: now,
            next_sender: 1,
            next_target: 1,
            sent: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// Copies a message; where it is then.
    fn keep(&mut self, number: u64, message: &[u8]) -> Place {
        let has_room = |block: &Vec<u8>| block.capacity() - block.len() >= message.len();
        if !self.blocks.last().is_some_and(has_room) {
            let last = self.blocks.last().map_or(0, Vec::capacity);
            let next = (2 * last).clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX);
            let block = Vec::with_capacity(next.max(message.len()));
            self.blocks.push(block);
        }
        let (block, mut start, mut end) = (self.blocks.len() - 1, 0, 0);
        if let Some(bytes) = self.blocks.last_mut() {
            start = bytes.len();
            bytes.extend_from_slice(message);
            end = bytes.len();
        }
        Place {
            number,
            block,
            start,
            end,
        }
    }
}

impl Store for MemoryStore {
    fn created(&self) -> Timestamp {
        self.created
    }

    fn next_sender(&self) -> u64 {
        self.next_sender
    }

    fn next_target(&self) -> u64 {
        self.next_target
    }

    fn append(&mut self, number: u64, message: &[u8]) -> Result<(), StoreFailure> {
        let place = self.keep(number, message);
        if self.sent.last().is_none_or(|last| last.number < number) {
            self.sent.push(place);
        } else {
            // The operator took the number back: the later message counts.
            match self.sent.binary_search_by_key(&number, |it| it.number) {
                Ok(at) => {
                    if let Some(old) = self.sent.get_mut(at) {
                        *old = place;
                    }
                }
                Err(at) => self.sent.insert(at, place),
            }
        }
        self.next_sender = number.saturating_add(1);
        Ok(())
    }

    fn set_next_sender(&mut self, number: u64) -> Result<(), StoreFailure> {
        self.next_sender = number;
        Ok(())
    }

    fn set_next_target(&mut self, number: u64) -> Result<(), StoreFailure> {
        self.next_target = number;
        Ok(())
    }

    fn sent(&self, number: u64) -> Result<Option<&[u8]>, StoreFailure> {
        let at = self.sent.binary_search_by_key(&number, |it| it.number);
        let place = at.ok().and_then(|at| self.sent.get(at));
        Ok(place.and_then(|place| self.blocks.get(place.block)?.get(place.start..place.end)))
    }

    fn reset(&mut self, now: Timestamp) -> Result<(), StoreFailure> {
        *self = Self::new(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_whatever_their_numbers_and_sizes() {
        let mut store = MemoryStore::new(Timestamp(0));
        let mut kept = std::collections::BTreeMap::new();
        // Numbers go on, jump, and are taken back.
        let numbers = (1..=3_000)
            .chain(9_000..9_100)
            .chain(50..60)
            .chain(4_000..4_010);
        for (at, number) in numbers.enumerate() {
            let message = vec![at as u8; (at * 37) % 9_000];
            store.append(number, &message).unwrap();
            kept.insert(number, message);
            assert_eq!(store.next_sender(), number + 1);
        }
        for number in 0..10_000 {
            let found = store.sent(number).unwrap();
            assert_eq!(found, kept.get(&number).map(Vec::as_slice), "{number}");
        }
        store.reset(Timestamp(1)).unwrap();
        assert_eq!((store.next_sender(), store.sent(1).unwrap()), (1, None));
        assert!(store.blocks.is_empty(), "a reset gives the memory back");
    }
}
