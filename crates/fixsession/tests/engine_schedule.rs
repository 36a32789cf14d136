//! What schedules do to connections: Logout at the end, nothing outside, numbers from 1 in a new interval.

use fixcore::Timestamp;
use fixsession::Now;
use fixsession::engine::{Clock, SystemClock};

use crate::engine::{ORDER, Running, settings};

/// A clock that began at another time of day.
struct From(SystemClock, Timestamp);

impl Clock for From {
    fn now(&self) -> Now {
        let monotonic = self.0.now().monotonic;
        let utc = Timestamp(self.1.0 + monotonic.as_nanos() as i64);
        Now { monotonic, utc }
    }
}

fn start(at: &str, times: &str) -> Running {
    let clock = From(SystemClock::new(), at.parse().expect("a time"));
    // The peer has a clock of its own.
    let session = format!("BeginString=FIX.4.4\nCheckLatency=N\n{times}");
    let text = settings(&[&session]).replace("StartTime=00:00:00\nEndTime=00:00:00\n", "");
    Running::start_by(clock, &text, |_| {})
}

#[test]
fn at_the_end_of_its_hours_a_session_is_logged_out_and_stays_out() {
    let running = start("20260105-16:59:58", "StartTime=08:00:00\nEndTime=17:00:00");
    let mut peer = running.connect();
    peer.log_on("FIX.4.4");
    peer.expect("|35=5|");
    peer.send("FIX.4.4", "5", "");
    peer.closed();
    let mut again = running.connect();
    again.send("FIX.4.4", "A", "98=0|108=30|");
    again.closed();
    running.until("outside of its hours");
    // The numbers of the interval stay until the next one.
    assert_eq!(
        running.stop().first().map(|state| (state.1, state.2)),
        Some((3, 3))
    );
}

#[test]
fn a_new_interval_begins_at_1_once() {
    let running = start("20260105-16:59:58", "StartTime=17:00:00\nEndTime=17:00:00");
    let mut peer = running.connect();
    peer.log_on("FIX.4.4");
    peer.send("FIX.4.4", "D", ORDER);
    peer.expect("|35=D|34=2|");
    peer.expect("|35=5|34=3|");
    peer.send("FIX.4.4", "5", "");
    peer.closed();
    let mut peer = running.connect();
    peer.log_on("FIX.4.4");
    peer.send("FIX.4.4", "D", ORDER);
    peer.expect("|35=D|34=2|");
    drop(peer);
    running.until("disconnected");
    running.until("disconnected");
    // A further connection of the same interval goes on.
    let mut peer = running.connect();
    peer.next = 3;
    peer.send("FIX.4.4", "A", "98=0|108=30|");
    peer.expect("|35=A|34=3|");
}
