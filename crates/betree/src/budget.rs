//! Budgets: how much work a call may do, counted in reductions, and whether it finished.
//!
//! A reduction is a visit of an index node, a test of an expression, an iteration over a list, a token of an
//! event or a written id.

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
    /// No limit.
    pub const UNLIMITED: Self = Self { left: u64::MAX };

    /// `count` reductions, at least 1, so that every call makes progress.
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

/// The most reductions of a call beyond its budget: one indivisible operation. The largest ones are a lockstep
/// block and a search for a pattern in the longest text.
pub const OVERSHOOT_MAX: u64 = 1_100;

/// The outcome of a call with a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The budget is used up, and there is more to do.
    Yielded,
    /// Everything is done.
    Done,
}
