//! The threads that send: events on several connections, changes on one, each an open loop.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use latency::report::{LatencyName, Timing};
use latency::{Pacer, Recorder, Schedule, Spec, Wait};
use report::Run;

use super::client::Client;
use crate::Error;

/// Answers of a connection that are kept to be checked.
const KEPT: usize = 50;
/// Spinning would take processor time from the server, which may share this machine.
const WAIT: Wait = Wait::SleepThenSpin(Duration::ZERO);

/// One loop: its times, and what it did.
pub(super) struct Loop {
    pub(super) pacer: Pacer,
    pub(super) response: Recorder,
    pub(super) service: Recorder,
    pub(super) done: u64,
    /// Requests with another status than 200.
    pub(super) refused: u64,
    /// Which request, and its answer.
    pub(super) kept: Vec<(usize, Vec<u8>)>,
    pub(super) last_end: Instant,
}

/// Where and how a loop runs.
#[derive(Clone, Copy)]
pub(super) struct Pace<'a> {
    pub(super) run: &'a Run,
    /// Whether the run has to stop.
    pub(super) stop: &'a AtomicBool,
    pub(super) address: SocketAddr,
    pub(super) duration: Duration,
    pub(super) start: Instant,
}

/// A request: method, path and body.
pub(super) type Request = (&'static str, String, Vec<u8>);

impl Pace<'_> {
    /// Sends requests when they are due, round and round from `first`, until the time is up.
    pub(super) fn send(
        &self,
        schedule: Schedule,
        series: &str,
        requests: &[Request],
        first: usize,
    ) -> Result<Loop, Error> {
        let failed = |error| {
            Error::new(format!("the matcher at {} is gone: {error}", self.address))
                .help("see what it printed")
        };
        let run = self.run;
        let recorder = |name, timing| {
            let spec = Spec::new(name, "request").series(series).timing(timing);
            Recorder::new(run.spec(spec), run.started())
        };
        let mut out = Loop {
            pacer: Pacer::new(schedule, self.start),
            response: recorder(LatencyName::Response, Timing::Intended),
            service: recorder(LatencyName::Service, Timing::Actual),
            done: 0,
            refused: 0,
            kept: Vec::new(),
            last_end: self.start,
        };
        let mut client = Client::connect(self.address).map_err(failed)?;
        let until = self.start + self.duration;
        let each = keep_each(out.pacer_rate(), self.duration);
        let mut at = first;
        while out.pacer.next_due() < until {
            let stopped = || self.stop.load(Relaxed);
            out.pacer.awaited(Instant::now());
            let Some(now) = WAIT.until_or(out.pacer.next_due(), stopped) else {
                break;
            };
            if stopped() {
                break;
            }
            out.pacer.observe(now);
            let due = out.pacer.start(now);
            let number = at % requests.len();
            let (method, path, body) = &requests[number];
            let (status, answer) = client.ask(method, path, body).map_err(failed)?;
            let end = Instant::now();
            out.response.record_span(due, end);
            out.service.record_span(now, end);
            out.last_end = end;
            out.done += 1;
            if status != 200 {
                out.refused += 1;
            } else if out.done.is_multiple_of(each) && out.kept.len() < KEPT {
                out.kept.push((number, answer.to_vec()));
            }
            at += 1;
        }
        Ok(out)
    }
}

impl Loop {
    fn pacer_rate(&self) -> f64 {
        let load = self.pacer.load(0, Duration::from_secs(1));
        load.rate_target_per_s.unwrap_or(1.0)
    }
}

/// Of how many answers one is kept.
fn keep_each(rate_per_s: f64, duration: Duration) -> u64 {
    let all = rate_per_s * duration.as_secs_f64();
    ((all / KEPT as f64) as u64).max(1)
}
