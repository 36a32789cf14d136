//! Waiting for the threads of the encoder: in steps, so that no call holds this thread for long.

use std::time::{Duration, Instant};

use zipstream::ArchiveEncoder;

use crate::commands::transfer::{Stop, WAIT_MAX};
use crate::commands::zip::listed::Source;
use crate::term::signal;

use super::{Packer, failed};

/// A step of waiting: whether the next call need not wait.
pub(super) type Wait = fn(&mut ArchiveEncoder, Duration) -> Result<bool, zipstream::Error>;

impl Packer<'_> {
    /// Waits in steps until the next call has no need to. Returns when the last step began, which is also when
    /// that call begins.
    pub(super) fn wait(&mut self, source: &Source, wait: Wait) -> Result<Instant, Stop> {
        loop {
            let start = Instant::now();
            let ready = wait(&mut self.encoder, WAIT_MAX);
            if ready.map_err(|error| failed(&source.path, &error))? {
                return Ok(start);
            }
            self.held(source, start, Instant::now());
            if signal::interrupted() {
                return Err(Stop::Interrupted);
            }
        }
    }

    /// Waits in steps until everything is in the output. Returns when the last step began.
    pub(super) fn settle(&mut self) -> Result<Instant, zipstream::Error> {
        loop {
            let start = Instant::now();
            if self.encoder.settle_within(WAIT_MAX)? {
                return Ok(start);
            }
            let (hold, end) = (&mut self.times.hold, Instant::now());
            hold.record_span_what(start, end, || "the last jobs".to_owned());
        }
    }
}
