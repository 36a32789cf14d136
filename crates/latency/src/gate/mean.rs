//! Gates on means: by their normal interval, if the tail leaves them one.

use super::rows::{Decision, Rows};
use super::tail::Tail;
use crate::report::{GateVerdict, Latency};
use crate::units;

impl Rows<'_> {
    pub(super) fn decide_mean(&self, row: &Latency) -> Decision {
        let Some(mean) = row.mean_ns.filter(|mean| *mean >= 0.0) else {
            return Decision::inconclusive(None, "no values");
        };
        // Saturating: a float beyond u64 becomes its greatest value.
        let value = mean.round() as u64;
        let counts = row.effective_n.unwrap_or(row.n);
        let Some(stdev) = row.stdev_ns.filter(|stdev| *stdev >= 0.0 && counts >= 30) else {
            let mut reason = format!("{} samples, 30 needed for the interval of a mean", row.n);
            if counts < row.n {
                reason = format!(
                    "{} samples that count as {counts}, 30 needed for the interval of a mean",
                    row.n
                );
            }
            return Decision::inconclusive(Some(value), reason);
        };
        if let Some(tail) = row
            .histogram()
            .ok()
            .and_then(|found| Tail::heavy(&found, row.saturated))
        {
            return self.decide_heavy(row, value, &tail);
        }
        let half = 1.959_964 * stdev / (counts as f64).sqrt();
        let bounds = [
            (mean - half).max(0.0).floor() as u64,
            (mean + half).ceil() as u64,
        ];
        self.decide_interval("mean", value, bounds)
    }

    /// A mean without a variance has no interval: nothing proves that it is within the limit. What is above the
    /// tail only adds to it, so that the mean without that can prove that it is not.
    fn decide_heavy(&self, row: &Latency, value: u64, tail: &Tail) -> Decision {
        let counts = row.effective_n.unwrap_or(row.n) as f64;
        let low = (tail.capped_mean - 1.959_964 * tail.capped_stdev / counts.sqrt()).max(0.0);
        let reason = format!(
            "mean is {}, but the tail is too heavy for its interval (index {:.1}, above 2 needed)",
            units::duration(value),
            tail.index
        );
        let low = low.floor() as u64;
        if self.within(low) {
            return Decision::inconclusive(Some(value), format!("{reason}; limit a percentile"));
        }
        let (floor, limit) = (units::duration(low), units::duration(self.limit_ns));
        Decision {
            verdict: GateVerdict::Fail,
            value_ns: Some(value),
            ci95_ns: None,
            reason: format!(
                "{reason}; without the tail it is above {floor} already, the limit is {limit}"
            ),
            is_absent: false,
        }
    }
}
