//! Percentiles above the median: a tail can be ten times slower where the median is the same.
//!
//! Each percentile that both sides have enough values for is compared by exact order-statistic intervals: one on
//! either side, and the difference lies between that of their far ends. The chance that either misses is at most the
//! sum of both, so that each side gets half of the error of its percentile; and the percentiles that are looked at
//! share the error of the comparison (Bonferroni). All intervals together then hold with the confidence of the
//! comparison, whatever the distribution is and however the percentiles depend on each other.
//!
//! A tail is judged as the median is: its whole interval has to lie beyond what the control shows, of the median or of
//! this percentile; and of two separate runs, beyond what the halves of either run differ by, where its time line tells.

use hdrhistogram::Histogram;

use super::Options;
use crate::dependence;
use crate::histogram::Layout;
use crate::percentile::{LADDER, dependent_ranks, earned_n, enclosed_n, rank, values_at_ranks};
use crate::report::{Interval, Latency, TailDifference, TailLeftOut, Timing, Verdict, finite};

/// The median and [`TAILS`], where nothing is known but how values are distributed.
const ALL: [f64; 5] = LADDER;
/// Percentiles that are compared besides the median.
pub const TAILS: [f64; 4] = [LADDER[1], LADDER[2], LADDER[3], LADDER[4]];

/// The values of one side, by rank.
#[derive(Debug)]
pub(super) struct Sample {
    values: Values,
    n: u64,
    /// How many values count as one independent value.
    inflation: f64,
    /// The earlier and the later half of a run.
    halves: Option<[Histogram<u64>; 2]>,
}

#[derive(Debug)]
enum Values {
    /// Each, in ascending order.
    Sorted(Vec<f64>),
    /// To the precision of a histogram, between the exact least and greatest.
    Counted {
        histogram: Histogram<u64>,
        min_ns: u64,
        max_ns: u64,
        /// Whether values between two recorded ones may be counted at the upper one, as where a file has steps alone.
        in_steps: bool,
    },
}

impl Sample {
    /// Of single values in the order in which they were taken.
    pub(super) fn of_values(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.retain(|value| value.is_finite());
        let inflation = dependence::inflation(&sorted);
        sorted.sort_by(f64::total_cmp);
        Self {
            n: sorted.len() as u64,
            values: Values::Sorted(sorted),
            inflation,
            halves: None,
        }
    }

    /// Of a row of single operations; `None` for means over batches, and for values that a model made.
    pub(super) fn of_row(row: &Latency) -> Option<Self> {
        let single =
            matches!(row.timing, Timing::Actual | Timing::Intended) && row.batch == Some(1);
        let histogram = row.histogram().ok().filter(|_| single)?;
        Some(Self {
            n: histogram.len().saturating_add(row.saturated),
            values: Values::Counted {
                histogram,
                min_ns: row.min_ns?,
                max_ns: row.max_ns?,
                in_steps: false,
            },
            inflation: row.inflation(),
            halves: None,
        })
    }

    /// The same of a row that may have been read from steps.
    pub(super) fn of_steps(row: &Latency) -> Option<Self> {
        let mut sample = Self::of_row(row)?;
        if let Values::Counted { in_steps, .. } = &mut sample.values {
            *in_steps = true;
        }
        Some(sample)
    }

    /// The same with the halves of its run, which show how the run drifted.
    pub(super) fn of_run(row: &Latency) -> Option<Self> {
        Some(Self {
            halves: halves(row),
            ..Self::of_row(row)?
        })
    }

    /// How far the percentile of the later half of the run is from that of the earlier half, where both have enough
    /// values to know it; else 0.
    fn drift(&self, p: f64) -> f64 {
        let at = |half: &Histogram<u64>| {
            let n = half.len();
            let found = values_at_ranks(half, &[rank(n, p)]);
            found
                .first()
                .filter(|_| n >= earned_n(p))
                .map(|ns| *ns as f64)
        };
        let found = self
            .halves
            .as_ref()
            .and_then(|[earlier, later]| relative(at(later)?, at(earlier)?));
        found.map_or(0.0, f64::abs)
    }

