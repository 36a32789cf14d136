//! The store that a session's settings ask for.

use std::path::Path;

use fixcore::Timestamp;
use fixcore::store::is_store;

use crate::id::SessionId;
use crate::memory_store::MemoryStore;
use crate::settings::StorageOptions;
use crate::store::{Store, StoreFailure};

use super::durable::{DurableStore, failure};
use super::names::{quickfix_j_name, quickfix_name, store_name};
use super::parts::found;

/// A store in memory or on disk.
#[derive(Debug)]
pub enum AnyStore {
    /// Nothing survives the process.
    Memory(MemoryStore),
    /// In a directory.
    Durable(Box<DurableStore>),
}

impl StorageOptions {
    /// Opens the store of a session: in `FileStorePath`, or in memory if that is not stated. A new store's numbers
    /// begin at 1 now.
    ///
    /// # Errors
    ///
    /// The store cannot be opened; or there is none yet, but QuickFIX left one for this session there, whose
    /// numbers would be lost: it has to be imported first.
    pub fn open(&self, id: &SessionId, now: Timestamp) -> Result<AnyStore, StoreFailure> {
        let Some(path) = &self.path else {
            return Ok(AnyStore::Memory(MemoryStore::new(now)));
        };
        let dir = path.join(store_name(id));
        if !dir.exists() || !is_store(&dir).map_err(|error| failure(&error))? {
            refuse_foreign(path, &dir, id)?;
        }
        let store = DurableStore::open(&dir, self.sync, self.skip_damage, now)?;
        Ok(AnyStore::Durable(Box::new(store)))
    }
}

/// Refuses to begin at 1 where QuickFIX's files have other numbers.
fn refuse_foreign(path: &Path, dir: &Path, id: &SessionId) -> Result<(), StoreFailure> {
    let prefixes = [quickfix_name(id), quickfix_j_name(id)].map(|name| path.join(name));
    let foreign = prefixes.iter().find(|prefix| found(prefix).is_some());
    match foreign {
        None => Ok(()),
        Some(prefix) => Err(StoreFailure(format!(
            "'{}' has QuickFIX's files for {id}: move them away to begin at 1, or take them over by perfkit fix \
             store import '{}' '{}'",
            path.display(),
            prefix.display(),
            dir.display(),
        ))),
    }
}

impl AnyStore {
    fn store(&self) -> &dyn Store {
        match self {
            Self::Memory(store) => store,
            Self::Durable(store) => store.as_ref(),
        }
    }

    fn store_mut(&mut self) -> &mut dyn Store {
        match self {
            Self::Memory(store) => store,
            Self::Durable(store) => store.as_mut(),
        }
    }

    /// Does work ahead in idle time; see [`DurableStore::prepare`].
    ///
    /// # Errors
    ///
    /// The disk has no room for what comes next.
    pub fn prepare(&mut self, bytes: usize) -> Result<bool, StoreFailure> {
        match self {
            Self::Memory(_) => Ok(true),
            Self::Durable(store) => store.prepare(bytes),
        }
    }
}

impl Store for AnyStore {
    fn created(&self) -> Timestamp {
        self.store().created()
    }

    fn next_sender(&self) -> u64 {
        self.store().next_sender()
    }

    fn next_target(&self) -> u64 {
        self.store().next_target()
    }

    #[inline]
    fn ensure_room(&mut self) -> Result<(), StoreFailure> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Durable(store) => store.ensure_room(),
        }
    }

    fn append(&mut self, number: u64, message: &[u8]) -> Result<(), StoreFailure> {
        self.store_mut().append(number, message)
    }

    fn append_and_receive(
        &mut self,
        number: u64,
        message: &[u8],
        next_target: u64,
    ) -> Result<(), StoreFailure> {
        self.store_mut()
            .append_and_receive(number, message, next_target)
    }

    fn set_next_sender(&mut self, number: u64) -> Result<(), StoreFailure> {
        self.store_mut().set_next_sender(number)
    }

    fn set_next_target(&mut self, number: u64) -> Result<(), StoreFailure> {
        self.store_mut().set_next_target(number)
    }

    fn sent(&self, number: u64) -> Result<Option<&[u8]>, StoreFailure> {
        self.store().sent(number)
    }

    fn reset(&mut self, now: Timestamp) -> Result<(), StoreFailure> {
        self.store_mut().reset(now)
    }

    fn refresh(&mut self) -> Result<(), StoreFailure> {
        self.store_mut().refresh()
    }
}
