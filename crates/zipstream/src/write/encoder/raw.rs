//! Entries that come from another archive as they are.

use super::{ArchiveEncoder, State, order};
use crate::error::{Error, ErrorKind};
use crate::raw_entry::RawEntry;

impl ArchiveEncoder {
    /// Starts an entry of another archive, whose bytes [`push_raw`](ArchiveEncoder::push_raw) takes.
    /// Waits for what threads work on. Its name may not repeat, and is not judged otherwise.
    pub fn start_raw(&mut self, raw: RawEntry) -> Result<(), Error> {
        match &self.state {
            State::Idle => {}
            State::Failed(error) => return Err(error.clone()),
            State::Finished => return Err(order("the archive is finished")),
            _ => return Err(order("an entry is open")),
        }
        if !self.take_name(raw.name_bytes()) {
            let name = String::from_utf8_lossy(raw.name_bytes()).into_owned();
            let what = "the archive has an entry of this name already";
            return Err(Error::new(ErrorKind::Duplicate, what).entry(name));
        }
        self.started += 1;
        let result = self.flush_batch().and_then(|()| self.settle());
        self.hold(result)?;
        self.sequence.begin_raw(raw);
        self.state = State::Raw;
        Ok(())
    }

    /// Takes bytes of an entry as another archive has them.
    pub fn push_raw(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.raw_is_open()?;
        self.sequence.push_raw(bytes);
        Ok(())
    }

    /// Ends it; all of its bytes have to have come.
    pub fn finish_raw(&mut self) -> Result<(), Error> {
        self.raw_is_open()?;
        let result = self.sequence.end_raw();
        self.hold(result)?;
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
