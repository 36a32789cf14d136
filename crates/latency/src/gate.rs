//! Gates: limits on a number of a report that a script can act on.
//!
//! A percentile is judged by its confidence interval, not by its value. It passes when the whole interval
//! is within the limit and fails when the whole interval is above it; where there is no interval, the exact
//! binomial test of the samples above the limit can still prove that it fails. It is inconclusive when the limit
//! lies inside the interval, or when there are too few samples. A mean is judged by its normal interval
//! (from 30 values on), unless its tail has no variance. A minimum and a maximum are judged as measured. What another
//! tool stated without samples is judged as a point; what it did not state never passes.
//!
//! `parse.rs` reads gates, `rows.rs` decides those on distributions (of printed
//! ones by `steps.rs`, on means by `mean.rs`), `stated.rs` those on what was stated, `number.rs` those on other numbers.

mod mean;
mod number;
mod parse;
mod rows;
mod stated;
mod steps;
mod tail;

use std::fmt;

use number::Measure;
pub use number::RSS_FLOOR_PARAM;
use rows::Rows;

use crate::report::{GateResult, GateVerdict, Latency, LatencyName, Report, StatedTimes};

/// The statistic that a gate limits.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Statistic {
    Percentile(f64),
    Mean,
    Min,
    Max,
}

/// On which side of the limit the number must be.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Bound {
    Most,
    Below,
    Least,
    Above,
}

impl Bound {
    fn sign(self) -> &'static str {
        match self {
            Self::Most => "<=",
            Self::Below => "<",
            Self::Least => ">=",
            Self::Above => ">",
        }
    }
}

/// What a gate limits, and the limit.
#[derive(Debug, Clone, PartialEq)]
enum Target {
    /// A statistic of distributions, in nanoseconds.
    Row(RowTarget, u64),
    /// Another number of the report.
    Number(Measure, f64),
}

/// A statistic of some distributions.
#[derive(Debug, Clone, PartialEq)]
struct RowTarget {
    name: Option<LatencyName>,
    series: Option<String>,
    statistic: Statistic,
}

/// A limit: `p99.9<=2ms`, `service.max<1s`, `[level 3].hold.mean<=50us`, `ratio>=2`, `rss<=100M`,
/// `throughput.ops_per_s>=1000`.
///
/// ```
/// let gate: perfkit_latency::Gate = "response.p99.9 <= 2ms".parse()?;
/// assert_eq!(gate.to_string(), "response.p99.9 <= 2ms");
/// # Ok::<(), perfkit_latency::ParseGateError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    text: String,
    bound: Bound,
    target: Target,
}

/// Why a text is not a gate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a gate: {why}")]
pub struct ParseGateError {
    text: String,
    why: &'static str,
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Gate {
    /// Decides on a report.
    ///
    /// A gate on a latency decides on its rows, as [`Self::decide`] does, and on the times that another tool stated,
    /// which count as service times.
    #[must_use]
    pub fn decide_report(&self, report: &Report) -> GateResult {
        match &self.target {
            Target::Row(..) => self.decide_rows(&report.latencies, &report.stated.times),
            Target::Number(measure, limit) => self.decide_number(measure, *limit, report),
        }
    }

    /// Decides on the rows of a report. A gate on another number is inconclusive: it needs the report.
    ///
    /// A gate that names no time applies to the response time; without one to the service time, and
    /// without that to the hold time. When several rows have that name, all must pass, and the worst is reported.
    #[must_use]
    pub fn decide(&self, rows: &[Latency]) -> GateResult {
        self.decide_rows(rows, &[])
    }

    fn decide_rows(&self, rows: &[Latency], stated: &[StatedTimes]) -> GateResult {
        match &self.target {
            Target::Row(target, limit_ns) => {
                let judged = Rows {
                    gate: self,
                    target,
                    limit_ns: *limit_ns,
                };
                judged.decide(rows, stated)
            }
            Target::Number(_, limit) => {
                let why = "this number is not of a distribution".to_owned();
                self.number_result(*limit, None, (GateVerdict::Inconclusive, why))
            }
        }
    }

    /// The time that the gate names, if it names one.
    #[must_use]
    pub fn name(&self) -> Option<LatencyName> {
        match &self.target {
            Target::Row(target, _) => target.name,
            Target::Number(..) => None,
        }
    }

    /// The series that the gate names, if it names one.
    #[must_use]
    pub fn series(&self) -> Option<&str> {
        match &self.target {
            Target::Row(target, _) => target.series.as_deref(),
            Target::Number(..) => None,
        }
    }

    /// Whether the gate is about a distribution, and not about another number of the report.
    #[must_use]
    pub fn is_latency(&self) -> bool {
        matches!(self.target, Target::Row(..))
    }

    /// The limit in nanoseconds, of a latency.
    pub(crate) fn limit_ns(&self) -> Option<u64> {
        match self.target {
            Target::Row(_, limit_ns) => Some(limit_ns),
            Target::Number(..) => None,
        }
    }

    /// The limit of any other number.
    pub(crate) fn limit(&self) -> Option<f64> {
        match self.target {
            Target::Row(..) => None,
            Target::Number(_, limit) => Some(limit),
        }
    }
}

#[cfg(test)]
mod tests;
