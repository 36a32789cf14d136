//! Removing an entry whose beginning is written, and how much more content the open entry can take.

use super::{ArchiveEncoder, State, order};
use crate::error::Error;

impl ArchiveEncoder {
    /// Removes the open entry even if its beginning is written, and waits for running jobs. The
    /// archive continues where the entry began: the caller must cut off bytes of it that were
    /// [consumed](ArchiveEncoder::consume) or placed directly. Returns how many bytes of the
    /// archive are then consumed.
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
                // Jobs of this entry enter the output first, to be cut off with the rest.
                let settled = self.settle();
                self.keep_error(settled)?;
                let retracted = self.sequence.retract();
                self.keep_error(retracted)?;
                self.names.remove(&self.open.hash);
                self.started -= 1;
                self.state = State::Idle;
            }
            State::Failed(ref error) => return Err(error.clone()),
            State::Idle | State::Raw | State::Finished => return Err(order("no entry is open")),
        }
        Ok(self.sequence.consumed())
    }

    /// Bytes of the archive that are consumed.
    pub(crate) fn consumed_bytes(&self) -> u64 {
        self.sequence.consumed()
    }

    /// How much more content the open entry can take, if its header limits that.
    pub fn entry_left(&self) -> Option<u64> {
        let most = self.open.bytes_max?;
        Some(most.saturating_sub(self.open.taken))
    }
}
