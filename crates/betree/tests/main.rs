//! Integration tests in one executable: it links once. `edges` stands alone, for its long run is asked for by name.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod batches;
mod cells;
mod churn;
mod common;
mod explain;
#[cfg(feature = "workload")]
mod growth;
mod hints;
mod hostile;
mod language;
mod lint;
mod merges;
mod oracle;
mod owned;
#[cfg(feature = "workload")]
mod shapes;
mod snapshots;
mod texts;
