//! Gates on distributions: percentiles by their intervals and by the exact binomial test, extremes as measured. Means
//! are in `mean.rs`, what was stated without samples in `stated.rs`.

use hdrhistogram::Histogram;

use super::steps;
use super::{Bound, Gate, RowTarget, Statistic};
use crate::binomial::lower_quantile;
use crate::dependence;
use crate::percentile::Ladder;
use crate::report::{
    GateResult, GateVerdict, Latency, LatencyName, Percentile, StatedTimes, Timing,
};
use crate::units;

/// What the times are that another tool stated.
const STATED: LatencyName = LatencyName::Service;
/// Names of series that a reason lists at most.
const SERIES_SHOWN: usize = 10;
/// Chance of a wrong verdict on one side.
const ERROR: f64 = 0.025;
/// Percentiles that can prove that a higher one is above a limit.
const LOWER: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// The verdict on one row, before it is known which row counts.
pub(super) struct Decision {
    pub(super) verdict: GateVerdict,
    pub(super) value_ns: Option<u64>,
    pub(super) ci95_ns: Option<[u64; 2]>,
    pub(super) reason: String,
    /// Whether the row does not have what the gate is about.
    pub(super) is_absent: bool,
}

impl Decision {
    pub(super) fn inconclusive(value_ns: Option<u64>, reason: impl Into<String>) -> Self {
        let verdict = GateVerdict::Inconclusive;
        Self {
            verdict,
            value_ns,
            ci95_ns: None,
            reason: reason.into(),
            is_absent: false,
        }
    }

    /// The row does not have the number.
    pub(super) fn absent(reason: impl Into<String>) -> Self {
        Self {
            is_absent: true,
            ..Self::inconclusive(None, reason)
        }
    }
}

/// A gate on distributions.
pub(super) struct Rows<'a> {
    pub(super) gate: &'a Gate,
    pub(super) target: &'a RowTarget,
    pub(super) limit_ns: u64,
}

