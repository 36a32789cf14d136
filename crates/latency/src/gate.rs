//! Gates: limits on a latency that a script can act on.
//!
//! A percentile is judged by its confidence interval, not by its value. It passes when the whole interval
//! is within the limit and fails when the whole interval is above it. It is inconclusive when the limit
//! lies inside the interval, or when there are too few samples. A mean is judged by its normal interval
//! (from 30 values on, assumed independent). A minimum and a maximum are judged as measured.

use std::fmt;
use std::str::FromStr;

use crate::percentile::Ladder;
use crate::report::{GateResult, GateVerdict, Latency, LatencyName, Percentile, Timing};
use crate::units;

/// The statistic that a gate limits.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Statistic {
    Percentile(f64),
    Mean,
    Min,
    Max,
}

/// A limit: `p99.9<=2ms`, `service.max<1s`, `hold.mean<=50us`.
///
/// ```
/// let gate: perfkit_latency::Gate = "response.p99.9 <= 2ms".parse()?;
/// assert_eq!(gate.to_string(), "response.p99.9 <= 2ms");
/// # Ok::<(), perfkit_latency::ParseGateError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    text: String,
    name: Option<LatencyName>,
    statistic: Statistic,
    /// `<` rather than `<=`.
    strict: bool,
    limit_ns: u64,
}

/// Why a text is not a gate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a gate: {why}")]
pub struct ParseGateError {
    text: String,
    why: &'static str,
}

impl ParseGateError {
    /// What to write instead.
    #[must_use]
    pub fn help(&self) -> &'static str {
        "write [response.|service.|hold.](p99.9|mean|min|max)(<=|<)LIMIT, the limit in \
         ns, us, ms or s: p99.9<=2ms"
    }
}

impl FromStr for Gate {
    type Err = ParseGateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = |why| ParseGateError {
            text: text.chars().take(80).collect(),
            why,
        };
        let (left, right) = text
            .split_once('<')
            .ok_or_else(|| wrong("it has no `<=` or `<`"))?;
        let (strict, limit) = match right.strip_prefix('=') {
            Some(limit) => (false, limit),
            None => (true, right),
        };
        let limit_ns = units::parse_duration(limit.trim())
            .ok_or_else(|| wrong("the limit must be a time in ns, us, ms or s"))?;
        let left = left.trim();
        let named = LatencyName::ALL.into_iter().find_map(|name| {
            let rest = left.strip_prefix(name.as_str())?.strip_prefix('.')?;
            Some((name, rest))
        });
        let (name, statistic) = match named {
            Some((name, rest)) => (Some(name), rest),
            None => (None, left),
        };
        let statistic = match statistic {
            "mean" => Statistic::Mean,
            "min" => Statistic::Min,
            "max" => Statistic::Max,
            other => parse_percentile(other)
                .map(Statistic::Percentile)
                .ok_or_else(|| {
                    wrong("expected a percentile (p50, p99.9), mean, min or max before the `<`")
                })?,
        };
        Ok(Self {
            text: text.trim().to_owned(),
            name,
            statistic,
            strict,
            limit_ns,
        })
    }
}

