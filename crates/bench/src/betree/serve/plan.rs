//! How much is measured.

use std::time::Duration;

/// How much is measured.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The name of the workload, one of [`betree::workload::shapes::named`].
    pub shape: String,
    /// Expressions that are there from the start, and are never changed.
    pub expressions: u32,
    /// Events per second.
    pub rate: f64,
    /// Events of a request.
    pub batch: u32,
    /// Connections that requests take turns on.
    pub connections: u32,
    /// Changes per second, each on its own. 0 is none.
    pub changes_rate: f64,
    /// How long.
    pub duration: Duration,
    /// What expressions and events are drawn from.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            shape: "country in, age >=, segments one of".to_owned(),
            expressions: 100_000,
            rate: 20_000.0,
            batch: 20,
            connections: 4,
            changes_rate: 100.0,
            duration: Duration::from_secs(10),
            seed: 1,
        }
    }
}
