//! What is measured, and against which threshold.

use std::time::Duration;

use zstdkit::Recipe;

/// What is measured, and against which threshold.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The longest that a call may keep its thread.
    pub threshold: Duration,
    /// Settings by purpose; not [`Recipe::Auto`], which only chooses among the others.
    pub recipes: Vec<Recipe>,
    /// Sizes of content in bytes, ascending.
    pub sizes: Vec<usize>,
    /// Time for one cell of the tables.
    pub cell: Duration,
    /// Time for one run of the stall measurement.
    pub run: Duration,
    /// Whether calls are timed.
    pub tables: bool,
    /// Whether stalls are measured (feature `async`).
    pub stalls: bool,
    /// Worker threads of the runtime under load.
    pub workers: usize,
    /// The load, as a share of one processor.
    pub load: f64,
}

impl Plan {
    /// Recipes on contents of these sizes, with a threshold of 1 ms and everything measured.
    #[must_use]
    pub fn new(recipes: Vec<Recipe>, sizes: Vec<usize>) -> Self {
        Self {
            threshold: Duration::from_millis(1),
            recipes,
            sizes,
            cell: Duration::from_millis(500),
            run: Duration::from_secs(1),
            tables: true,
            stalls: true,
            workers: 1,
            load: 0.4,
        }
    }
}