/// `p99.9`: more than 0, less than 100, at most six decimals.
fn parse_percentile(text: &str) -> Option<f64> {
    let number = text.strip_prefix('p')?;
    let plain = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let decimals = number
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let starts_well = number.starts_with(|c: char| c.is_ascii_digit());
    if !plain || !starts_well || decimals > 6 || number.ends_with('.') {
        return None;
    }
    number.parse().ok().filter(|p| *p > 0.0 && *p < 100.0)
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Percentiles that can prove that a higher one is above a limit.
const LOWER: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// The verdict on one row, before it is known which row counts.
struct Decision {
    verdict: GateVerdict,
    value_ns: Option<u64>,
    ci95_ns: Option<[u64; 2]>,
    reason: String,
}

impl Decision {
    fn inconclusive(value_ns: Option<u64>, reason: impl Into<String>) -> Self {
        let verdict = GateVerdict::Inconclusive;
        Self {
            verdict,
            value_ns,
            ci95_ns: None,
            reason: reason.into(),
        }
    }
}

impl Gate {
    /// Decides on the rows of a report.
    ///
    /// A gate that names no time applies to the response time; without one to the service time, and without
    /// that to the hold time. When several rows have that name, all must pass, and the worst is reported.
    #[must_use]
    pub fn decide(&self, rows: &[Latency]) -> GateResult {
        let has = |name: &LatencyName| rows.iter().any(|row| row.name == *name);
        let name = self.name.or_else(|| LatencyName::ALL.into_iter().find(has));
        let worst = rows
            .iter()
            .filter(|row| Some(row.name) == name)
            .map(|row| (row, self.decide_row(row)))
            .max_by_key(|(_, decision)| (severity(decision.verdict), decision.value_ns));
        let (row, decision) = match worst {
            Some((row, decision)) => (Some(row.label()), decision),
            None => {
                let name = self.name.map_or("latency", LatencyName::as_str);
                (
                    None,
                    Decision::inconclusive(
                        None,
                        format!("the report has no {name} row{}", others(rows)),
                    ),
                )
            }
        };
        GateResult {
            gate: self.text.clone(),
            row,
            value_ns: decision.value_ns,
            ci95_ns: decision.ci95_ns,
            limit_ns: self.limit_ns,
            verdict: decision.verdict,
            reason: decision.reason,
        }
    }

    /// The time that the gate names, if it names one.
    #[must_use]
    pub fn name(&self) -> Option<LatencyName> {
        self.name
    }

    /// The limit in nanoseconds.
    pub(crate) fn limit_ns(&self) -> u64 {
        self.limit_ns
    }

    fn within(&self, ns: u64) -> bool {
        if self.strict {
            ns < self.limit_ns
        } else {
            ns <= self.limit_ns
        }
    }

    fn decide_row(&self, row: &Latency) -> Decision {
        match self.statistic {
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
                },
                _ => match self.proof_above(row, p) {
                    Some((low, proof)) => Decision {
                        verdict: GateVerdict::Fail,
                        value_ns: None,
                        ci95_ns: Some([low, row.max_ns.unwrap_or(low).max(low)]),
                        reason: format!("{reason}; {proof}"),
                    },
                    None => Decision::inconclusive(None, reason),
                },
            };
        };
        let Some(bounds) = found.ci95_ns else {
            let reason = format!(
                "p{p} is {}, but has no confidence interval",
                units::duration(value)
            );
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
        let single = row.timing != Timing::BatchMean || row.batch <= 1;
        let least = row.min_ns.filter(|min| single && !self.within(*min))?;
        // The chance that all samples are above the percentile.
        let chance = (1.0 - p / 100.0).powf(row.n as f64);
        (row.n > 0 && chance < 0.025).then(|| {
            let (n, text) = (row.n, units::duration(least));
            let proof =
                format!("even the least of {n} samples, {text}, is above the limit {limit}");
            (least, proof)
        })
    }

    fn decide_mean(&self, row: &Latency) -> Decision {
        let Some(mean) = row.mean_ns.filter(|mean| *mean >= 0.0) else {
            return Decision::inconclusive(None, "no values");
        };
        // Saturating: a float beyond u64 becomes its greatest value.
        let value = mean.round() as u64;
        let Some(stdev) = row.stdev_ns.filter(|stdev| *stdev >= 0.0 && row.n >= 30) else {
            let reason = format!("{} samples, 30 needed for the interval of a mean", row.n);
            return Decision::inconclusive(Some(value), reason);
        };
        let half = 1.959_964 * stdev / (row.n as f64).sqrt();
        let bounds = [
            (mean - half).max(0.0).floor() as u64,
            (mean + half).ceil() as u64,
        ];
        self.decide_interval("mean", value, bounds)
    }

    fn decide_interval(&self, what: &str, value: u64, [low, high]: [u64; 2]) -> Decision {
        let (verdict, says) = if self.within(high) {
            (GateVerdict::Pass, "whole interval within")
        } else if !self.within(low) {
            (GateVerdict::Fail, "whole interval above")
        } else {
            (GateVerdict::Inconclusive, "part of the interval above")
        };
        let (low_text, high_text) = (units::duration(low), units::duration(high));
        let (value_text, limit) = (units::duration(value), units::duration(self.limit_ns));
        let reason = format!("{what} is {value_text} ({low_text} to {high_text}), {says} {limit}");
        Decision {
            verdict,
            value_ns: Some(value),
            ci95_ns: Some([low, high]),
            reason,
        }
    }

    /// Extremes of batch means prove only one direction: a mean above the limit has an operation above it,
    /// but a mean within the limit may hide one.
    fn decide_extreme(&self, what: &str, row: &Latency, value: Option<u64>) -> Decision {
        let Some(value) = value else {
            return Decision::inconclusive(None, "no values");
        };
        let within = self.within(value);
        let means = row.timing == Timing::BatchMean && row.batch > 1;
        let hidden = means && within == (what == "max");
        let value_text = units::duration(value);
        if hidden {
            let batch = row.batch;
            let reason = format!(
                "{what} of the means over {batch} operations is {value_text}; single operations are unknown"
            );
            return Decision::inconclusive(Some(value), reason);
        }
        let (verdict, says) = match within {
            true => (GateVerdict::Pass, "within"),
            false => (GateVerdict::Fail, "above"),
        };
        let reason = format!(
            "{what} is {value_text}, {says} {}",
            units::duration(self.limit_ns)
        );
        Decision {
            verdict,
            value_ns: Some(value),
            ci95_ns: None,
            reason,
        }
    }
}

/// The rows that the report has instead.
fn others(rows: &[Latency]) -> String {
    let mut names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [] => String::new(),
        names => format!(", it has {}", names.join(" and ")),
    }
}

/// The worst first: a failure, then an inconclusive result.
fn severity(verdict: GateVerdict) -> u8 {
    match verdict {
        GateVerdict::Fail => 2,
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
    let ladder = Ladder {
        histogram: &histogram,
        saturated: row.saturated,
        timing: row.timing,
        batch: row.batch,
        min_ns: row.min_ns,
        max_ns: row.max_ns,
    };
    ladder
        .at(&[p])
        .pop()
        .ok_or_else(|| "no such percentile".to_owned())
}

#[cfg(test)]
mod tests;