    /// The least and the greatest value that each rank can have, of ascending ranks.
    fn at(&self, ranks: [u64; 3]) -> Option<[[f64; 2]; 3]> {
        match &self.values {
            Values::Sorted(sorted) => {
                let value = |rank: u64| {
                    let value = *sorted.get(usize::try_from(rank.checked_sub(1)?).ok()?)?;
                    Some([value; 2])
                };
                Some([value(ranks[0])?, value(ranks[1])?, value(ranks[2])?])
            }
            Values::Counted {
                histogram,
                min_ns,
                max_ns,
                in_steps,
            } => {
                let below = |value: u64| {
                    let values = histogram.iter_recorded().map(|one| one.value_iterated_to());
                    values.take_while(|other| *other < value).last()
                };
                let found = values_at_ranks(histogram, &ranks);
                let value = |nth: usize| {
                    let ends = match found.get(nth) {
                        Some(value) => {
                            let lowest = histogram.lowest_equivalent(*value);
                            let low = match in_steps {
                                true => below(lowest).unwrap_or(1),
                                false => lowest,
                            };
                            [low, histogram.highest_equivalent(*value)]
                        }
                        // Above the range of the histogram.
                        None => [histogram.high(), *max_ns],
                    };
                    ends.map(|ns| ns.min(*max_ns).max(*min_ns) as f64)
                };
                Some([value(0), value(1), value(2)])
            }
        }
    }

    /// The value of a percentile, and its interval.
    fn percentile(&self, p: f64, confidence: f64) -> Option<Found> {
        let (low, high) = dependent_ranks(self.n, p, self.inflation, confidence)?;
        let middle = rank(self.n, p).clamp(low, high);
        let [low, middle, high] = self.at([low, middle, high])?;
        Some(Found {
            // As reports give it.
            value: middle[1],
            interval: [low[0], high[1]],
        })
    }

    /// How many independent values count for a percentile.
    fn counts(&self, p: f64) -> u64 {
        dependence::effective(self.n, dependence::of_percentile(self.inflation, p))
    }

    fn is_in_ns(&self) -> bool {
        matches!(self.values, Values::Counted { .. })
    }
}

/// A percentile of one side.
struct Found {
    value: f64,
    interval: [f64; 2],
}

/// The values of a comparison whose tails are compared.
#[derive(Debug)]
pub(super) struct Samples {
    pub(super) base: Sample,
    pub(super) target: Sample,
    /// The baseline a second time.
    pub(super) control: Option<Sample>,
}

/// The percentiles of a comparison.
#[derive(Debug, Default)]
pub(super) struct Tails {
    pub(super) compared: Vec<TailDifference>,
    pub(super) left_out: Vec<TailLeftOut>,
}

impl Samples {
    /// All percentiles for which both sides have enough values. `bound` is what the control shows of the median.
    pub(super) fn differences(&self, options: Options, bound: f64) -> Tails {
        self.tails(&TAILS, options, bound)
    }

    /// The same with the median, of which nothing else is known.
    pub(super) fn all_differences(&self, options: Options, bound: f64) -> Tails {
        self.tails(&ALL, options, bound)
    }

    fn tails(&self, ps: &[f64], options: Options, bound: f64) -> Tails {
        let compared = self.differences_at(ps, options, bound);
        let is_missing = |p: f64| p > 50.0 && compared.iter().all(|found| found.p != p);
        let missing = (1..).zip(ps).filter(|(_, p)| is_missing(**p));
        let left_out = missing.map(|(looked_at, p)| TailLeftOut {
            p: *p,
            reason: self.why_not(*p, looked_at, options),
        });
        Tails {
            left_out: left_out.collect(),
            compared,
        }
    }

