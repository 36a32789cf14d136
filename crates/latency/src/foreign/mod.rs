//! Files of other benchmark tools: hyperfine, oha, k6, criterion, Google Benchmark, JMH and pytest-benchmark.
//!
//! A file is known by what is in it, not by its name. Where it has samples, these become [`Samples`], with
//! which everything can be done that can be done with one's own. Where it has only statistics of samples, these
//! stay a [`Summary`]: its quantiles are shown and gated as they were stated, and no distribution is made of them. So
//! do counts and rates. What a format cannot give is said in [`Foreign::notes`]. The machine that measured is that of
//! the file, as far as it states it.
//!
//! wrk2 prints a percentile distribution, which [`crate::hgrm`] reads with what else it prints.

mod criterion;
mod google;
mod hyperfine;
mod jmh;
mod k6;
mod loose;
mod oha;
mod pytest;
mod rows;

use std::num::NonZeroU64;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::read::{Place, ReadError, ReadErrorKind};
use crate::report::{Environment, RateKind, StatedRate};

pub use rows::{Benchmark, Sequence, Times, rates_table};

/// Most benchmarks that a file may have, as many as a report may have rows.
const ROWS_MAX: usize = 10_000;
/// The longest time that is believed: 100 years.
const TIME_NS_MAX: f64 = 3.2e18;

/// The tool that wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// `hyperfine --export-json`.
    Hyperfine,
    /// `oha --output-format json`.
    Oha,
    /// `k6 run --summary-export`, or what `handleSummary` gets.
    K6,
    /// `sample.json` of criterion.
    CriterionSample,
    /// `estimates.json` of criterion.
    CriterionEstimates,
    /// `--benchmark_format=json` of Google Benchmark.
    GoogleBenchmark,
    /// `-rf json` of JMH.
    Jmh,
    /// `--benchmark-json` of pytest-benchmark.
    PytestBenchmark,
}

impl Source {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hyperfine => "hyperfine",
            Self::Oha => "oha",
            Self::K6 => "k6",
            Self::CriterionSample | Self::CriterionEstimates => "criterion",
            Self::GoogleBenchmark => "Google Benchmark",
            Self::Jmh => "JMH",
            Self::PytestBenchmark => "pytest-benchmark",
        }
    }
}

/// What a sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Each {
    /// One operation.
    Single,
    /// The mean of this many operations: there is no tail of single ones.
    Mean(NonZeroU64),
    /// The mean of operations whose number the file does not state, or which differs from sample to sample.
    MeanOfMany,
}

impl Each {
    /// Of samples for which the file states how many operations each is the mean of: `None` where it does not.
    fn of(operations: Option<u64>) -> Self {
        match operations.and_then(NonZeroU64::new) {
            Some(NonZeroU64::MIN) => Self::Single,
            Some(operations) => Self::Mean(operations),
            None => Self::MeanOfMany,
        }
    }

    /// Of samples for each of which the file states such a number.
    fn of_all(mut operations: impl Iterator<Item = u64>) -> Self {
        let first = operations.next();
        Self::of(first.filter(|first| operations.all(|other| other == *first)))
    }
}

/// Samples of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// Its name.
    pub name: String,
    /// What one operation is.
    pub operation: &'static str,
    /// What a sample is.
    pub each: Each,
    /// The samples with how often each occurred.
    pub values_ns: Vec<(f64, u64)>,
    /// Whether they are in the order in which they were taken.
    pub in_order: bool,
}

/// Statistics of samples that a file does not have.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// The name of the benchmark.
    pub name: String,
    /// How many samples there were.
    pub n: Option<u64>,
    /// Their mean.
    pub mean_ns: Option<f64>,
    /// Their standard deviation.
    pub stdev_ns: Option<f64>,
    /// The least.
    pub min_ns: Option<f64>,
    /// The greatest.
    pub max_ns: Option<f64>,
    /// Quantiles, 0 to 100, as they were stated.
    pub quantiles_ns: Vec<(f64, f64)>,
}

/// What runs of a program took, where a file says so.
#[derive(Debug, Clone, PartialEq)]
pub struct Usage {
    /// The program.
    pub name: String,
    /// Mean processor time.
    pub user_ns: Option<f64>,
    /// The same of the system for it.
    pub system_ns: Option<f64>,
    /// Peak memory of the run that needed most.
    pub rss_max_bytes: Option<u64>,
}

/// What a file has.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreign {
    /// The tool that wrote it.
    pub source: Source,
    /// Benchmarks of which it has samples.
    pub samples: Vec<Samples>,
    /// Benchmarks of which it has statistics only.
    pub summaries: Vec<Summary>,
    /// Counts, rates and shares.
    pub rates: Vec<StatedRate>,
    /// What programs took.
    pub usage: Vec<Usage>,
    /// When it was measured, RFC 3339, where it says so.
    pub started_at: Option<String>,
    /// How long that took, where it says so.
    pub duration_ns: Option<u64>,
    /// What it says of the machine.
    pub environment: Environment,
    /// What else it says of the run: names and values.
    pub facts: Vec<(&'static str, String)>,
    /// What the format cannot give.
    pub notes: Vec<String>,
}

