//! One message in flight in each session: the next order goes out when an answer came.

use std::time::{Duration, Instant};

use latency::Recorder;

use super::client::Client;
use super::conversation::Answer;
use crate::Error;

/// What a turn came to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Closed {
    /// Of all messages but the first of each session.
    pub(super) median_ns: f64,
    pub(super) messages: u64,
    pub(super) wrong: u64,
    pub(super) elapsed: Duration,
}

/// Sends orders until as many were answered, after one in each session that warms up.
pub(super) fn turn(
    client: &mut Client<'_>,
    messages: u64,
    recorder: &mut Recorder,
) -> Result<Closed, Error> {
    let sessions = client.conversations.len();
    let (mut found, mut left, mut out) = (Closed::default(), messages, 0);
    let mut trips = Vec::with_capacity(usize::try_from(messages).unwrap_or(0));
    let mut is_warm = vec![false; sessions];
    for at in 0..sessions {
        client.ask(at, None)?;
        out += 1;
    }
    let mut start = Instant::now();
    while out > 0 {
        let end = client.poll()?;
        let touched = std::mem::take(&mut client.touched);
        for at in touched.iter().copied() {
            while let Some(answer) = client.next(at)? {
                let Answer::Order(asked, right) = answer else {
                    continue;
                };
                out -= 1;
                found.messages += 1;
                found.wrong += u64::from(!right);
                if std::mem::replace(&mut is_warm[at], true) {
                    trips.push(recorder.record_span(asked.sent, end) as f64);
                } else if trips.is_empty() {
                    start = end;
                }
                if left > 0 {
                    left -= 1;
                    out += 1;
                    client.ask(at, None)?;
                }
            }
        }
        client.touched = touched;
    }
    found.elapsed = start.elapsed();
    found.median_ns = latency::compare::median(&trips).unwrap_or(f64::NAN);
    Ok(found)
}
