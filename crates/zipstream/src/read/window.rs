//! A part of the archive in memory: neighbouring entries are read together.

use super::source::{ReadAt, read_full};
use crate::error::Error;

/// Bytes read ahead when reading continues from entry to entry.
const AHEAD_BYTES: usize = 256 << 10;
/// Bytes read ahead otherwise.
const ALONE_BYTES: usize = 4 << 10;
/// The largest gap after which reading still counts as continuing.
const GAP_BYTES: u64 = 64 << 10;

/// The bytes read last.
#[derive(Debug, Default)]
pub(crate) struct Window {
    bytes: Vec<u8>,
    filled: usize,
    start: u64,
    /// The reader whose archive they are of.
    owner: u64,
}

impl Window {
    /// Forgets the bytes of any other reader's archive.
    pub(crate) fn belong_to(&mut self, owner: u64) {
        if self.owner != owner {
            (self.owner, self.start, self.filled) = (owner, 0, 0);
        }
    }

    /// At least `need` bytes from `offset` on, and whatever follows them in memory. Reads nothing
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

    /// Bytes that the last call of [`get`](Window::get) read; empty if it did not read them.
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
            // Such a source will have the bytes later: nothing has changed, and the call is
            // repeated.
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
