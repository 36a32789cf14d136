//! How much a call may do, counted in slices.

/// The most content of a slice.
pub const SLICE_BYTES: usize = 16 << 10;

/// How many slices a call may still do.
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
    /// So many slices.
    pub fn slices(count: u32) -> Self {
        Self { left: count }
    }

    /// As many whole slices as hold this much content, but at least one.
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

    /// Takes slices off. What was done beyond the budget is not owed.
    pub fn charge(&mut self, slices: u32) {
        self.left = self.left.saturating_sub(slices);
    }
}
