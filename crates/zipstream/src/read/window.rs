//! A part of the archive in memory: entries that follow each other are read together.

use super::source::{ReadAt, read_full};
use crate::error::Error;

/// Read ahead where reading goes on from entry to entry.
const AHEAD_BYTES: usize = 256 << 10;
/// Read ahead where it does not.
const ALONE_BYTES: usize = 4 << 10;
/// A gap between two reads that still counts as going on.
const GAP_BYTES: u64 = 64 << 10;

/// The bytes read last.
#[derive(Debug, Default)]
pub(crate) struct Window {
    bytes: Vec<u8>,
    filled: usize,
    start: u64,
}

impl Window {
    /// At least `need` bytes from `offset` on, and whatever follows them in memory. Nothing is read
    /// from `end` on.
    pub(crate) fn get(
        &mut self,
        source: &impl ReadAt,
        offset: u64,
        need: usize,
        end: u64,
    ) -> Result<&[u8], Error> {
        let held_end = self.start + self.filled as u64;
        if offset < self.start || offset + need as u64 > held_end {
            let goes_on = self.filled > 0 && (self.start..held_end + GAP_BYTES).contains(&offset);
            let ahead = if goes_on { AHEAD_BYTES } else { ALONE_BYTES };
            self.read(source, offset, need.max(ahead), end)?;
        }
        let at = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
        let held = self.bytes[..self.filled].get(at..).unwrap_or_default();
        if held.len() < need {
            let at = offset + held.len() as u64;
            return Err(Error::truncated(at, "the archive ends"));
        }
        Ok(held)
    }

    /// Bytes that the last call of [`get`](Window::get) read, and nothing of what is not there.
    pub(crate) fn held(&self, offset: u64, bytes: usize) -> &[u8] {
        let at = offset
            .checked_sub(self.start)
            .and_then(|at| usize::try_from(at).ok());
        let held = at.and_then(|at| self.bytes[..self.filled].get(at..)?.get(..bytes));
        held.unwrap_or_default()
    }

    fn read(
        &mut self,
        source: &impl ReadAt,
        offset: u64,
        want: usize,
        end: u64,
    ) -> Result<(), Error> {
        let left = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let want = want.min(left);
        if self.bytes.len() < want {
            self.bytes.resize(want, 0);
        }
        let room = &mut self.bytes[..want];
        match read_full(source, room, offset) {
            Ok(filled) => (self.start, self.filled) = (offset, filled),
            // A source that has it later has touched nothing, and is asked again.
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                return Err(Error::io(&error).at(offset));
            }
            Err(error) => {
                (self.start, self.filled) = (offset, 0);
                return Err(Error::io(&error).at(offset));
            }
        }
        Ok(())
    }
}
