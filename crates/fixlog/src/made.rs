//! What is made of a block of a log, on its way to whoever adds up.

use std::collections::BTreeMap;

use crate::fills::FillPart;
use crate::health::HealthPart;
use crate::orders::OrderPart;
use crate::{Faults, Part};

/// What a piece of [`Made::out`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// A message that is wanted.
    Wanted,
    /// A message that the filter does not want.
    Other,
    /// A fault.
    Fault,
}

impl Made {
    /// A piece and its text.
    #[must_use]
    pub fn piece(&self, at: usize) -> (Piece, &[u8]) {
        let start = at.checked_sub(1).and_then(|at| self.pieces.get(at));
        let start = start.map_or(0, |(end, _)| *end);
        let Some((end, piece)) = self.pieces.get(at) else {
            return (Piece::Other, &[]);
        };
        (*piece, self.out.get(start..*end).unwrap_or(&[]))
    }
}

/// What was made of a block.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Made {
    /// Lines, or messages.
    pub out: Vec<u8>,
    /// Where each message and each fault of `out` ends, if that was asked for.
    pub pieces: Vec<(usize, Piece)>,
    /// The times of pieces (52), if that was asked for.
    pub times_ns: Vec<Option<i64>>,
    /// How many messages are good, and wanted.
    pub good: u64,
    /// How many messages the filter does not want.
    pub filtered: u64,
    /// How many are bad.
    pub bad: u64,
    /// How many are not valid but accepted, wanted or not.
    pub accepted: u64,
    /// How many good ones have warnings.
    pub warned: u64,
    /// The first faults, at most 20, by byte offset, where `out` has no lines for them.
    pub named: Vec<(u64, String)>,
    /// How often each class of fault occurs.
    pub faults: Faults,
    /// The tags that no dictionary has and whose values stayed as they were, because they are numbers or
    /// codes, and how many values.
    pub left: BTreeMap<u32, u64>,
    /// The statistics, for [`Statistics::add`](crate::Statistics::add).
    pub part: Part,
    /// What the block says about orders.
    pub orders: OrderPart,
    /// What the block says about sessions.
    pub health: HealthPart,
    /// What the block says about fills.
    pub fills: FillPart,
}
