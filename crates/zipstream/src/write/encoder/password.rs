//! Passwords that differ from entry to entry.

use super::ArchiveEncoder;
use crate::crypt::Encryption;
use crate::error::{Error, ErrorKind};
use crate::write::options::ArchiveOptions;

impl ArchiveEncoder {
    /// Sets how entries are encrypted from the next one on; `None` encrypts none. Waits for running
    /// jobs.
    ///
    /// # Errors
    /// An entry is open, the archive failed, or it is reproducible.
    pub fn set_encryption(&mut self, encryption: Option<Encryption>) -> Result<(), Error> {
        allowed(&self.options, encryption.is_some())?;
        // What is held has the old password.
        self.settle_all()?;
        self.engines.encryption.clone_from(&encryption);
        self.options.encryption = encryption;
        Ok(())
    }
}

/// Refuses what cannot be the same twice.
pub(super) fn allowed(options: &ArchiveOptions, encrypted: bool) -> Result<(), Error> {
    match encrypted && options.reproducible.is_some() {
        true => Err(Error::new(
            ErrorKind::Setting,
            "`reproducible` and `encryption` cannot be combined: salts are random",
        )),
        false => Ok(()),
    }
}
