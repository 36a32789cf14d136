//! The time, as the caller tells it.

use std::time::Duration;

use fixcore::Timestamp;

/// The time of a call, on two clocks. A step of the wall clock fires no timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Since any fixed instant, never going back: for heartbeats and other timers.
    pub monotonic: Duration,
    /// UTC: for SendingTime and schedules.
    pub utc: Timestamp,
}
