//! A task that another thread calls again and again: how late it comes is what the other tasks of its runtime cost it.

use std::thread;
use std::time::{Duration, Instant};

use latency::report::LatencyName;
use latency::{Recorder, Spec};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::Error;

/// How often the probe is called.
const PERIOD: Duration = Duration::from_micros(200);
/// The longest delay that can be recorded.
const DELAY_MAX_NS: u64 = 600_000_000_000;

/// What a probe has found.
pub(crate) struct Delays {
    /// From when it was called.
    pub(crate) stall: Recorder,
    /// How late it was called: because of the machine, not the runtime.
    pub(crate) late: Recorder,
}

impl Delays {
    pub(crate) fn new(start: Instant) -> Self {
        let delays = || {
            let spec = Spec::new(LatencyName::Response, "probe").range(DELAY_MAX_NS, 3);
            Recorder::new(spec, start)
        };
        Self {
            stall: delays(),
            late: delays(),
        }
    }

    pub(crate) fn merge(&mut self, other: Self) -> Result<(), Error> {
        self.stall
            .merge(other.stall)
            .and_then(|()| self.late.merge(other.late))
            .map_err(|error| Error::new(error.to_string()))
    }
}

/// A probe that is called.
pub(crate) struct Probe {
    task: JoinHandle<Recorder>,
    caller: thread::JoinHandle<Recorder>,
}

impl Probe {
    /// Calls the probe from now on, for as long as the next time that it is due says so. The caller never waits
    /// for the probe.
    pub(crate) fn start(
        runtime: &Runtime,
        delays: Delays,
        start: Instant,
        go_on: impl Fn(Instant) -> bool + Send + 'static,
    ) -> Self {
        let Delays {
            mut stall,
            mut late,
        } = delays;
        let (call, mut calls) = mpsc::unbounded_channel::<Instant>();
        let task = runtime.spawn(async move {
            while let Some(called) = calls.recv().await {
                stall.record_span(called, Instant::now());
            }
            stall
        });
        let caller = thread::spawn(move || {
            let mut due = start;
            while go_on(due) {
                thread::sleep(due.saturating_duration_since(Instant::now()));
                let now = Instant::now();
                late.record_span(due, now);
                if call.send(now).is_err() {
                    break;
                }
                due += PERIOD;
            }
            late
        });
        Self { task, caller }
    }

    /// What it has found, when it is called no more.
    pub(crate) fn finish(self, runtime: &Runtime) -> Result<Delays, Error> {
        let late = self
            .caller
            .join()
            .map_err(|_| Error::new("the caller of the probe panicked"))?;
        let stall = runtime
            .block_on(self.task)
            .map_err(|error| Error::new(format!("a task of the measurement failed: {error}")))?;
        Ok(Delays { stall, late })
    }
}
