//! Gates on what another tool stated without samples: points, judged as they were stated.
//!
//! There is no interval, so a point on the right side of a limit passes as it is. What was not stated passes only where
//! what was stated leaves it no other side: a p99 lies between a p95 and a maximum.

use super::rows::{Decision, Rows};
use super::{Bound, Gate, Statistic};
use crate::percentile::earned_n;
use crate::report::{GateVerdict, RateKind, Report, StatedRate, StatedTimes};
use crate::units;

impl Rows<'_> {
    pub(super) fn decide_stated(&self, row: &StatedTimes) -> Decision {
        let lacks = |what: &str| {
            let (name, source) = (&row.name, &row.source);
            Decision::absent(format!("{source} states no {what} of {name}{}", has(row)))
        };
        match self.target.statistic {
            Statistic::Percentile(p) => self.decide_stated_percentile(row, p, lacks),
            Statistic::Mean => self.point(row, "mean", row.mean_ns, lacks),
            Statistic::Min => self.point(row, "min", row.min_ns, lacks),
            Statistic::Max => self.point(row, "max", row.max_ns, lacks),
        }
    }

    fn decide_stated_percentile(
        &self,
        row: &StatedTimes,
        p: f64,
        lacks: impl Fn(&str) -> Decision,
    ) -> Decision {
        let what = format!("p{p}");
        let same = |q: f64| (q - p).abs() < 1e-9;
        let exact = row.percentiles.iter().find(|found| same(found.p));
        let value = exact.map(|found| found.value_ns);
        if let Some(n) = row.n.filter(|n| *n < earned_n(p)) {
            let needed = earned_n(p);
            let reason = format!("{what} of {}: {n} samples, {needed} needed", row.name);
            return Decision::inconclusive(value.map(|ns| ns as u64), reason);
        }
        if value.is_some() {
            return self.point(row, &what, value, lacks);
        }
        // The nearest points on both sides.
        let below = row.percentiles.iter().rev().find(|found| found.p < p);
        let above = row.percentiles.iter().find(|found| found.p > p);
        let low = below.map(|found| (format!("p{}", found.p), found.value_ns));
        let low = low.or_else(|| Some(("min".to_owned(), row.min_ns?)));
        let high = above.map(|found| (format!("p{}", found.p), found.value_ns));
        let high = high.or_else(|| Some(("max".to_owned(), row.max_ns?)));
        let (verdict, (bound, ns)) = match (low, high) {
            (_, Some(high)) if self.holds(high.1) => (GateVerdict::Pass, high),
            (Some(low), _) if !self.holds(low.1) => (GateVerdict::Fail, low),
            _ => return lacks(&what),
        };
        let (shown, limit) = self.apart(ns);
        let says = match verdict {
            GateVerdict::Pass => "within",
            _ => "above",
        };
        Decision {
            verdict,
            value_ns: None,
            ci95_ns: None,
            reason: format!(
                "{} states no {what}, but {bound} is {shown}, {says} {limit} already: a stated point, no interval",
                row.source
            ),
            is_absent: false,
        }
    }

    /// Judges a point as it is.
    fn point(
        &self,
        row: &StatedTimes,
        what: &str,
        value_ns: Option<f64>,
        lacks: impl Fn(&str) -> Decision,
    ) -> Decision {
        let Some(ns) = value_ns.filter(|ns| *ns >= 0.0) else {
            return lacks(what);
        };
        let (verdict, says) = match self.holds(ns) {
            true => (GateVerdict::Pass, "within"),
            false => (GateVerdict::Fail, "above"),
        };
        let (shown, limit) = self.apart(ns);
        Decision {
            verdict,
            value_ns: Some(self.whole(ns)),
            ci95_ns: None,
            reason: format!(
                "{what} is {shown}, {says} {limit}, as {} states it: a point, no interval",
                row.source
            ),
            is_absent: false,
        }
    }

    fn holds(&self, ns: f64) -> bool {
        match self.gate.bound {
            Bound::Below => ns < self.limit_ns as f64,
            _ => ns <= self.limit_ns as f64,
        }
    }

    /// Whole nanoseconds on the same side of the limit. Saturating: a float beyond u64 becomes its greatest value.
    fn whole(&self, ns: f64) -> u64 {
        match self.holds(ns) {
            true => ns.floor() as u64,
            false => ns.ceil() as u64,
        }
    }

    /// The time and the limit, told apart.
    fn apart(&self, ns: f64) -> (String, String) {
        units::durations_apart(self.whole(ns), self.limit_ns)
    }
}

/// The percentiles and extremes that a row has, for a reason.
fn has(row: &StatedTimes) -> String {
    let percentiles = row.percentiles.iter().map(|found| format!("p{}", found.p));
    let mut known: Vec<String> = percentiles.take(10).collect();
    let others = [
        (row.mean_ns, "mean"),
        (row.min_ns, "min"),
        (row.max_ns, "max"),
    ];
    let others = others.into_iter().filter(|(value, _)| value.is_some());
    known.extend(others.map(|(_, name)| name.to_owned()));
    match known.is_empty() {
        true => String::new(),
        false => format!(", it has {}", known.join(", ")),
    }
}

impl Gate {
    /// Decides a gate on the share of failures that another tool stated, all of which must pass: the worst one, its
    /// share, and the verdict with its reason.
    pub(super) fn stated_failures<'a>(
        &self,
        report: &'a Report,
        limit: f64,
    ) -> Option<(&'a StatedRate, f64, (GateVerdict, String))> {
        let failures = of_kind(report, RateKind::Failures);
        let judged = failures.filter_map(|rate| {
            let share = rate.share?;
            let (verdict, reason) = match rate.count.zip(rate.of) {
                Some((failed, all)) if all > 0 => self.share(failed, all, "failed", limit),
                _ => self.as_measured(units::Kind::Plain, Some(&rate.name), share, limit),
            };
            let reason = format!("{reason}; {} as {} states them", rate.name, rate.source);
            Some((rate, share, (verdict, reason)))
        });
        judged.max_by(|(_, one, (a, _)), (_, other, (b, _))| {
            let severity = |verdict| match verdict {
                GateVerdict::Fail => 2,
                GateVerdict::Inconclusive => 1,
                GateVerdict::Pass => 0,
            };
            severity(*a)
                .cmp(&severity(*b))
                .then_with(|| one.total_cmp(other))
        })
    }
}

/// The rates of a kind.
pub(super) fn of_kind(report: &Report, kind: RateKind) -> impl Iterator<Item = &StatedRate> {
    let rates = report.stated.rates.iter();
    rates.filter(move |rate| rate.kind == kind)
}

#[cfg(test)]
mod tests;
