//! Times and progress of an extraction.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use latency::report::LatencyName;
use latency::{Recorder, Spec};
use report::names;
use zipstream::extract::{ExtractObserver, ExtractWorker, Item};

use crate::session::Session;
use crate::term::progress::Progress;

/// The recorders of a thread.
pub(super) struct Times {
    pub(super) entry: Recorder,
    pub(super) hold: Recorder,
}

impl Times {
    pub(super) fn new(session: &Session) -> Self {
        let recorder = |spec: Spec| Recorder::new(session.spec(spec), session.run_start());
        Self {
            entry: recorder(Spec::new(LatencyName::Service, "entry")),
            hold: recorder(Spec::new(LatencyName::Hold, "call")),
        }
    }

    fn merge(&mut self, other: Self) {
        // Recorders of one run have the same layout.
        let _ = self.entry.merge(other.entry);
        let _ = self.hold.merge(other.hold);
    }
}

/// Records times and shows progress.
pub(super) struct Observer<'a> {
    session: &'a Session,
    progress: &'a Progress,
    /// Of the threads that have ended.
    times: Mutex<Option<Times>>,
}

impl<'a> Observer<'a> {
    pub(super) fn new(session: &'a Session, progress: &'a Progress) -> Self {
        Self {
            session,
            progress,
            times: Mutex::new(None),
        }
    }

    /// The times of all threads.
    pub(super) fn times(self) -> Times {
        let times = self.times.into_inner();
        let times = times.unwrap_or_else(PoisonError::into_inner);
        times.unwrap_or_else(|| Times::new(self.session))
    }
}

impl ExtractObserver for Observer<'_> {
    fn worker(&self) -> Box<dyn ExtractWorker + '_> {
        let now = Instant::now();
        Box::new(Worker {
            observer: self,
            times: Some(Times::new(self.session)),
            start: now,
            mark: now,
        })
    }
}

/// One thread's part.
struct Worker<'a> {
    observer: &'a Observer<'a>,
    /// Until it ends.
    times: Option<Times>,
    /// When work on the entry started.
    start: Instant,
    /// When the call started that decodes the next piece.
    mark: Instant,
}

impl ExtractWorker for Worker<'_> {
    fn started(&mut self, _: Item<'_>) {
        self.start = Instant::now();
        self.mark = self.start;
    }

    fn decoded(&mut self, item: Item<'_>, _: u64) {
        let now = Instant::now();
        if let Some(times) = &mut self.times {
            times.hold.record_span_what(self.mark, now, || name(item));
        }
    }

    fn written(&mut self, _: Item<'_>, bytes: u64) {
        self.observer.progress.add(bytes);
        self.mark = Instant::now();
    }

    fn done(&mut self, item: Item<'_>, _: u64) {
        let end = Instant::now();
        if let Some(times) = &mut self.times {
            times.entry.record_span_what(self.start, end, || name(item));
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        let Some(times) = self.times.take() else {
            return;
        };
        let all = self.observer.times.lock();
        let mut all = all.unwrap_or_else(PoisonError::into_inner);
        match &mut *all {
            Some(all) => all.merge(times),
            none => *none = Some(times),
        }
    }
}

fn name(item: Item<'_>) -> String {
    names::text(item.name().as_bytes())
}
