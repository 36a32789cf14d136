//! What is compared, and how strictly.

/// The margin of "no difference" by default: 1 %.
pub const MARGIN: f64 = 0.01;

/// The widest margin that the control can cause: beyond 5 % a run is too noisy for "no difference".
pub const MARGIN_MAX: f64 = 0.05;

/// Confidence of the intervals of a comparison that is looked at once.
pub const CONFIDENCE: f64 = 0.95;

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
/// assert_eq!(Options::default().margin(0.02).margin, 0.02);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Differences up to this share count as none; [`MARGIN`] by default. A control that varies more widens it,
    /// up to [`MARGIN_MAX`].
    pub margin: f64,
    /// Confidence of the intervals: [`CONFIDENCE`], or more at one of several [`Looks`](super::Looks).
    pub confidence: f64,
    /// Whether the values are single operations (or runs of a command), whose tails are compared, too. Of sums over
    /// several operations there are no tails. Off by default.
    pub singles: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            margin: MARGIN,
            confidence: CONFIDENCE,
            singles: false,
        }
    }
}

impl Options {
    /// Sets the share up to which differences count as none.
    #[must_use]
    pub fn margin(mut self, share: f64) -> Self {
        self.margin = share;
        self
    }

    /// Sets whether the values are single operations.
    #[must_use]
    pub fn singles(mut self, are: bool) -> Self {
        self.singles = are;
        self
    }

    /// Sets the confidence of the intervals.
    #[must_use]
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }
}
