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
    /// Levels of zstd.
    pub levels: Vec<i32>,
    /// Levels of deflate, for entries of ZIP archives (feature `zip`).
    pub deflate_levels: Vec<i32>,
    /// Whether the validation of FIX messages is timed (feature `fix`).
    pub fix: bool,
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
    /// Streams that are compressed at once (feature `async`).
    pub streams: Option<Streams>,
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
            levels: Vec::new(),
            deflate_levels: Vec::new(),
            fix: false,
            sizes,
            cell: Duration::from_millis(500),
            run: Duration::from_secs(1),
            tables: true,
            stalls: true,
            streams: None,
            workers: 1,
            load: 0.4,
        }
    }
}

/// Streams of one size that are compressed at once in a runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Streams {
    /// How many.
    pub count: usize,
    /// The content of each, in bytes.
    pub bytes: usize,
    /// Bytes of each write.
    pub write_bytes: usize,
    /// Whether each write is flushed.
    pub flush: bool,
    /// The level.
    pub level: i32,
    /// The memory budget of contexts, in bytes.
    pub memory_bytes: u64,
}

impl Default for Streams {
    /// 16 streams of 1 MiB at level 3 in writes of 16 KiB, without flushes, within 256 MiB.
    fn default() -> Self {
        Self {
            count: 16,
            bytes: 1 << 20,
            write_bytes: 16 << 10,
            flush: false,
            level: 3,
            memory_bytes: 256 << 20,
        }
    }
}
