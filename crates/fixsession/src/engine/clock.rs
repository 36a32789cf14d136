//! The clocks of the machine.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fixcore::Timestamp;

use crate::now::Now;

/// Where an engine gets the time from.
pub trait Clock {
    /// The time of both clocks.
    fn now(&self) -> Now;
}

/// The clocks of the machine: monotonic since this was made, and UTC.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Clocks whose monotonic time begins now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Now {
        let utc = SystemTime::now().duration_since(UNIX_EPOCH);
        let ns = utc.map_or(0, |utc| i64::try_from(utc.as_nanos()).unwrap_or(i64::MAX));
        Now {
            monotonic: self.start.elapsed(),
            utc: Timestamp(ns),
        }
    }
}
