//! What time demands: heartbeats, test requests, and the end of what is not answered. Only the monotonic
//! clock counts.

use std::time::Duration;

use crate::application::Application;
use crate::event::Event;
use crate::session::core::{Context, Core, Flow};
use crate::store::Store;
use crate::writer::push_field;

/// After how many intervals without a receipt a TestRequest is due.
const TEST_INTERVALS: f64 = 1.2;
/// After how many intervals without a receipt a connection is dead.
const DEAD_INTERVALS: f64 = 2.4;

impl<S: Store> Core<S> {
    /// Sets the interval of heartbeats, and what follows from it.
    pub(super) fn set_interval(&mut self, interval: Duration) {
        self.link.interval = interval;
        let dead = self.options.heart_beat_timeout_multiplier;
        let dead = dead.map_or(DEAD_INTERVALS, |more| 1.0 + more);
        self.link.silences = (self.intervals(self.test_intervals()), self.intervals(dead));
    }

    /// After how many intervals without a receipt the first TestRequest is due.
    fn test_intervals(&self) -> f64 {
        let test = self.options.test_request_delay_multiplier;
        test.map_or(TEST_INTERVALS, |more| 1.0 + more)
    }

    /// A number of intervals.
    fn intervals(&self, factor: f64) -> Duration {
        let seconds = self.link.interval.as_secs_f64() * factor.max(0.0);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// When the next TestRequest is due, and when the connection is dead.
    fn receipt_due(&self) -> Option<(Duration, Duration)> {
        if self.options.disable_heart_beat_check {
            return None;
        }
        let (first, dead) = self.link.silences;
        let test = match self.link.tests {
            0 => first,
            tests => self.intervals(self.test_intervals() * (f64::from(tests) + 1.0)),
        };
        let last = self.link.last_received;
        Some((last.saturating_add(test), last.saturating_add(dead)))
    }

    /// When a Heartbeat is due. While a TestRequest is not answered none is sent.
    fn heartbeat_due(&self) -> Option<Duration> {
        let due = self.link.last_sent.saturating_add(self.link.interval);
        (self.link.tests == 0).then_some(due)
    }

    /// The next time at which `tick` has something to do.
    pub(super) fn deadline(&self) -> Option<Duration> {
        let link = &self.link;
        if !link.connected || link.closing {
            return None;
        }
        let mut deadlines = [link.logon_due, link.logout_due, None, None, None];
        if self.is_logged_on() && !link.interval.is_zero() {
            let receipt = self.receipt_due();
            deadlines[2] = self.heartbeat_due();
            deadlines[3] = receipt.map(|due| due.0);
            deadlines[4] = receipt.map(|due| due.1);
        }
        deadlines.into_iter().flatten().min()
    }

    /// Does what is due.
    pub(super) fn tick<A: Application>(&mut self, cx: &mut Context<'_, A>) -> Flow {
        let now = cx.now.monotonic;
        if !self.link.connected || self.link.closing {
            return Ok(());
        }
        if self.link.logon_due.is_some_and(|due| now >= due) {
            self.event(Event::TimedOut("logon response"), cx);
            return Err(self.close("no Logon in time", cx));
        }
        if self.link.logout_due.is_some_and(|due| now >= due) {
            self.event(Event::TimedOut("logout response"), cx);
            return Err(self.close("no Logout in time", cx));
        }
        if !self.is_logged_on() || self.link.interval.is_zero() {
            return Ok(());
        }
        if let Some((test, dead)) = self.receipt_due() {
            if now >= dead {
                self.event(Event::TimedOut("heartbeat"), cx);
                return Err(self.close("nothing came in time", cx));
            }
            if now >= test {
                self.link.tests = self.link.tests.saturating_add(1);
                self.body.clear();
                push_field(&mut self.body, 112, b"TEST");
                self.event(Event::TestRequestSent, cx);
                return self.send_admin(b"1", cx);
            }
        }
        if self.heartbeat_due().is_some_and(|due| now >= due) {
            self.body.clear();
            return self.send_admin(b"0", cx);
        }
        Ok(())
    }
}
