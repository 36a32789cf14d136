//! The amount of work that a call may do, counted in slices.

/// The most content of a slice.
pub const SLICE_BYTES: usize = 16 << 10;

/// The number of slices that a call may still do.
///
/// ```
/// use zstdkit::sliced::Budget;
///
/// let mut budget = Budget::slices(3);
/// assert_eq!(budget.left(), 3);
/// budget.charge(5);
/// assert!(budget.is_spent());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    left: u32,
}

impl Budget {
    /// A budget of this many slices.
    pub fn slices(count: u32) -> Self {
        Self { left: count }
    }

    /// A budget of as many whole slices as fit into this much content, at least one.
    pub fn content(bytes: usize) -> Self {
        Self::slices(u32::try_from((bytes / SLICE_BYTES).max(1)).unwrap_or(u32::MAX))
    }

    /// Slices left.
    pub fn left(self) -> u32 {
        self.left
    }

    /// Whether nothing is left.
    pub fn is_spent(self) -> bool {
        self.left == 0
    }

    /// Subtracts slices. Work beyond the budget is not carried over.
    pub fn charge(&mut self, slices: u32) {
        self.left = self.left.saturating_sub(slices);
    }
}
