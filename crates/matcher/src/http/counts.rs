//! What a server counts.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) requests: AtomicU64,
    pub(super) problems: AtomicU64,
    pub(super) connections: AtomicU64,
    pub(super) open: AtomicU64,
    pub(super) turned_away: AtomicU64,
    pub(super) events: AtomicU64,
    pub(super) events_refused: AtomicU64,
    pub(super) events_late: AtomicU64,
    pub(super) matches: AtomicU64,
}

/// What a server did so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpStatus {
    /// Requests that came.
    pub requests: u64,
    /// Those that were answered with an error.
    pub problems: u64,
    /// Connections that were accepted.
    pub connections: u64,
    /// Those that are open.
    pub connections_open: u64,
    /// Those that were too many.
    pub connections_turned_away: u64,
    /// Events that were matched.
    pub events: u64,
    /// Events that were answered with an error.
    pub events_refused: u64,
    /// Those of them whose time was over before their search was.
    pub events_late: u64,
    /// Ids that were found.
    pub matches: u64,
}

/// A connection that is open until this is dropped, by a panic too.
#[derive(Debug)]
pub(super) struct Open {
    counts: Arc<Counts>,
    /// How many others were open.
    pub(super) others: u64,
}

impl Open {
    pub(super) fn new(counts: &Arc<Counts>) -> Self {
        counts.connections.fetch_add(1, Relaxed);
        Self {
            others: counts.open.fetch_add(1, Relaxed),
            counts: Arc::clone(counts),
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.counts.open.fetch_sub(1, Relaxed);
    }
}

impl Counts {
    pub(super) fn read(&self) -> HttpStatus {
        HttpStatus {
            requests: self.requests.load(Relaxed),
            problems: self.problems.load(Relaxed),
            connections: self.connections.load(Relaxed),
            connections_open: self.open.load(Relaxed),
            connections_turned_away: self.turned_away.load(Relaxed),
            events: self.events.load(Relaxed),
            events_refused: self.events_refused.load(Relaxed),
            events_late: self.events_late.load(Relaxed),
            matches: self.matches.load(Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_whose_task_panics_is_open_no_more() {
        let counts = Arc::<Counts>::default();
        let first = Open::new(&counts);
        assert_eq!(first.others, 0);
        let second = Open::new(&counts);
        assert_eq!(second.others, 1);
        let panics = std::thread::spawn(move || {
            let _second = second;
            panic!("injected");
        });
        assert!(panics.join().is_err());
        let status = counts.read();
        assert_eq!((status.connections, status.connections_open), (2, 1));
        drop(first);
        assert_eq!(counts.read().connections_open, 0);
    }
}
