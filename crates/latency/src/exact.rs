//! What a recorder keeps exactly.

/// Exact sums of the recorded values, which the histogram has only to its precision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exact {
    /// Nanoseconds of all operations.
    pub(crate) sum_ns: u128,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
    /// Operations beyond one per value, when values are batches.
    pub(crate) extra_ops: u64,
    pub(crate) saturated: u64,
    pub(crate) saturated_sum: f64,
    pub(crate) saturated_squares: f64,
}

impl Exact {
    pub(crate) fn new() -> Self {
        Self {
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            extra_ops: 0,
            saturated: 0,
            saturated_sum: 0.0,
            saturated_squares: 0.0,
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn saturate(&mut self, ns: u64) {
        self.saturated = self.saturated.saturating_add(1);
        self.saturated_sum += ns as f64;
        self.saturated_squares += ns as f64 * ns as f64;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.extra_ops = self.extra_ops.saturating_add(other.extra_ops);
        self.saturated = self.saturated.saturating_add(other.saturated);
        self.saturated_sum += other.saturated_sum;
        self.saturated_squares += other.saturated_squares;
    }
}
