//! From differences to a verdict and the line that explains it.

use super::tails::Samples;
use super::{MARGIN_MAX, Names, Options, PAIRS_MIN};
use crate::report::{Comparison, Design, Differences, Verdict, finite};

/// Half widths of a 95 % interval between the control's bound and an effect whose interval clears that bound in
/// 80 of 100 runs: (1.960 + 0.842) / 1.960.
pub(super) const POWER_80: f64 = 1.43;

/// A verdict and what it rests on.
struct Decision {
    verdict: Verdict,
    resolution: Option<f64>,
    margin: Option<f64>,
    reason: String,
}

/// Everything that a verdict depends on.
pub(super) struct Evidence {
    pub(super) design: Design,
    pub(super) difference: Option<Differences>,
    pub(super) control: Option<Differences>,
    /// Relative drift within one run; 0 when pairing has cancelled it.
    pub(super) drift: f64,
    /// How much further than its interval the difference may lie on either side, for that drift.
    pub(super) hidden: f64,
    /// Pairs compared.
    pub(super) pairs: u64,
    /// Pairs left out for a baseline of 0.
    pub(super) skipped: u64,
    pub(super) bucket_ops: u64,
    pub(super) baseline_median: Option<f64>,
    pub(super) target_median: Option<f64>,
    /// The single values, where they are known.
    pub(super) samples: Option<Samples>,
}

