//! Percentiles, given only when there are enough samples, with exact confidence intervals.
//!
//! A percentile is the value at a rank: the ⌈n·p/100⌉-th least. It is never interpolated and never
//! averaged. It needs n samples with 1 − pⁿ ≥ 0.95: with 95 % confidence the greatest value then lies above
//! the true percentile. Such a percentile is *earned*; with fewer samples there is a reason and no number.
//! The interval of a value is distribution-free: two order statistics that enclose the true percentile with
//! at least 95 % confidence, if the values are independent. Values that depend on each other count as fewer
//! ([`crate::dependence`]), and the interval is wider.

use hdrhistogram::Histogram;

use crate::binomial::lower_quantile;
use crate::dependence;
use crate::report::{Percentile, Timing};

/// The percentiles of every report.
pub const LADDER: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];

const CONFIDENCE: f64 = 0.95;

/// The number of samples that the percentile `p` (0 to 100) needs: the least n with 1 − pⁿ ≥ 0.95.
///
/// ```
/// assert_eq!(perfkit_latency::percentile::earned_n(99.0), 299);
/// assert_eq!(perfkit_latency::percentile::earned_n(99.9), 2_995);
/// ```
#[must_use]
pub fn earned_n(p: f64) -> u64 {
    if p.is_nan() || p >= 100.0 {
        return u64::MAX;
    }
    if p <= 0.0 {
        return 1;
    }
    // 100 − p is exact near 100, where it matters.
    let miss = (100.0 - p) / 100.0;
    let n = (1.0 - CONFIDENCE).ln() / (-miss).ln_1p();
    (n.ceil() as u64).max(1)
}

/// Ranks (from 1) of two order statistics that enclose the true percentile `p` with at least this
/// confidence; `None` when n is too small for any.
///
/// Both tails get half of the error. Where one side cannot have its half (a high percentile of a small
/// sample), the least or greatest value bounds it and the other side gets the rest.
///
/// ```
/// use perfkit_latency::percentile::order_statistic_ranks;
/// assert_eq!(order_statistic_ranks(6, 50.0, 0.95), Some((1, 6)));
/// assert_eq!(order_statistic_ranks(5, 50.0, 0.95), None);
/// ```
#[must_use]
pub fn order_statistic_ranks(n: u64, p: f64, confidence: f64) -> Option<(u64, u64)> {
    let in_range = p > 0.0 && p < 100.0 && confidence > 0.0 && confidence < 1.0;
    if n == 0 || !in_range {
        return None;
    }
    let (below, above) = (p / 100.0, (100.0 - p) / 100.0);
    let error = 1.0 - confidence;
    let [all_above, all_below] = one_sided(n, p);
    if all_above + all_below > error {
        return None;
    }
    // P(B < lo) is the chance to miss on the low side, P(B ≥ hi) on the high side.
    let lower = |error: f64| lower_quantile(n, below, above, error).map(|k| k + 1);
    let upper = |error: f64| lower_quantile(n, above, below, error).map(|k| n - k);
    let half = error / 2.0;
    let (lo, hi) = match (lower(half), upper(half)) {
        (Some(lo), Some(hi)) => (lo, hi),
        (Some(_), None) => (lower(error - all_below).unwrap_or(1), n),
        (None, Some(_)) => (1, upper(error - all_above).unwrap_or(n)),
        (None, None) => (1, n),
    };
    Some((lo.clamp(1, n), hi.clamp(1, n)))
}

/// The chances that all of n values lie above the true percentile `p`, and below it.
fn one_sided(n: u64, p: f64) -> [f64; 2] {
    let (below, above) = (p / 100.0, (100.0 - p) / 100.0);
    [below, above].map(|share| (n as f64 * (-share).ln_1p()).exp())
}

/// The least number of values with [`order_statistic_ranks`] for the percentile `p`, between 0 and 100, at this confidence.
pub(crate) fn enclosed_n(p: f64, confidence: f64) -> u64 {
    let error = 1.0 - confidence;
    // All values on the likelier side are too likely with fewer than this; both sides together ask for little more.
    let rarer = (p / 100.0).min((100.0 - p) / 100.0);
    let least = (error.ln() / (-rarer).ln_1p()).floor() as u64;
    let encloses = |n: &u64| one_sided(*n, p).iter().sum::<f64>() <= error;
    (least.max(1)..u64::MAX).find(encloses).unwrap_or(u64::MAX)
}

