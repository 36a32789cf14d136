//! Packs what has no place to read again: standard input, and what URLs name.

use std::io;
use std::time::SystemTime;

use files::source::Source as Input;

use crate::commands::transfer::Stop;
use crate::commands::zip::listed::Source;
use crate::commands::zip::pack::Packer;
use crate::failure::Failure;
use crate::io::context;
use crate::term::{message, signal};

impl Packer<'_> {
    /// Packs a stream; returns whether the archive has an entry for it. An object that cannot be read is reported, and
    /// costs its entry only, if that has not gone to a pipe or a store.
    pub(super) fn stream(&mut self, source: &Source) -> Result<bool, Stop> {
        let mut input = match Input::open(&source.path, context()) {
            Ok(input) => input,
            Err(_) if signal::interrupted() => return Err(Stop::Interrupted),
            Err(error) if source.is_object() => {
                message::failure(&error.into());
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        };
        let mut options = self.options();
        let modified = match source.is_object() {
            true => input.modified(),
            false => Some(SystemTime::now()),
        };
        let modified = modified.and_then(|time| jiff::Timestamp::try_from(time).ok());
        options.modified = modified.map(jiff::Timestamp::as_second);
        if source.is_object() {
            options.size_hint = input.stated_size();
        }
        if let Some(metadata) = input.attributes() {
            self.rights.narrow(metadata);
        }
        self.start(source, &options)?;
        loop {
            if signal::interrupted() {
                return Err(Stop::Interrupted);
            }
            let buffer = match input.next_buffer() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    return Err(Stop::Interrupted);
                }
                Err(_) if signal::interrupted() => return Err(Stop::Interrupted),
                Err(error) => return self.broken(source, input.error(error).into()),
            };
            if buffer.is_empty() {
                break;
            }
            self.push(source, &buffer)?;
        }
        self.end(source)?;
        Ok(true)
    }

    /// Leaves out an object that broke off, or fails.
    fn broken(&mut self, source: &Source, failure: Failure) -> Result<bool, Stop> {
        if !source.is_object() {
            return Err(failure.into());
        }
        if self.encoder.abandon_entry().is_ok() || self.retract(source).is_ok() {
            message::failure(&failure);
            return Ok(false);
        }
        Err(failure.into())
    }
}