    /// Why a percentile has no difference. It and all below it share the error: `looked_at` in all.
    fn why_not(&self, p: f64, looked_at: u64, options: Options) -> String {
        let error = (1.0 - options.confidence) / looked_at as f64;
        let needed = enclosed_n(p, 1.0 - error / 2.0);
        let [base, target] = [("baseline", &self.base), ("target", &self.target)];
        let (name, fewest) = match base.1.counts(p) <= target.1.counts(p) {
            true => base,
            false => target,
        };
        let (n, counts) = (fewest.n, fewest.counts(p));
        if counts >= needed {
            return "there is no ratio to a baseline of 0".to_owned();
        }
        let plural = if n == 1 { "" } else { "s" };
        let depend = match counts < n {
            true => format!(" that depend on each other and count as {counts}"),
            false => String::new(),
        };
        format!("{n} value{plural} of the {name}{depend}, {needed} needed")
    }

    fn differences_at(&self, ps: &[f64], options: Options, bound: f64) -> Vec<TailDifference> {
        let enough = |p: &&f64| earned_n(**p) <= self.base.n.min(self.target.n);
        let mut looked_at = ps.iter().filter(enough).count();
        // With fewer percentiles each has more of the error. How many there are depends on the number of values alone.
        while looked_at > 0 {
            let error = (1.0 - options.confidence) / looked_at as f64;
            let found = self.each(&ps[..looked_at], error, options, bound);
            match found {
                Some(found) => return found.into_iter().flatten().collect(),
                None => looked_at -= 1,
            }
        }
        Vec::new()
    }

    /// The differences at these percentiles; `None` where one has too few values for so small an error. What has no
    /// ratio, next to a baseline of 0, has no difference.
    fn each(
        &self,
        ps: &[f64],
        error: f64,
        options: Options,
        bound: f64,
    ) -> Option<Vec<Option<TailDifference>>> {
        let confidence = 1.0 - error / 2.0;
        let one = |p: &f64| {
            let base = self.base.percentile(*p, confidence)?;
            let target = self.target.percentile(*p, confidence)?;
            let shown = self.control.as_ref().and_then(|control| {
                let control = control.percentile(*p, confidence)?;
                relative(control.value, base.value)
            });
            let bound = bound
                .max(shown.map_or(0.0, f64::abs))
                .max(self.base.drift(*p))
                .max(self.target.drift(*p));
            Some(self.difference(*p, &base, &target, options, bound))
        };
        ps.iter().map(one).collect()
    }

    fn difference(
        &self,
        p: f64,
        base: &Found,
        target: &Found,
        options: Options,
        bound: f64,
    ) -> Option<TailDifference> {
        let difference = relative(target.value, base.value)?;
        let low = relative(target.interval[0], base.interval[1])?;
        let high = relative(target.interval[1], base.interval[0])?;
        let margin = options.margin;
        let verdict = if high < -bound {
            Verdict::Better
        } else if low > bound {
            Verdict::Worse
        } else if -margin <= low && high <= margin {
            Verdict::NoDifference
        } else if low > 0.0 || high < 0.0 {
            Verdict::Small
        } else {
            Verdict::Inconclusive
        };
        let in_ns = |value: f64| (self.base.is_in_ns() && self.target.is_in_ns()).then_some(value);
        Some(TailDifference {
            p,
            baseline_ns: in_ns(base.value),
            target_ns: in_ns(target.value),
            difference,
            interval: [low.min(difference), high.max(difference)],
            verdict,
        })
    }
}

/// The intervals of a row, the earlier and the later half of them together.
fn halves(row: &Latency) -> Option<[Histogram<u64>; 2]> {
    let mut intervals: Vec<_> = row.intervals.iter().collect();
    intervals.sort_by_key(|interval| interval.start_ns);
    let (earlier, later) = intervals.split_at(intervals.len() / 2);
    let sum = |parts: &[&Interval]| {
        let parts: Result<Vec<_>, _> = parts.iter().map(|part| part.histogram()).collect();
        let parts = parts.ok()?;
        let mut layout = Layout::default();
        for part in &parts {
            layout.take_in(part).ok()?;
        }
        let mut sum = layout.empty().ok()?;
        for part in &parts {
            sum.add(part).ok()?;
        }
        Some(sum)
    };
    Some([sum(earlier)?, sum(later)?])
}

/// (target − base) / base, above a base of 0.
fn relative(target: f64, base: f64) -> Option<f64> {
    (base > 0.0)
        .then_some((target - base) / base)
        .and_then(finite)
}

#[cfg(test)]
mod tests;
