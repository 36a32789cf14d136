//! The distributions that a matcher records, exactly for its report and in buckets for who looks meanwhile.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use latency::{Buckets, LatencyName, LiveBuckets, Recorder, Recording, Spec};

/// What is recorded of each distribution, by default with these names.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Specs {
    /// From the arrival of changes until they are acknowledged.
    pub acknowledge: Spec,
    /// Making the state that readers see, and handing it over.
    pub publication: Spec,
    /// How long the writer was busy with one batch of changes: making them, the log, the publication.
    pub writer: Spec,
    /// From the arrival of a request for matches until all of its answer is made.
    pub response: Spec,
    /// How long a search kept its thread, until it yielded or was done.
    pub search: Spec,
}

impl Default for Specs {
    fn default() -> Self {
        let spec = |name, operation: &str, series: &str| Spec::new(name, operation).series(series);
        Self {
            acknowledge: spec(LatencyName::Service, "changes", "acknowledge"),
            publication: spec(LatencyName::Service, "publication", "publish"),
            writer: spec(LatencyName::Hold, "changes", "writer"),
            response: spec(LatencyName::Service, "request", "match"),
            search: spec(LatencyName::Hold, "step", "search"),
        }
    }
}

impl Specs {
    /// The same, each changed by `change`: given intervals, for example.
    #[must_use]
    pub fn map(self, change: impl Fn(Spec) -> Spec) -> Self {
        Self {
            acknowledge: change(self.acknowledge),
            publication: change(self.publication),
            writer: change(self.writer),
            response: change(self.response),
            search: change(self.search),
        }
    }
}

/// A distribution that several threads record.
#[derive(Debug)]
pub(crate) struct Row {
    exact: Mutex<Recorder>,
    live: LiveBuckets,
}

impl Row {
    pub(crate) fn new(spec: Spec, start: Instant) -> Self {
        Self {
            exact: Mutex::new(Recorder::new(spec, start)),
            live: LiveBuckets::default(),
        }
    }

    pub(crate) fn record(&self, spans: impl IntoIterator<Item = (Instant, Instant)>) {
        let mut exact = self.exact.lock().unwrap_or_else(PoisonError::into_inner);
        for (start, end) in spans {
            let ns = exact.record_span(start, end);
            self.live.add(ns);
        }
    }

    /// Ends recording: an empty recorder takes the place.
    pub(crate) fn finish(&self, spec: Spec) -> Option<Recording> {
        let mut exact = self.exact.lock().unwrap_or_else(PoisonError::into_inner);
        let empty = Recorder::new(spec.intervals(None), Instant::now());
        let recorder = std::mem::replace(&mut *exact, empty);
        (!recorder.is_empty()).then(|| recorder.finish())
    }
}

/// The distributions so far, in buckets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Live {
    /// See [`Specs::acknowledge`].
    pub acknowledge: Buckets,
    /// See [`Specs::publication`].
    pub publication: Buckets,
    /// See [`Specs::writer`].
    pub writer: Buckets,
    /// See [`Specs::response`].
    pub response: Buckets,
    /// See [`Specs::search`].
    pub search: Buckets,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) acknowledge: Row,
    pub(crate) publication: Row,
    pub(crate) writer: Row,
    pub(crate) response: Row,
    pub(crate) search: Row,
    specs: Specs,
}

impl Rows {
    pub(crate) fn new(specs: Specs, start: Instant) -> Self {
        let row = |spec: &Spec| Row::new(spec.clone(), start);
        Self {
            acknowledge: row(&specs.acknowledge),
            publication: row(&specs.publication),
            writer: row(&specs.writer),
            response: row(&specs.response),
            search: row(&specs.search),
            specs,
        }
    }

    /// What was recorded so far.
    pub(crate) fn live(&self) -> Live {
        Live {
            acknowledge: self.acknowledge.live.read(),
            publication: self.publication.live.read(),
            writer: self.writer.live.read(),
            response: self.response.live.read(),
            search: self.search.live.read(),
        }
    }

    /// Ends recording.
    pub(crate) fn finish(&self) -> Vec<Recording> {
        let specs = self.specs.clone();
        let all = [
            self.response.finish(specs.response),
            self.search.finish(specs.search),
            self.acknowledge.finish(specs.acknowledge),
            self.publication.finish(specs.publication),
            self.writer.finish(specs.writer),
        ];
        all.into_iter().flatten().collect()
    }
}