impl Evidence {
    pub(super) fn conclude(self, names: Names<'_>, options: Options) -> Comparison {
        let Decision {
            verdict,
            resolution,
            margin,
            mut reason,
        } = self.decide(options);
        if self.skipped > 0 {
            reason.push_str(&format!(
                "; {} pairs skipped because their baseline is not above 0",
                self.skipped
            ));
        }
        if self.design == Design::Sequential {
            reason
                .push_str("; two separate runs, drift between them is not controlled: suggestive");
        }
        let bound = self.bound();
        let samples = self.samples.as_ref();
        let tails = samples.map(|found| found.differences(options, bound));
        let tails = tails.unwrap_or_default();
        let single = |median: Option<f64>| {
            median
                .filter(|_| self.bucket_ops > 0)
                .map(|ns| ns / self.bucket_ops as f64)
        };
        // Runs that are the same value by value are one run.
        let differs = |found: &Differences| found.range != [0.0; 2];
        let differs = self.difference.as_ref().is_some_and(differs);
        let drift = finite(self.hidden).filter(|hidden| differs && *hidden > 0.0);
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
            tails: tails.compared,
            tails_left_out: tails.left_out,
            resolution,
            margin,
            drift,
            verdict,
            reason,
        }
    }

    fn decide(&self, options: Options) -> Decision {
        let difference = self.difference.as_ref().filter(|_| self.pairs >= PAIRS_MIN);
        let interval = difference.and_then(|difference| difference.median_ci95);
        let (Some(difference), Some([low, high])) = (difference, interval) else {
            let reason = match self.pairs < PAIRS_MIN {
                true => format!("{} pairs, {PAIRS_MIN} needed", self.pairs),
                false => format!("{} pairs are too few for this confidence", self.pairs),
            };
            return Decision {
                verdict: Verdict::Inconclusive,
                resolution: None,
                margin: None,
                reason,
            };
        };
        let bound = self.bound();
        let shift = self.shift();
        let half = high / 2.0 - low / 2.0 + self.hidden;
        let resolution = finite(shift + POWER_80 * half);
        // What the control shows is no difference, unless it is so much that nothing can be said.
        let noisy = bound > options.margin && bound > MARGIN_MAX;
        let margin = match noisy {
            true => options.margin,
            false => options.margin.max(bound),
        };
        let sure = [low - self.hidden, high + self.hidden];
        let is_within = |[low, high]: [f64; 2], margin: f64| -margin <= low && high <= margin;
        let within = is_within([low, high], margin) && !noisy;
        // What the runs drifted by is allowed for here, however much it is.
        let surely = self.design == Design::Sequential && is_within(sure, options.margin);
        let power = format!(
            "an effect of {} is found with 80 % power",
            percent(resolution)
        );
        let span = span(low, high);
        let (verdict, reason) = if difference.range == [0.0; 2] {
            let reason = format!("identical: no pair differs; {power}");
            (Verdict::NoDifference, reason)
        } else if sure[1] < -shift {
            let said = self.beyond("faster", difference.median, [-high, -low]);
            (Verdict::Better, said)
        } else if sure[0] > shift {
            let said = self.beyond("slower", difference.median, [low, high]);
            (Verdict::Worse, said)
        } else if within || surely {
            let limit = percent(Some(if within { margin } else { options.margin }));
            let reason = format!("no difference beyond {limit}: all of {span} is within; {power}");
            (Verdict::NoDifference, reason)
        } else if low > 0.0 || high < 0.0 {
            let shows = match self.hidden > 0.0 {
                true => format!(
                    "by that of the runs it may be off by {}",
                    percent(Some(self.hidden))
                ),
                false => format!(
                    "the control alone differs by up to {}",
                    percent(Some(shift))
                ),
            };
            let size = signed(difference.median);
            let reason = format!(
                "differs by {size} ({span}), not distinguishable from drift: {shows}; {power}"
            );
            (Verdict::Small, reason)
        } else {
            let why = match (noisy, self.drift >= bound) {
                (false, _) => format!(
                    "{span} is neither on one side of 0 nor within {}",
                    percent(Some(margin))
                ),
                (true, true) => format!("the runs drifted by {}", percent(Some(bound))),
                (true, false) => format!(
                    "the control alone differs by up to {}",
                    percent(Some(bound))
                ),
            };
            (
                Verdict::Inconclusive,
                format!("cannot tell: {why}; {power}"),
            )
        };
        Decision {
            verdict,
            resolution,
            margin: finite(margin),
            reason,
        }
    }

    /// What a difference has to clear: all that a control shows of commands that ran in one run. Of two separate runs the
    /// halves of the baseline share the noise that the interval allows for, and only what they differ by beyond it counts.
    fn shift(&self) -> f64 {
        shift(self.design, self.control.as_ref())
    }

    /// `faster by 12.00 % (10.00 % to 14.00 %), beyond the control's ±0.80 %`; of two separate runs, by how much at least.
    fn beyond(&self, what: &str, median: f64, [low, high]: [f64; 2]) -> String {
        let share = |value: f64| format!("{:.2} %", value * 100.0);
        let rests_on = match self.design {
            Design::Interleaved => format!("beyond the control's {}", percent(Some(self.shift()))),
            Design::Sequential => {
                let least = share(low - self.hidden);
                format!("by at least {least} with what drift within the runs may hide")
            }
        };
        let (median, low, high) = (share(median.abs()), share(low), share(high));
        format!("{what} by {median} ({low} to {high}), {rests_on}")
    }

    /// What this run shows where there is no difference.
    fn bound(&self) -> f64 {
        self.control_bound().max(self.drift)
    }

    fn control_bound(&self) -> f64 {
        control_bound(self.control.as_ref())
    }
}

/// What a median has to clear of a control: see [`Evidence::shift`].
pub(super) fn shift(design: Design, control: Option<&Differences>) -> f64 {
    match design {
        Design::Interleaved => control_bound(control),
        Design::Sequential => {
            let interval = control.and_then(|control| control.median_ci95);
            interval.map_or(0.0, |[low, high]| low.max(-high).max(0.0))
        }
    }
}

/// The greatest bound of the control's interval, or of its range where it has too few pairs for an interval.
pub(super) fn control_bound(control: Option<&Differences>) -> f64 {
    let bounds = control.map(|control| control.median_ci95.unwrap_or(control.range));
    bounds.map_or(0.0, |[low, high]| low.abs().max(high.abs()))
}

/// `-0.31 % to +0.40 %`.
fn span(low: f64, high: f64) -> String {
    format!("{} to {}", signed(low), signed(high))
}

/// `+0.40 %`.
fn signed(share: f64) -> String {
    format!("{:+.2} %", share * 100.0)
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
