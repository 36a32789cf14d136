//! How much a call may do, counted in reductions, and whether it was enough.
//!
//! A reduction is a visit of an index node, a test of an expression, an iteration over a list, a
//! token of an event or an id written.

/// How many reductions a call may do.
///
/// ```
/// use betree::Budget;
///
/// assert_eq!(Budget::reductions(2_000).left(), 2_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    left: u64,
}

impl Budget {
    /// No bound.
    pub const UNLIMITED: Self = Self { left: u64::MAX };

    /// So many reductions, at least one: a call always gets somewhere.
    #[must_use]
    pub fn reductions(count: u64) -> Self {
        Self {
            left: if count == 0 { 1 } else { count },
        }
    }

    /// Reductions left.
    #[must_use]
    pub fn left(self) -> u64 {
        self.left
    }
}

/// The most that a call does beyond its budget: one operation that is not divided further. The
/// largest are a block of programs in lockstep and a pattern sought in the longest text.
pub const OVERSHOOT_MAX: u64 = 1_100;

/// What a call with a budget came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The budget is spent, and there is more to do.
    Yielded,
    /// All is done.
    Done,
}
