//! Records how long entries, calls and the work of threads take.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use latency::report::LatencyName;
use latency::{Recorder, Spec};
use report::Outcome;
use zipstream::JobObserver;

use crate::session::Session;

/// The recorders of a run.
pub(super) struct Times {
    pub(super) entry: Recorder,
    pub(super) hold: Recorder,
    /// Of the threads' work.
    jobs: Arc<Mutex<Option<Recorder>>>,
    pub(super) calls: u64,
}

impl Times {
    pub(super) fn new(session: &Session, threaded: bool) -> Self {
        let recorder = |spec| Recorder::new(session.spec(spec), session.run_start());
        let jobs = Spec::new(LatencyName::Service, "job").series("threads");
        Self {
            entry: recorder(Spec::new(LatencyName::Service, "entry")),
            hold: recorder(Spec::new(LatencyName::Hold, "call")),
            jobs: Arc::new(Mutex::new(threaded.then(|| recorder(jobs)))),
            calls: 0,
        }
    }

    pub(super) fn around(&self) -> JobObserver {
        let jobs = Arc::clone(&self.jobs);
        Arc::new(move |job, work| {
            let start = Instant::now();
            work();
            let end = Instant::now();
            let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(jobs) = &mut *jobs {
                jobs.record_span_what(start, end, || match job.entries {
                    0 => format!("chunk of entry {}", job.entry + 1),
                    n => format!("{n} entries from {}", job.entry + 1),
                });
            }
        })
    }

    pub(super) fn finish(self, outcome: &mut Outcome) {
        outcome.ops = Some(self.entry.n());
        outcome.add(&self.entry.finish());
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(jobs) = jobs.take().filter(|jobs| jobs.n() > 0) {
            outcome.add(&jobs.finish());
        }
        drop(jobs);
        outcome.add(&self.hold.finish());
    }
}