/// [`order_statistic_ranks`] of values of which `inflation` count as one: the ranks of fewer values, as shares of all.
pub(crate) fn dependent_ranks(
    n: u64,
    p: f64,
    inflation: f64,
    confidence: f64,
) -> Option<(u64, u64)> {
    let effective = dependence::effective(n, dependence::of_percentile(inflation, p));
    let (low, high) = order_statistic_ranks(effective, p, confidence)?;
    if effective == n {
        return Some((low, high));
    }
    let stretched = |rank: u64| u128::from(rank) * u128::from(n) / u128::from(effective);
    let low = u64::try_from(stretched(low - 1)).ok()? + 1;
    let high = u64::try_from(stretched(high)).ok()?;
    Some((low.clamp(1, n), high.clamp(1, n)))
}

/// The rank (from 1) of the percentile `p` among n values: ⌈n·p/100⌉ in integer arithmetic, so that 99.9 %
/// of 1,000 is 999 and not 1,000. `p` counts to six decimals.
#[must_use]
pub fn rank(n: u64, p: f64) -> u64 {
    let millionths = (p.clamp(0.0, 100.0) * 1e6).round() as u128;
    let rank = (u128::from(n) * millionths).div_ceil(100_000_000);
    u64::try_from(rank).unwrap_or(n).clamp(n.min(1), n)
}

/// The ladder of a histogram; `saturated` further values lay above its range.
///
/// For batch means only the median is given, because a mean over many operations hides their tail.
#[must_use]
pub fn percentiles(histogram: &Histogram<u64>, saturated: u64, timing: Timing) -> Vec<Percentile> {
    Ladder {
        histogram,
        saturated,
        timing,
        batch: timing.batch_of_one(),
        min_ns: None,
        max_ns: None,
        inflation: 1.0,
    }
    .at(&LADDER)
}

/// The source of percentiles.
pub(crate) struct Ladder<'a> {
    pub(crate) histogram: &'a Histogram<u64>,
    pub(crate) saturated: u64,
    pub(crate) timing: Timing,
    pub(crate) batch: Option<u64>,
    /// The exact least value, where it is known better than to the histogram's precision.
    pub(crate) min_ns: Option<u64>,
    /// The exact greatest value, where it is known better than to the histogram's precision.
    pub(crate) max_ns: Option<u64>,
    /// How many values count as one independent value, for the mean.
    pub(crate) inflation: f64,
}