impl Rows<'_> {
    pub(super) fn decide(&self, rows: &[Latency], stated: &[StatedTimes]) -> GateResult {
        let wanted = self.target.series.as_deref();
        let of_series = |row: &&Latency| wanted.is_none() || row.series.as_deref() == wanted;
        let has = |name: &LatencyName| rows.iter().filter(of_series).any(|row| row.name == *name);
        let name = self
            .target
            .name
            .or_else(|| LatencyName::ALL.into_iter().find(has));
        let sampled = rows
            .iter()
            .filter(of_series)
            .filter(|row| Some(row.name) == name)
            .map(|row| (row.label(), self.decide_row(row)));
        // Whatever else the report has: they are of a run of their own.
        let is_service = self.target.name.is_none_or(|name| name == STATED);
        let pointed = stated
            .iter()
            .filter(|row| is_service && wanted.is_none_or(|wanted| wanted == row.name))
            .map(|row| {
                (
                    format!("{} {}", row.name, STATED.as_str()),
                    self.decide_stated(row),
                )
            });
        let worst = sampled
            .chain(pointed)
            .max_by_key(|(_, decision)| (severity(decision), decision.value_ns));
        let (row, decision) = match worst {
            // What is not there is no row's.
            Some((_, decision)) if decision.is_absent => (None, decision),
            Some((row, decision)) => (Some(row), decision),
            None => (None, Decision::absent(self.missing(rows, stated))),
        };
        GateResult {
            gate: self.gate.text.clone(),
            row,
            value_ns: decision.value_ns,
            ci95_ns: decision.ci95_ns,
            limit_ns: Some(self.limit_ns),
            value: None,
            limit: None,
            verdict: decision.verdict,
            reason: decision.reason,
        }
    }

    /// What the report has instead.
    fn missing(&self, rows: &[Latency], stated: &[StatedTimes]) -> String {
        let name = self.target.name.map_or("latency", LatencyName::as_str);
        match &self.target.series {
            Some(series) => {
                let labels = rows.iter().filter_map(|row| row.series.as_deref());
                let names = stated.iter().map(|row| row.name.as_str());
                let mut known: Vec<&str> = labels.chain(names).collect();
                known.dedup();
                known.truncate(SERIES_SHOWN);
                let known = match known.is_empty() {
                    true => "no series".to_owned(),
                    false => known.join(", "),
                };
                format!("the report has no {name} row of the series '{series}', it has {known}")
            }
            None => format!("the report has no {name} row{}", others(rows, stated)),
        }
    }

    pub(super) fn within(&self, ns: u64) -> bool {
        if self.gate.bound == Bound::Below {
            ns < self.limit_ns
        } else {
            ns <= self.limit_ns
        }
    }

    fn decide_row(&self, row: &Latency) -> Decision {
        match self.target.statistic {
            Statistic::Percentile(p) => self.decide_percentile(row, p),
            Statistic::Mean => self.decide_mean(row),
            Statistic::Min => self.decide_extreme("min", row, row.min_ns),
            Statistic::Max => self.decide_extreme("max", row, row.max_ns),
        }
    }

    fn decide_percentile(&self, row: &Latency, p: f64) -> Decision {
        let found = match percentile_of(row, p) {
            Ok(found) => found,
            Err(reason) => return Decision::inconclusive(None, reason),
        };
        let Some(value) = found.value_ns else {
            let why = found.reason.unwrap_or_else(|| "unknown".to_owned());
            let reason = format!("p{p}: {why}");
            // A percentile beyond the histogram's range has no value, but it has a lower bound.
            return match found.ci95_ns {
                Some([low, high]) if !self.within(low) => Decision {
                    verdict: GateVerdict::Fail,
                    value_ns: None,
                    ci95_ns: Some([low, high]),
                    reason: format!(
                        "{reason}, above the limit {}",
                        units::duration(self.limit_ns)
                    ),
                    is_absent: false,
                },
                _ => match self.proof_above(row, p) {
                    Some((low, proof)) => Decision {
                        verdict: GateVerdict::Fail,
                        value_ns: None,
                        ci95_ns: Some([low, row.max_ns.unwrap_or(low).max(low)]),
                        reason: format!("{reason}; {proof}"),
                        is_absent: false,
                    },
                    None => Decision::inconclusive(None, reason),
                },
            };
        };
        let Some(bounds) = found.ci95_ns else {
            if let Some((low, proof)) = self.proof_above(row, p) {
                return Decision {
                    verdict: GateVerdict::Fail,
                    value_ns: Some(value),
                    ci95_ns: Some([low, row.max_ns.unwrap_or(low).max(low)]),
                    reason: format!("p{p} is {}; {proof}", units::duration(value)),
                    is_absent: false,
                };
            }
            let mut reason = format!(
                "p{p} is {}, but has no confidence interval",
                units::duration(value)
            );
            if let Some(why) = found.ci95_reason {
                reason += &format!(": {why}");
            }
            return Decision::inconclusive(Some(value), reason);
        };
        self.decide_interval(&format!("p{p}"), value, bounds)
    }

    /// Why a percentile without a value is above the limit all the same, and its lower bound: a lower percentile is
    /// above it, or every sample is.
    fn proof_above(&self, row: &Latency, p: f64) -> Option<(u64, String)> {
        let limit = units::duration(self.limit_ns);
        let proof = LOWER
            .into_iter()
            .filter(|lower| *lower < p)
            .find_map(|lower| {
                let [low, _] = percentile_of(row, lower).ok()?.ci95_ns?;
                let proof = format!("p{lower} is above the limit {limit} already");
                (!self.within(low)).then_some((low, proof))
            });
        if proof.is_some() {
            return proof;
        }
        // Of means over a batch, single operations are unknown.
        let single = row.timing != Timing::BatchMean || row.batch == Some(1);
        if !single || row.n == 0 {
            return None;
        }
        if let Some(least) = row.min_ns.filter(|min| !self.within(*min)) {
            // The chance that all samples are above the percentile.
            let chance = (1.0 - p / 100.0).powf(self.counts(row, p) as f64);
            let (n, text) = (row.n, units::duration(least));
            let proof =
                format!("even the least of {n} samples, {text}, is above the limit {limit}");
            return (chance < ERROR).then_some((least, proof));
        }
        // Some are within. If the percentile were, so few would be unlikely.
        let histogram = row.histogram().ok()?;
        let stepped = steps::is_stepped(row, &ladder(row, &histogram));
        let mut within = 0_u64;
        let mut low = None;
        let mut before = row.min_ns.unwrap_or(0);
        for recorded in histogram.iter_recorded() {
            let own = histogram.lowest_equivalent(recorded.value_iterated_to());
            let least = match stepped {
                true => std::mem::replace(&mut before, own),
                false => own,
            };
            match self.within(least) {
                true => within += recorded.count_at_value(),
                false => {
                    low = Some(least);
                    break;
                }
            }
        }
        // Values above the range are above the limit if that is in the range.
        if self.limit_ns >= histogram.high() {
            within = within.saturating_add(row.saturated);
        }
        let (n, above) = (row.n, row.n.checked_sub(within)?);
        let counts = self.counts(row, p);
        let most = lower_quantile(counts, p / 100.0, (100.0 - p) / 100.0, ERROR)?;
        let within = u128::from(within) * u128::from(counts);
        (within <= u128::from(most) * u128::from(n)).then(|| {
            let proof = format!(
                "{above} of {n} samples are above the limit {limit}, too many for p{p} to be within"
            );
            (low.unwrap_or(self.limit_ns), proof)
        })
    }

    /// How many independent samples those of a row count as for percentile `p`.
    fn counts(&self, row: &Latency, p: f64) -> u64 {
        dependence::effective(row.n, dependence::of_percentile(row.inflation(), p))
    }

    pub(super) fn decide_interval(
        &self,
        what: &str,
        value: u64,
        [low, high]: [u64; 2],
    ) -> Decision {
        let (verdict, says) = if self.within(high) {
            (GateVerdict::Pass, "whole interval within")
        } else if !self.within(low) {
            (GateVerdict::Fail, "whole interval above")
        } else {
            (GateVerdict::Inconclusive, "part of the interval above")
        };
        // The bound that decides is told apart from the limit.
        let near = if verdict == GateVerdict::Fail {
            low
        } else {
            high
        };
        let (near_text, limit) = units::durations_apart(near, self.limit_ns);
        let (low_text, high_text) = match verdict {
            GateVerdict::Fail => (near_text, units::duration(high)),
            _ => (units::duration(low), near_text),
        };
        let value_text = units::duration(value);
        let reason = format!("{what} is {value_text} ({low_text} to {high_text}), {says} {limit}");
        Decision {
            verdict,
            value_ns: Some(value),
            ci95_ns: Some([low, high]),
            reason,
            is_absent: false,
        }
    }

    /// Extremes of batch means prove only one direction: a mean above the limit has an operation above it,
    /// but a mean within the limit may hide one.
    fn decide_extreme(&self, what: &str, row: &Latency, value: Option<u64>) -> Decision {
        let Some(value) = value else {
            return Decision::inconclusive(None, "no values");
        };
        let within = self.within(value);
        let means = row.timing == Timing::BatchMean && row.batch != Some(1);
        let hidden = means && within == (what == "max");
        let (value_text, limit) = units::durations_apart(value, self.limit_ns);
        if hidden {
            let batch = row
                .batch
                .map_or("many".to_owned(), |batch| batch.to_string());
            let reason = format!(
                "{what} of the means over {batch} operations is {value_text}; single operations are unknown"
            );
            return Decision::inconclusive(Some(value), reason);
        }
        let (verdict, says) = match within {
            true => (GateVerdict::Pass, "within"),
            false => (GateVerdict::Fail, "above"),
        };
        let reason = format!("{what} is {value_text}, {says} {limit}");
        Decision {
            verdict,
            value_ns: Some(value),
            ci95_ns: None,
            reason,
            is_absent: false,
        }
    }
}

