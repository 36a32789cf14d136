//! What a time cannot be less than, however little work it is of.

use serde::{Deserialize, Serialize};

/// What is measured with a time, and is no work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FloorKind {
    /// Reading the clock: an empty timed span.
    Clock,
    /// Waking the thread or task that does the work.
    Wake,
    /// Starting and ending the process that does the work.
    Start,
    /// The step of the stamps that the time is between: what is less is not in them.
    Stamp,
}

/// The floor of a kind, as it was in the run of the row that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RowFloor {
    /// What is measured with each time of the row.
    pub kind: FloorKind,
    /// What that takes: the median.
    pub ns: u64,
}