impl Ladder<'_> {
    /// Reads the percentiles `ps`, in that order.
    pub(crate) fn at(&self, ps: &[f64]) -> Vec<Percentile> {
        let n = self.histogram.len().saturating_add(self.saturated);
        let mut rows: Vec<Row> = ps.iter().map(|p| self.row(n, *p)).collect();
        let mut ranks: Vec<u64> = rows.iter().flat_map(|row| row.ranks()).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let values = values_at_ranks(self.histogram, &ranks);
        let value_at = |rank: u64| -> Option<u64> {
            let value = ranks
                .binary_search(&rank)
                .ok()
                .and_then(|at| values.get(at).copied())?;
            Some(self.exact(value))
        };
        rows.iter_mut()
            .map(|row| self.percentile(row, &value_at))
            .collect()
    }

    /// A value of the histogram, no less than the least and no more than the greatest recorded.
    fn exact(&self, value: u64) -> u64 {
        let value = self.max_ns.map_or(value, |max| value.min(max));
        self.min_ns.map_or(value, |min| value.max(min))
    }

    fn row(&self, n: u64, p: f64) -> Row {
        let mut row = Row {
            p,
            rank: None,
            bounds: None,
            reason: None,
            no_bounds: None,
        };
        let needed = earned_n(p);
        if n == 0 {
            row.reason = Some("no samples".to_owned());
        } else if self.timing == Timing::BatchMean && p != 50.0 {
            row.reason = Some(match self.batch {
                None | Some(1) => {
                    "mean of a batch, which hides the tail of single operations".to_owned()
                }
                Some(batch) => {
                    format!("mean of {batch}, which hides the tail of single operations")
                }
            });
        } else if n < needed {
            let plural = if n == 1 { "" } else { "s" };
            row.reason = Some(format!("{n} sample{plural}, {needed} needed"));
        } else if rank(n, p) > self.histogram.len() {
            let saturated = self.saturated;
            row.reason = Some(format!(
                "among the {saturated} values above the histogram's range"
            ));
            row.bounds = self.bounds(n, p);
        } else {
            row.rank = Some(rank(n, p));
            row.bounds = self.bounds(n, p);
            row.no_bounds = Some(self.why_no_bounds(n, p)).filter(|_| row.bounds.is_none());
        }
        row
    }

    /// A model repeats what it saw: its values are not independent and have no interval.
    fn bounds(&self, n: u64, p: f64) -> Option<(u64, u64)> {
        let sampled = self.timing != Timing::Modelled;
        sampled
            .then(|| dependent_ranks(n, p, self.inflation, CONFIDENCE))
            .flatten()
    }

    fn why_no_bounds(&self, n: u64, p: f64) -> String {
        if self.timing == Timing::Modelled {
            return "a model repeats what it saw: its values are not independent".to_owned();
        }
        let counts = dependence::effective(n, dependence::of_percentile(self.inflation, p));
        let needed = enclosed_n(p, CONFIDENCE);
        match counts < n {
            true => format!(
                "the {n} samples depend on each other and count as {counts}, {needed} needed"
            ),
            false => format!("{n} samples, {needed} needed"),
        }
    }

    fn percentile(&self, row: &mut Row, value_at: &impl Fn(u64) -> Option<u64>) -> Percentile {
        let value_ns = row.rank.and_then(value_at);
        let ci95_ns = row.bounds.and_then(|(low, high)| {
            // A saturated value is known to be above the range and at most the maximum; any other value to
            // within the range that the histogram counts as the same.
            let in_range = |rank: u64| rank <= self.histogram.len();
            let low = match value_at(low).filter(|_| in_range(low)) {
                Some(value) => self.exact(self.histogram.lowest_equivalent(value)),
                None => self.histogram.high(),
            };
            let high = if in_range(high) {
                value_at(high)?
            } else {
                self.max_ns?
            };
            (low <= high).then_some([low, high])
        });
        let beyond = || "its upper end lies above the histogram's range".to_owned();
        let unbounded = value_ns.is_some() && ci95_ns.is_none();
        Percentile {
            p: row.p,
            value_ns,
            ci95_ns,
            reason: row.reason.take(),
            ci95_reason: unbounded.then(|| row.no_bounds.take().unwrap_or_else(beyond)),
        }
    }
}

struct Row {
    p: f64,
    rank: Option<u64>,
    bounds: Option<(u64, u64)>,
    reason: Option<String>,
    /// Why there are no bounds, of a percentile that has a value.
    no_bounds: Option<String>,
}

impl Row {
    fn ranks(&self) -> impl Iterator<Item = u64> + use<> {
        let bounds = self.bounds.into_iter().flat_map(|(low, high)| [low, high]);
        self.rank.into_iter().chain(bounds)
    }
}

/// The values at ascending ranks (from 1), in one pass; shorter than `ranks` when these go beyond the
/// histogram.
pub(crate) fn values_at_ranks(histogram: &Histogram<u64>, ranks: &[u64]) -> Vec<u64> {
    let mut values = Vec::with_capacity(ranks.len());
    let mut seen = 0u64;
    for recorded in histogram.iter_recorded() {
        seen = seen.saturating_add(recorded.count_at_value());
        while ranks.get(values.len()).is_some_and(|rank| *rank <= seen) {
            values.push(histogram.highest_equivalent(recorded.value_iterated_to()));
        }
        if values.len() == ranks.len() {
            break;
        }
    }
    values
}

#[cfg(test)]
mod tests;
