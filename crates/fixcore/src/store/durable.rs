//! When a store is on the disk: syncs, what each policy has synced, and the mark behind it.

use super::error::StoreResult;
use super::handle::Store;
use super::options::Durability;
use super::record::{self, RecordKind};

impl Store {
    /// What was read back is on the disk before anything is built upon it.
    pub(super) fn settled(mut self) -> StoreResult<Self> {
        if self.options.durability != Durability::None {
            self.synced()?;
        }
        Ok(self)
    }

    /// Waits until all that was appended is on the disk.
    ///
    /// # Errors
    ///
    /// What the system says. After that nobody knows what is on the disk, and the store cannot be
    /// written any more: open it again.
    pub fn sync(&mut self) -> StoreResult<()> {
        self.writable()?;
        if self.is_marked() {
            return Ok(());
        }
        self.synced()?;
        self.mark();
        Ok(())
    }

    /// Whether all is on the disk but the mark that says so.
    fn is_marked(&self) -> bool {
        self.active.end == self.marked && self.full_synced == self.full.len()
    }

    /// Adds a record behind what was synced, for a record is what says that. Without it nobody could
    /// tell damage to the last messages from what the end of power left of them. The mark itself goes to
    /// the disk with what follows it.
    fn mark(&mut self) {
        let has_room = self.active.has_room(record::size(0), 0);
        if self.options.durability == Durability::Batch && has_room {
            // With the number, so that it is known when all before is damaged.
            let (kind, number) = (RecordKind::NextSender, self.next_sender);
            self.active.push(kind, number, self.synced, &[]);
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
        // The page of the first record has the header.
        self.active.sync(self.synced, self.active.end)?;
        self.synced = self.active.end;
        Ok(())
    }

    /// Syncs what a policy wants synced with each message.
    #[inline]
    pub(super) fn acknowledge(&mut self) -> StoreResult<()> {
        match self.options.durability {
            Durability::Message => self.synced(),
            Durability::None | Durability::Batch => Ok(()),
        }
    }
}
