//! What the tables are made of.

use super::runner::Found;

/// What all candidates came to on one input, in blocks of one size.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) data: String,
    pub(crate) block_bytes: u64,
    /// The size asked for.
    pub(crate) asked: Option<usize>,
    pub(crate) found: Vec<Found>,
}
