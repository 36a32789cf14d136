//! The durable store behind a session: what `fixcore::store` keeps, with the time when the numbers began.

use std::path::{Path, PathBuf};

use fixcore::Timestamp;
use fixcore::store::{self, Durability, OnDamage, Options, StoreError};

use crate::store::{Store, StoreFailure};

/// The size of the segments of a session's store.
const SEGMENT_BYTES: usize = 4 << 20;

/// What one message may lead to.
const ROOM_BYTES: usize = 64 << 10;

/// A store in a directory. What a session sent survives the end of the process; with `sync` it also survives a power
/// failure.
#[derive(Debug)]
pub struct DurableStore {
    dir: PathBuf,
    options: Options,
    /// `None` after a refresh that failed.
    store: Option<store::Store>,
    /// When it was opened, for stores that state no time.
    opened: Timestamp,
}

impl DurableStore {
    /// Opens the store in a directory, or makes one whose numbers begin at 1 now. `sync` is `FileStoreSync`;
    /// with `skip_damage` damaged messages are left out (`ForceResendWhenCorruptedStore`).
    ///
    /// # Errors
    ///
    /// It is open in another process, is damaged, or the system refuses.
    pub fn open(
        dir: &Path,
        sync: bool,
        skip_damage: bool,
        now: Timestamp,
    ) -> Result<Self, StoreFailure> {
        let durability = if sync {
            Durability::Message
        } else {
            Durability::None
        };
        let on_damage = if skip_damage {
            OnDamage::Skip
        } else {
            OnDamage::Refuse
        };
        let options = Options::default()
            .segment_bytes(SEGMENT_BYTES)
            .durability(durability)
            .on_damage(on_damage)
            .created(now);
        let store = store::Store::open(dir, options.clone()).map_err(|error| failure(&error))?;
        Ok(Self {
            dir: dir.to_owned(),
            options,
            store: Some(store),
            opened: now,
        })
    }

    /// Does work ahead in idle time, up to `bytes`: messages are then stored without a system call.
    /// Returns whether nothing is left to do.
    ///
    /// # Errors
    ///
    /// The disk has no room for what comes next.
    pub fn prepare(&mut self, bytes: usize) -> Result<bool, StoreFailure> {
        self.open_store()?
            .prepare(bytes)
            .map_err(|error| failure(&error))
    }

    /// Its directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn open_store(&mut self) -> Result<&mut store::Store, StoreFailure> {
        self.store.as_mut().ok_or_else(|| closed(&self.dir))
    }
}

fn closed(dir: &Path) -> StoreFailure {
    StoreFailure(format!(
        "store '{}' is closed: it could not be read again",
        dir.display()
    ))
}

/// The error with its cause.
pub(super) fn failure(error: &StoreError) -> StoreFailure {
    match std::error::Error::source(error) {
        Some(cause) => StoreFailure(format!("{error}: {cause}")),
        None => StoreFailure(error.to_string()),
    }
}

impl Store for DurableStore {
    fn created(&self) -> Timestamp {
        let store = self.store.as_ref();
        store.and_then(store::Store::created).unwrap_or(self.opened)
    }

    fn next_sender(&self) -> u64 {
        self.store.as_ref().map_or(1, store::Store::next_sender)
    }

    fn next_target(&self) -> u64 {
        self.store.as_ref().map_or(1, store::Store::next_target)
    }

    fn ensure_room(&mut self) -> Result<(), StoreFailure> {
        let store = self.open_store()?;
        let room = store.ensure_room(ROOM_BYTES);
        room.map_err(|error| failure(&error))
    }

    fn append(&mut self, number: u64, message: &[u8]) -> Result<(), StoreFailure> {
        let store = self.open_store()?;
        store
            .append(number, message)
            .map_err(|error| failure(&error))
    }

    fn append_and_receive(
        &mut self,
        number: u64,
        message: &[u8],
        next_target: u64,
    ) -> Result<(), StoreFailure> {
        let store = self.open_store()?;
        let appended = store.append_and_receive(number, message, next_target);
        appended.map_err(|error| failure(&error))
    }

    fn set_next_sender(&mut self, number: u64) -> Result<(), StoreFailure> {
        let store = self.open_store()?;
        store
            .set_next_sender(number)
            .map_err(|error| failure(&error))
    }

    fn set_next_target(&mut self, number: u64) -> Result<(), StoreFailure> {
        let store = self.open_store()?;
        store
            .set_next_target(number)
            .map_err(|error| failure(&error))
    }

    fn sent(&self, number: u64) -> Result<Option<&[u8]>, StoreFailure> {
        let store = self.store.as_ref().ok_or_else(|| closed(&self.dir))?;
        store.verified(number).map_err(|error| failure(&error))
    }

    fn reset(&mut self, now: Timestamp) -> Result<(), StoreFailure> {
        let store = self.open_store()?;
        store.reset_at(now, 1, 1).map_err(|error| failure(&error))
    }

    /// Closes the files and opens them again, so that another process may have changed them meanwhile.
    fn refresh(&mut self) -> Result<(), StoreFailure> {
        self.store = None;
        let store = store::Store::open(&self.dir, self.options.clone());
        self.store = Some(store.map_err(|error| failure(&error))?);
        Ok(())
    }
}
