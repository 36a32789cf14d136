//! A store without files.

use std::collections::BTreeMap;

use fixcore::Timestamp;

use crate::store::{Store, StoreFailure};

/// Keeps everything in memory: nothing survives the process.
#[derive(Debug)]
pub struct MemoryStore {
    created: Timestamp,
    next_sender: u64,
    next_target: u64,
    sent: BTreeMap<u64, Box<[u8]>>,
}

impl MemoryStore {
    /// An empty store whose numbers begin at 1 now.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self {
            created: now,
            next_sender: 1,
            next_target: 1,
            sent: BTreeMap::new(),
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
        self.sent.insert(number, message.into());
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
        Ok(self.sent.get(&number).map(AsRef::as_ref))
    }

    fn reset(&mut self, now: Timestamp) -> Result<(), StoreFailure> {
        *self = Self::new(now);
        Ok(())
    }
}
