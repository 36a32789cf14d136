//! Entries that are taken back after their beginning was written, and how much content an open one
//! can still take.

use super::{ArchiveEncoder, State, order};
use crate::error::Error;

impl ArchiveEncoder {
    /// Drops the open entry although its beginning may be written, and waits for what threads work on.
    /// The archive goes on where the entry began: bytes of it that were
    /// [consumed](ArchiveEncoder::consume) or put there by the caller have to be cut off again. How many
    /// bytes of the archive are then consumed is the answer.
    ///
    /// ```
    /// use zipstream::{ArchiveEncoder, ArchiveOptions, EntryOptions};
    ///
    /// let mut encoder = ArchiveEncoder::new(ArchiveOptions::default())?;
    /// let mut options = EntryOptions::default();
    /// options.size_hint = Some(5 << 20);
    /// encoder.start_entry("broken.log", &options)?;
    /// encoder.push_all(&vec![b'x'; 3 << 20])?;
    /// let mut archive = encoder.output().to_vec();
    /// encoder.consume(archive.len());
    /// archive.truncate(encoder.retract_entry()? as usize);
    /// encoder.finish()?;
    /// archive.extend_from_slice(encoder.output());
    /// assert!(zipstream::ArchiveReader::open(&archive[..])?.is_empty());
    /// # Ok::<(), zipstream::Error>(())
    /// ```
    pub fn retract_entry(&mut self) -> Result<u64, Error> {
        match self.state {
            State::Whole(_) => self.abandon_entry()?,
            State::Large(_) | State::External => {
                // Jobs of this entry are put in line first, to be cut off with the rest.
                let settled = self.settle();
                self.hold(settled)?;
                let retracted = self.sequence.retract();
                self.hold(retracted)?;
                self.names.remove(&self.open.hash);
                self.started -= 1;
                self.state = State::Idle;
            }
            State::Failed(ref error) => return Err(error.clone()),
            State::Idle | State::Raw | State::Finished => return Err(order("no entry is open")),
        }
        Ok(self.sequence.consumed())
    }

    /// How much more content the open entry can take: its header may have been written for no more.
    pub fn entry_left(&self) -> Option<u64> {
        let most = self.open.bytes_max?;
        Some(most.saturating_sub(self.open.taken))
    }
}
