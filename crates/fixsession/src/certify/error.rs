//! What is wrong with a table of scenarios.

/// A line of a table of scenarios that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the scenarios: {what}")]
pub struct TableError {
    /// The line, from 1 on.
    pub line: u32,
    /// What was found, and what was expected.
    pub what: String,
}
