//! Waiting for the threads of the encoder: in steps, so that no call holds this thread for long.

use std::time::{Duration, Instant};

use crate::commands::transfer::Stop;
use crate::commands::zip::listed::Source;

use super::{Packer, failed};

/// How long a call may wait.
const WAIT_MAX: Duration = Duration::from_millis(1);

impl Packer<'_> {
    /// Waits in steps until the next call has no need to.
    pub(super) fn wait_for_threads(&mut self, source: &Source) -> std::result::Result<(), Stop> {
        loop {
            let start = Instant::now();
            let ready = self.encoder.wait_for_threads(WAIT_MAX);
            let end = Instant::now();
            if ready.map_err(|error| failed(&source.path, &error))? {
                return Ok(());
            }
            self.held(source, start, end);
        }
    }

    /// Waits in steps until everything is in the output.
    pub(super) fn settle(&mut self) -> Result<(), zipstream::Error> {
        loop {
            let start = Instant::now();
            let settled = self.encoder.settle_within(WAIT_MAX)?;
            let end = Instant::now();
            let hold = &mut self.times.hold;
            hold.record_span_what(start, end, || "the last jobs".to_owned());
            if settled {
                return Ok(());
            }
        }
    }
}
