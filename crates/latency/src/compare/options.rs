//! What is compared, and how strictly.

/// Resolution that "no difference" needs by default: 5 %.
pub const RESOLUTION_MAX: f64 = 0.05;

/// Fewest pairs with an interval of the median, and so with a verdict.
pub const PAIRS_MIN: u64 = 6;

/// What a comparison is called.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// What was compared.
    pub row: &'a str,
    /// Name of the baseline.
    pub baseline: &'a str,
    /// Name of the target.
    pub target: &'a str,
}

/// Bucket sums in nanoseconds, paired by index: the n-th of each side ran next to each other.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'a> {
    /// The baseline.
    pub base: &'a [f64],
    /// The target.
    pub target: &'a [f64],
    /// The baseline a second time, run as if it were a target (an A/A control).
    pub control: Option<&'a [f64]>,
    /// Operations in a bucket.
    pub bucket_ops: u64,
}

/// How strict a verdict is.
///
/// ```
/// use perfkit_latency::compare::Options;
/// assert_eq!(Options::default().resolution_max(0.02).resolution_max, 0.02);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The coarsest resolution that allows the verdict "no difference"; [`RESOLUTION_MAX`] by default.
    pub resolution_max: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            resolution_max: RESOLUTION_MAX,
        }
    }
}

impl Options {
    /// Sets the coarsest resolution that allows the verdict "no difference".
    #[must_use]
    pub fn resolution_max(mut self, share: f64) -> Self {
        self.resolution_max = share;
        self
    }
}