/// The rows that the report has instead.
fn others(rows: &[Latency], stated: &[StatedTimes]) -> String {
    let mut names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    names.extend(stated.first().map(|_| STATED.as_str()));
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [] => String::new(),
        names => format!(", it has {}", names.join(" and ")),
    }
}

/// The worst first: a failure, then what is absent, then an inconclusive result.
fn severity(decision: &Decision) -> u8 {
    match decision.verdict {
        GateVerdict::Fail => 3,
        GateVerdict::Inconclusive if decision.is_absent => 2,
        GateVerdict::Inconclusive => 1,
        GateVerdict::Pass => 0,
    }
}

/// From the row's ladder, or from its histogram for any other percentile.
fn percentile_of(row: &Latency, p: f64) -> Result<Percentile, String> {
    if let Some(found) = row.find_percentile(p) {
        return Ok(found.clone());
    }
    let histogram = row.histogram().map_err(|error| error.to_string())?;
    let ladder = ladder(row, &histogram);
    let mut found = ladder
        .at(&[p])
        .pop()
        .ok_or_else(|| "no such percentile".to_owned())?;
    if let Some([low, _]) = &mut found.ci95_ns
        && steps::is_stepped(row, &ladder)
    {
        *low = steps::line_before(&histogram, *low);
    }
    Ok(found)
}

/// The percentiles of the histogram of a row.
fn ladder<'a>(row: &Latency, histogram: &'a Histogram<u64>) -> Ladder<'a> {
    Ladder {
        histogram,
        saturated: row.saturated,
        timing: row.timing,
        batch: row.batch,
        min_ns: row.min_ns,
        max_ns: row.max_ns,
        inflation: row.inflation(),
    }
}
