//! The current state of the runs for `--metrics`. [`text`] formats the board that the runs write, which is here;
//! [`crate::commands::metrics`] serves it.

mod text;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use stress::{Counts, Live, PoolKind, Progress, Sample};

use crate::commands::metrics::{self, Health};
use crate::failure::Result;

/// One codec in one pool.
#[derive(Debug, Clone)]
struct Row {
    codec: String,
    pool: PoolKind,
    /// Counts of earlier runs, which are over.
    before: (Counts, Live),
    now: (Counts, Live),
    held: Option<Sample>,
    queued_batches: usize,
}

impl Row {
    /// Counts of all runs so far.
    fn totals(&self) -> (Counts, Live) {
        let (mut counts, mut live) = self.before;
        counts += self.now.0;
        live += self.now.1;
        (counts, live)
    }
}

/// The current state. Written ten times per second, read for each request.
#[derive(Debug, Default)]
struct Board(Mutex<Vec<Row>>);

impl Board {
    fn with<T>(&self, work: impl FnOnce(&mut Vec<Row>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The board and its server; both end when this is dropped.
pub(super) struct Metrics {
    board: Arc<Board>,
    _server: metrics::Metrics,
}

impl Metrics {
    /// Listens, and prints the address if `said`.
    pub(super) fn start(address: SocketAddr, said: bool) -> Result<Self> {
        let board = Arc::new(Board::default());
        let registry = text::registry(board.clone());
        let server = metrics::Metrics::start(address, registry, Health::new(true), said)?;
        Ok(Self {
            board,
            _server: server,
        })
    }

    /// Starts a run.
    pub(super) fn begin(&self, codec: &str, pool: PoolKind) {
        self.board.with(|rows| {
            let own = |row: &&mut Row| row.codec == codec && row.pool == pool;
            match rows.iter_mut().find(own) {
                Some(row) => {
                    row.before = row.totals();
                    row.now = Default::default();
                }
                None => rows.push(Row {
                    codec: codec.to_owned(),
                    pool,
                    before: Default::default(),
                    now: Default::default(),
                    held: None,
                    queued_batches: 0,
                }),
            }
        });
    }

    /// The current run, if it is of that codec and pool.
    pub(super) fn see(&self, codec: &str, pool: PoolKind, progress: &Progress) {
        self.board.with(|rows| {
            let own = |row: &&mut Row| row.codec == codec && row.pool == pool;
            if let Some(row) = rows.iter_mut().find(own) {
                row.now = (progress.counts, progress.live.unwrap_or_default());
                row.held = Some(progress.held);
                row.queued_batches = progress.queued_batches;
            }
        });
    }
}
