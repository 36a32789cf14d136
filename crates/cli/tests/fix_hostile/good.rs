//! Well-behaved sessions, and what they see: how long answers take, and how late heartbeats are.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::client::{Client, GOOD, ORDER, PATIENCE, TIMED};
use crate::common::acceptor::Acceptor;

/// Between two orders of a session.
const PACE: Duration = Duration::from_millis(4);
/// HeartBtInt (108) of the sessions that wait for heartbeats, in seconds.
const HEARTBEAT: u32 = 1;

/// What was seen.
#[derive(Default)]
pub(crate) struct Seen {
    /// From the time at which each order was due to its answer, ascending.
    pub(crate) answers: Vec<Duration>,
    /// Heartbeats, and how late the latest came.
    pub(crate) timers: usize,
    pub(crate) timer_late: Duration,
    /// The most memory that the acceptor had.
    pub(crate) memory_bytes: u64,
}

/// The percentile of ascending values.
pub(crate) fn percentile(values: &[Duration], percent: f64) -> Duration {
    let at = (values.len() as f64 * percent / 100.0).ceil() as usize;
    values
        .get(at.saturating_sub(1))
        .copied()
        .unwrap_or_default()
}

/// Lets all well-behaved sessions work for so long.
pub(crate) fn watch(acceptor: &Acceptor, time: Duration) -> Seen {
    let over = AtomicBool::new(false);
    let port = acceptor.port;
    std::thread::scope(|scope| {
        let trading = GOOD.map(|name| scope.spawn(move || trade(port, name, time)));
        let waiting = TIMED.map(|name| scope.spawn(|| wait(port, name, &over)));
        let mut seen = Seen::default();
        let began = Instant::now();
        while began.elapsed() < time || !trading.iter().all(|one| one.is_finished()) {
            // Without the files of stores, whose pages the system takes back when it needs them.
            seen.memory_bytes = seen.memory_bytes.max(acceptor.memory("RssAnon"));
            std::thread::sleep(Duration::from_millis(20));
        }
        over.store(true, Ordering::Relaxed);
        for one in trading {
            seen.answers.extend(one.join().expect("it trades"));
        }
        seen.answers.sort_unstable();
        for one in waiting {
            for late in one.join().expect("it waits") {
                seen.timers += 1;
                seen.timer_late = seen.timer_late.max(late);
            }
        }
        seen
    })
}

/// Logs on as soon as its connection of before is gone.
fn logged_on(port: u16, name: &str, heartbeat: u32) -> Client {
    let began = Instant::now();
    loop {
        match Client::log_on(port, name, heartbeat) {
            Ok(client) => return client,
            Err(error) => assert!(began.elapsed() < PATIENCE, "{name}: {error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn log_out(mut client: Client) {
    client.send("5", "").expect("sent");
    while client.read().is_ok() {}
}

/// Sends an order at each due time, and waits for each to come back.
fn trade(port: u16, name: &str, time: Duration) -> Vec<Duration> {
    let mut client = logged_on(port, name, 30);
    let mut answers = Vec::new();
    let began = Instant::now();
    let mut due = began;
    while due < began + time {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let id = format!("|11={}|", answers.len());
        client
            .send("D", &format!("{}{ORDER}", &id[1..]))
            .expect("sent");
        while !client.read().expect("an answer").contains(&id) {}
        answers.push(due.elapsed());
        due += PACE;
    }
    log_out(client);
    answers
}

/// Waits for heartbeats, and sends its own: how late each came.
fn wait(port: u16, name: &str, over: &AtomicBool) -> Vec<Duration> {
    let mut client = logged_on(port, name, HEARTBEAT);
    let interval = Duration::from_secs(u64::from(HEARTBEAT));
    let mut last = Instant::now();
    let mut late = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let message = client.read().expect("a heartbeat");
        if message.contains("|35=0|") {
            late.push(last.elapsed().saturating_sub(interval));
        }
        last = Instant::now();
        client.send("0", "").expect("sent");
    }
    log_out(client);
    late
}
