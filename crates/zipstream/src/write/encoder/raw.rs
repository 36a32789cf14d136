//! Entries that are copied from another archive unchanged.

use super::{ArchiveEncoder, State, order};
use crate::error::{Error, ErrorKind};
use crate::raw_entry::RawEntry;

impl ArchiveEncoder {
    /// Starts an entry of another archive, whose bytes [`push_raw`](ArchiveEncoder::push_raw)
    /// takes. Waits for running jobs. Its name must be new, unless
    /// [`repeated_names`](crate::ArchiveOptions::repeated_names) says otherwise, and is not checked.
    pub fn start_raw(&mut self, raw: RawEntry) -> Result<(), Error> {
        match &self.state {
            State::Idle => {}
            State::Failed(error) => return Err(error.clone()),
            State::Finished => return Err(order("the archive is finished")),
            _ => return Err(order("an entry is open")),
        }
        if !self.take_name(raw.name_bytes()) && !self.options.repeated_names {
            let name = String::from_utf8_lossy(raw.name_bytes()).into_owned();
            let what = "the archive already has an entry of this name";
            return Err(Error::new(ErrorKind::Duplicate, what).entry(name));
        }
        self.started += 1;
        let result = self.flush_batch().and_then(|()| self.settle());
        self.keep_error(result)?;
        self.sequence.begin_raw(raw);
        self.state = State::Raw;
        Ok(())
    }

    /// Takes bytes of the entry, unchanged.
    pub fn push_raw(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.raw_is_open()?;
        self.sequence.push_raw(bytes);
        Ok(())
    }

    /// Ends the entry; all of its bytes must have been pushed.
    pub fn finish_raw(&mut self) -> Result<(), Error> {
        self.raw_is_open()?;
        let result = self.sequence.end_raw();
        self.keep_error(result)?;
        self.state = State::Idle;
        Ok(())
    }

    fn raw_is_open(&self) -> Result<(), Error> {
        match &self.state {
            State::Raw => Ok(()),
            State::Failed(error) => Err(error.clone()),
            _ => Err(order("no entry of another archive is open")),
        }
    }
}