impl Foreign {
    fn new(source: Source) -> Self {
        Self {
            source,
            samples: Vec::new(),
            summaries: Vec::new(),
            rates: Vec::new(),
            usage: Vec::new(),
            started_at: None,
            duration_ns: None,
            environment: Environment::unknown(),
            facts: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// A count of this file that is not known yet.
    fn rate(&self, name: impl Into<String>, kind: RateKind) -> StatedRate {
        StatedRate::new(self.source.as_str(), name, kind)
    }

    /// Notes what the file says of its run, where it does.
    fn fact(&mut self, name: &'static str, value: Option<impl ToString>) {
        let value = value.map(|value| value.to_string());
        self.facts.extend(value.map(|value| (name, value)));
    }

    /// Itself, if it has anything.
    fn checked(self, list: &str) -> Result<Self, ReadError> {
        let rows = self.samples.len() + self.summaries.len() + self.rates.len();
        if rows == 0 {
            let message = format!(
                "a file of {} without a result in `{list}`",
                self.source.as_str()
            );
            return Err(ReadError::malformed(Place::Whole, message));
        }
        if rows > ROWS_MAX {
            let message = format!("more than {ROWS_MAX} benchmarks");
            return Err(ReadError::new(
                ReadErrorKind::TooLarge,
                Place::Whole,
                message,
            ));
        }
        Ok(self)
    }
}

/// What distinguishes the formats from each other. Everything else is skipped.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    schema: Option<IgnoredAny>,
    results: Option<IgnoredAny>,
    summary: Option<IgnoredAny>,
    #[serde(rename = "latencyPercentiles")]
    latency_percentiles: Option<IgnoredAny>,
    metrics: Option<IgnoredAny>,
    context: Option<IgnoredAny>,
    machine_info: Option<IgnoredAny>,
    benchmarks: Option<IgnoredAny>,
    iters: Option<IgnoredAny>,
    times: Option<IgnoredAny>,
    mean: Option<IgnoredAny>,
    median: Option<IgnoredAny>,
    median_abs_dev: Option<IgnoredAny>,
}

/// The tool that wrote a file, by what is in it; `None` where it is none of them, a report of perfkit for example.
///
/// ```
/// use perfkit_latency::foreign::{Source, source};
/// assert_eq!(source(br#"{"results": []}"#), Some(Source::Hyperfine));
/// assert_eq!(source(br#"{"schema": "perfkit.report/1", "results": []}"#), None);
/// ```
#[must_use]
pub fn source(bytes: &[u8]) -> Option<Source> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace())?;
    if *first == b'[' {
        return jmh::is_jmh(bytes).then_some(Source::Jmh);
    }
    let head: Head = serde_json::from_slice(bytes).ok()?;
    Some(match head {
        Head {
            schema: Some(_), ..
        } => return None,
        Head {
            machine_info: Some(_),
            benchmarks: Some(_),
            ..
        } => Source::PytestBenchmark,
        Head {
            context: Some(_),
            benchmarks: Some(_),
            ..
        } => Source::GoogleBenchmark,
        Head {
            summary: Some(_),
            latency_percentiles: Some(_),
            ..
        } => Source::Oha,
        Head {
            metrics: Some(_), ..
        } => Source::K6,
        Head {
            iters: Some(_),
            times: Some(_),
            ..
        } => Source::CriterionSample,
        Head {
            mean: Some(_),
            median: Some(_),
            median_abs_dev: Some(_),
            ..
        } => Source::CriterionEstimates,
        Head {
            results: Some(_), ..
        } => Source::Hyperfine,
        _ => return None,
    })
}

/// Reads a file that [`source`] knows. `name` is for formats whose files do not name what was measured.
///
/// # Errors
///
/// [`ReadErrorKind::Foreign`] for what is no such file; else at the first thing that breaks its format.
pub fn read(bytes: &[u8], name: &str) -> Result<Foreign, ReadError> {
    let Some(source) = source(bytes) else {
        let message = "not a file of hyperfine, oha, k6, criterion, Google Benchmark, JMH or pytest-benchmark";
        return Err(ReadError::new(
            ReadErrorKind::Foreign,
            Place::Whole,
            message,
        ));
    };
    match source {
        Source::Hyperfine => hyperfine::read(bytes),
        Source::Oha => oha::read(bytes, name),
        Source::K6 => k6::read(bytes),
        Source::CriterionSample => criterion::sample(bytes, name),
        Source::CriterionEstimates => criterion::estimates(bytes, name),
        Source::GoogleBenchmark => google::read(bytes),
        Source::Jmh => jmh::read(bytes),
        Source::PytestBenchmark => pytest::read(bytes),
    }
}

/// Where a value of a file is.
#[derive(Debug, Clone, Copy)]
struct At {
    list: &'static str,
    index: usize,
}

impl At {
    fn place(self, field: &'static str) -> Place {
        Place::Field {
            list: self.list,
            index: self.index as u64,
            field,
        }
    }

    /// A time in nanoseconds, from one in a unit of so many.
    fn time(self, field: &'static str, value: f64, unit_ns: f64) -> Result<f64, ReadError> {
        let ns = value * unit_ns;
        match (0.0..TIME_NS_MAX).contains(&ns) {
            true => Ok(ns),
            false => {
                let message = format!("{value:?} is not a time");
                Err(ReadError::malformed(self.place(field), message))
            }
        }
    }

    fn optional(
        self,
        field: &'static str,
        value: Option<f64>,
        unit_ns: f64,
    ) -> Result<Option<f64>, ReadError> {
        value
            .map(|value| self.time(field, value, unit_ns))
            .transpose()
    }

    /// All of a list, each once.
    fn times(
        self,
        field: &'static str,
        values: &[f64],
        unit_ns: f64,
    ) -> Result<Vec<(f64, u64)>, ReadError> {
        let one = |value: &f64| Ok((self.time(field, *value, unit_ns)?, 1));
        values.iter().map(one).collect()
    }
}

const SECOND_NS: f64 = 1e9;
const MILLISECOND_NS: f64 = 1e6;

#[cfg(test)]
mod stated_tests;
#[cfg(test)]
mod tests;
