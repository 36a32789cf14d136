//! When the messages of a log are due, if they are sent again.

use std::time::{Duration, Instant};

use fixcore::Timestamp;

/// Due times by SendingTime, by a rate, or both.
#[derive(Debug)]
pub(super) struct Pace {
    speed: f64,
    rate: Option<f64>,
    /// The first SendingTime and when it was replayed; when the last message was due.
    first: Option<(Timestamp, Instant)>,
    due: Option<Instant>,
}

impl Pace {
    /// So many times faster than the original, 0 without waiting; at most `rate` messages per second.
    pub(super) fn new(speed: f64, rate: Option<f64>) -> Self {
        Self {
            speed,
            rate,
            first: None,
            due: None,
        }
    }

    /// When the next message is due, by its SendingTime; `None` where all are due at once.
    pub(super) fn due(&mut self, sent: Option<Timestamp>, now: Instant) -> Option<Instant> {
        let timed = match (self.speed > 0.0, sent, self.first) {
            (true, Some(sent), Some((first, began))) => {
                let ns = sent.0.saturating_sub(first.0).max(0) as f64 / self.speed;
                began.checked_add(Duration::from_nanos(ns as u64))
            }
            (true, Some(sent), None) => {
                self.first = Some((sent, now));
                Some(now)
            }
            _ => None,
        };
        let apart = self.rate.map(|rate| Duration::from_secs_f64(1.0 / rate));
        let paced = match (apart, self.due) {
            (Some(apart), Some(last)) => last.checked_add(apart),
            (Some(_), None) => Some(now),
            (None, _) => None,
        };
        // A message never overtakes the one before it.
        let due = [timed, paced].into_iter().flatten().max();
        let due = match self.speed > 0.0 {
            true => due.or(self.due).max(self.due),
            false => due,
        };
        self.due = due.or(self.due);
        due
    }
}
