//! From differences to a verdict and the line that explains it.

use super::{Names, Options, PAIRS_MIN};
use crate::report::{Comparison, Design, Differences, Verdict, finite};

/// Everything that a verdict depends on.
pub(super) struct Evidence {
    pub(super) design: Design,
    pub(super) difference: Option<Differences>,
    pub(super) control: Option<Differences>,
    /// Relative drift within one run; 0 when pairing has cancelled it.
    pub(super) drift: f64,
    /// Pairs compared.
    pub(super) pairs: u64,
    /// Pairs left out for a baseline of 0.
    pub(super) skipped: u64,
    pub(super) bucket_ops: u64,
    pub(super) baseline_median: Option<f64>,
    pub(super) target_median: Option<f64>,
}

impl Evidence {
    pub(super) fn conclude(self, names: Names<'_>, options: Options) -> Comparison {
        let (verdict, resolution, mut reason) = self.decide(options);
        if self.skipped > 0 {
            reason.push_str(&format!(
                "; {} pairs skipped because their baseline is not above 0",
                self.skipped
            ));
        }
        if self.design == Design::Sequential {
            reason.push_str("; unpaired, drift between the runs is not controlled");
        }
        let single = |median: Option<f64>| {
            median
                .filter(|_| self.bucket_ops > 0)
                .map(|ns| ns / self.bucket_ops as f64)
        };
        Comparison {
            row: names.row.to_owned(),
            baseline: names.baseline.to_owned(),
            target: names.target.to_owned(),
            design: self.design,
            pairs: self.pairs,
            bucket_ops: self.bucket_ops,
            baseline_median_ns: single(self.baseline_median).and_then(finite),
            target_median_ns: single(self.target_median).and_then(finite),
            baseline_median: None,
            target_median: None,
            difference: self.difference,
            control: self.control,
            resolution,
            verdict,
            reason,
        }
    }

    fn decide(&self, options: Options) -> (Verdict, Option<f64>, String) {
        let difference = self.difference.as_ref().filter(|_| self.pairs >= PAIRS_MIN);
        let interval = difference.and_then(|difference| difference.median_ci95);
        let (Some(difference), Some([low, high])) = (difference, interval) else {
            let reason = format!("{} pairs, {PAIRS_MIN} needed", self.pairs);
            return (Verdict::Inconclusive, None, reason);
        };
        let bound = self.control_bound().max(self.drift);
        let resolution = finite((high / 2.0 - low / 2.0).max(bound));
        let (verdict, reason) = if difference.range == [0.0; 2] {
            let reason = format!(
                "identical: no pair differs (resolution {})",
                percent(resolution)
            );
            (Verdict::NoDifference, reason)
        } else if high < -bound {
            (
                Verdict::Better,
                beyond("faster", difference.median, [-high, -low], bound),
            )
        } else if low > bound {
            (
                Verdict::Worse,
                beyond("slower", difference.median, [low, high], bound),
            )
        } else if resolution.is_some_and(|resolution| resolution <= options.resolution_max) {
            let reason = format!("no difference (resolution {})", percent(resolution));
            (Verdict::NoDifference, reason)
        } else {
            let limit = percent(Some(options.resolution_max));
            let why = if self.drift >= bound && self.drift > 0.0 {
                " because the runs drifted"
            } else {
                ""
            };
            let reason = format!(
                "cannot tell: resolution {} is coarser than {limit}{why}",
                percent(resolution)
            );
            (Verdict::Inconclusive, reason)
        };
        (verdict, resolution, reason)
    }

    /// The greatest bound of the control's interval, or of its range where it has too few pairs for an
    /// interval.
    fn control_bound(&self) -> f64 {
        let bounds = self
            .control
            .as_ref()
            .map(|control| control.median_ci95.unwrap_or(control.range));
        bounds.map_or(0.0, |[low, high]| low.abs().max(high.abs()))
    }
}

/// `faster by 12.00 % (10.00 % to 14.00 %), beyond the control's ±0.80 %`.
fn beyond(what: &str, median: f64, [low, high]: [f64; 2], bound: f64) -> String {
    let share = |value: f64| format!("{:.2} %", value * 100.0);
    let (median, low, high) = (share(median.abs()), share(low), share(high));
    format!(
        "{what} by {median} ({low} to {high}), beyond the control's {}",
        percent(Some(bound))
    )
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(
        || "unknown".to_owned(),
        |share| match share * 100.0 {
            // No measurement is exact, so a resolution never reads as 0.
            fine if fine < 0.01 => "±0.01 % or finer".to_owned(),
            percent => format!("±{percent:.2} %"),
        },
    )
}
