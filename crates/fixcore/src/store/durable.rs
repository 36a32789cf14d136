//! Syncing a store to the disk by its policy, and the record that marks what is synced.

use super::error::StoreResult;
use super::handle::Store;
use super::options::Durability;
use super::record::{self, RecordKind};

impl Store {
    /// Syncs what was read back before anything is appended to it.
    pub(super) fn settled(mut self) -> StoreResult<Self> {
        if self.options.durability != Durability::None {
            self.synced()?;
        }
        Ok(self)
    }

    /// Waits until all appended messages are on the disk.
    ///
    /// # Errors
    ///
    /// Errors of the system. After one it is unknown what is on the disk, and the store refuses to be
    /// written: open it again.
    pub fn sync(&mut self) -> StoreResult<()> {
        self.writable()?;
        if self.is_marked() {
            return Ok(());
        }
        self.synced()?;
        self.mark();
        Ok(())
    }

    /// Whether everything is synced except the marking record itself.
    fn is_marked(&self) -> bool {
        self.active.end == self.marked && self.full_synced == self.full.len()
    }

    /// Adds a record after the synced part, because each record states how far the store was synced.
    /// Without it, damage to the last messages would look like a torn end after a power failure. The
    /// record itself is synced with what follows it.
    fn mark(&mut self) {
        let has_room = self.active.has_room(record::size(0), 0);
        if self.options.durability == Durability::Batch && has_room {
            // It carries the next number, which is then known even if all records before are damaged.
            let (kind, number) = (RecordKind::NextSender, self.next_sender);
            self.active.push(kind, number, self.synced, (None, &[]));
            self.marked = self.active.end;
        }
    }

    fn synced(&mut self) -> StoreResult<()> {
        self.writable()?;
        let synced = self.try_sync();
        self.is_unsynced = synced.is_err();
        synced
    }

    fn try_sync(&mut self) -> StoreResult<()> {
        for segment in self.full.get(self.full_synced..).unwrap_or_default() {
            segment.sync(0, segment.map.len())?;
            self.full_synced += 1;
        }
        // The page of the first record also holds the header.
        self.active.sync(self.synced, self.active.end)?;
        self.synced = self.active.end;
        Ok(())
    }

    /// Syncs after a message if the policy requires it.
    #[inline]
    pub(super) fn acknowledge(&mut self) -> StoreResult<()> {
        match self.options.durability {
            Durability::Message => self.synced(),
            Durability::None | Durability::Batch => Ok(()),
        }
    }
}
