//! An open loop: orders go out when they are due, to one session after the other, whatever was answered.

use std::time::{Duration, Instant};

use latency::report::Load;
use latency::{Pacer, Recorder, Schedule};

use super::client::Client;
use super::conversation::Answer;
use crate::Error;

/// Orders that a session may have out. One that is due beyond that waits, and its wait counts.
const OUT_MAX: usize = 64;
/// Orders that are sent before answers are looked for.
const BURST: usize = 16;

/// What a turn came to.
#[derive(Debug, Clone)]
pub(super) struct Open {
    /// Of orders, from when they were due.
    pub(super) median_ns: f64,
    pub(super) messages: u64,
    pub(super) wrong: u64,
    pub(super) load: Load,
}

/// Distributions of a side.
pub(super) struct Recorders {
    pub(super) service: Recorder,
    pub(super) response: Recorder,
}

/// Sends orders for as long as this, then waits for the last answers.
pub(super) fn turn(
    client: &mut Client<'_>,
    schedule: Schedule,
    duration: Duration,
    to: &mut Recorders,
) -> Result<Open, Error> {
    let sessions = client.conversations.len();
    let (mut at, mut out, mut messages, mut wrong) = (0, 0_u64, 0, 0);
    let mut trips = Vec::new();
    let start = Instant::now();
    let until = start + duration;
    let mut pacer = Pacer::new(schedule, start);
    let mut now = start;
    while now < until || out > 0 {
        pacer.observe(now.min(until));
        for _ in 0..BURST {
            let is_full = client.conversations[at].waiting() >= OUT_MAX;
            if is_full || now >= until || pacer.next_due() >= until {
                break;
            }
            let Some(due) = pacer.start_if_due(now) else {
                break;
            };
            client.ask(at, Some(due))?;
            out += 1;
            at = (at + 1) % sessions;
            now = Instant::now();
        }
        now = client.poll_quietly(out > 0)?;
        let touched = std::mem::take(&mut client.touched);
        for session in touched.iter().copied() {
            while let Some(answer) = client.next(session)? {
                let Answer::Order(asked, right) = answer else {
                    continue;
                };
                out -= 1;
                messages += 1;
                wrong += u64::from(!right);
                to.service.record_span(asked.sent, now);
                trips.push(to.response.record_span(asked.due, now) as f64);
            }
        }
        client.touched = touched;
    }
    let load = pacer.load(messages, start.elapsed());
    Ok(Open {
        median_ns: latency::compare::median(&trips).unwrap_or(f64::NAN),
        messages,
        wrong,
        load,
    })
}
