//! Who follows the runs: lines on the terminal, and metrics for a scraper.

use bench::stress::Follow;
use latency::report::Table;
use report::units;
use stress::{PoolKind, Progress};

use crate::commands::stress::lines::Lines;
use crate::commands::stress::metrics::Metrics;
use crate::term::live::Live;
use crate::term::message;

/// Prints how runs go where that is wanted, and tells a scraper.
pub(super) struct Follower<'a> {
    said: bool,
    metrics: Option<&'a Metrics>,
    live: Option<&'a Live>,
    /// The round of several pairs.
    round: String,
    /// What runs now, and the lines about it.
    now: Option<(String, PoolKind, Lines)>,
}

impl<'a> Follower<'a> {
    /// `said`: whether lines are printed. How runs go is shown `live` instead, if that is wanted.
    pub(super) fn new(said: bool, metrics: Option<&'a Metrics>, live: Option<&'a Live>) -> Self {
        Self {
            said,
            metrics,
            live,
            round: String::new(),
            now: None,
        }
    }
}

impl Follow for Follower<'_> {
    fn round(&mut self, number: u32, of: u32, pairs: usize) {
        let round = format!("round {number} of {of}, {pairs} pairs");
        if self.said && self.live.is_none() {
            message::status(&round);
        }
        self.round = round + ": ";
    }

    fn capacity(&mut self, blocks_per_s: f64) {
        if self.said {
            let capacity = units::count(blocks_per_s as u64);
            message::status(&format!("capacity: {capacity} blocks a second, closed"));
        }
    }

    fn begin(&mut self, codec: &str, pool: PoolKind, label: Option<String>) {
        if let Some(metrics) = self.metrics {
            metrics.begin(codec, pool);
        }
        if let Some(live) = self.live {
            let run = label
                .clone()
                .unwrap_or_else(|| format!("{codec} {}", pool.name()));
            live.now(format!("{}{run}", self.round));
        }
        let lines = Lines::new(self.said && self.live.is_none(), label);
        self.now = Some((codec.to_owned(), pool, lines));
    }

    fn see(&mut self, progress: &Progress) -> u64 {
        let Some((codec, pool, lines)) = &mut self.now else {
            return 0;
        };
        lines.see(progress);
        if let Some(metrics) = self.metrics {
            metrics.see(codec, *pool, progress);
        }
        lines.held_bytes()
    }

    fn end(&mut self) -> Option<Table> {
        self.now.take().and_then(|(.., lines)| lines.table())
    }
}
