//! What was read as rows and tables of a report, and as sequences to compare.

use std::time::Instant;

use super::{Each, Foreign, Samples, Summary, Usage};
use crate::deviation;
use crate::percentile::earned_n;
use crate::recording::Known;
use crate::report::{
    Cell, Latency, LatencyName, RateKind, Stated, StatedPercentile, StatedRate, StatedTimes, Table,
    Timing, Unit,
};
use crate::{BucketPolicy, Histogram, Recorder, Spec};

/// Samples in the order in which they were taken, for a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    /// What was measured.
    pub name: String,
    /// The samples.
    pub values_ns: Vec<f64>,
    /// Whether each is a single operation, and not a mean over several.
    pub singles: bool,
}

/// What a file has of one benchmark, for a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// What was measured.
    pub name: String,
    /// The tool that wrote the file.
    pub source: &'static str,
    /// What is known of its times.
    pub times: Times,
    /// How many of its runs failed, and of how many, where the file says so.
    pub failed: Option<[u64; 2]>,
}

/// What is known of the times of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub enum Times {
    /// Samples in the order in which they were taken.
    InOrder(Sequence),
    /// Samples whose order is not known: how they are distributed.
    Distribution(Box<Latency>),
    /// Statistics without samples.
    Stated,
}

/// Below this, whole nanoseconds are too coarse for a sample.
const COARSE_NS: f64 = 1_000.0;
/// Significant digits of a histogram of counted samples.
const DIGITS: u8 = 3;

/// What the failed runs of a command are called.
pub(super) fn failed_runs(name: &str) -> String {
    format!("{name}: failed runs")
}

impl Sequence {
    /// How its samples are distributed: those of single operations have percentiles.
    pub(crate) fn distribution(&self) -> Latency {
        let each = match self.singles {
            true => Each::Single,
            false => Each::MeanOfMany,
        };
        let values = self.values_ns.iter().map(|ns| (*ns, 1));
        let samples = Samples {
            name: self.name.clone(),
            operation: "operation",
            each,
            values_ns: values.collect(),
            in_order: true,
        };
        samples.latency()
    }
}

impl Samples {
    /// How many there are.
    #[must_use]
    pub fn n(&self) -> u64 {
        let counts = self.values_ns.iter().map(|(_, count)| *count);
        counts.fold(0, u64::saturating_add)
    }

    /// The row of a report. Times are whole nanoseconds there.
    #[must_use]
    pub fn latency(&self) -> Latency {
        let spec = Spec::new(LatencyName::Service, self.operation)
            .series(self.name.as_str())
            .slowest(0);
        let spec = match self.each {
            Each::Single => spec,
            Each::Mean(operations) => spec.timing(Timing::BatchMean).batch(operations.get()),
            Each::MeanOfMany => spec.timing(Timing::BatchMean),
        };
        let spec = match self.in_order {
            true => spec,
            false => spec.buckets(BucketPolicy::Off),
        };
        if self.values_ns.iter().any(|(_, count)| *count != 1) {
            return self.counted();
        }
        let mut recorder = Recorder::new(spec, Instant::now());
        for (ns, _) in &self.values_ns {
            recorder.record_ns(ns.round() as u64);
        }
        recorder.finish().latency()
    }

    /// The row of samples of which the file says how often each occurred: the histogram has their order, and what is
    /// exact is made of the samples themselves.
    fn counted(&self) -> Latency {
        let [least, most] = self.ends();
        let whole = |ns: f64| ns.round() as u64;
        let mut histogram = Histogram::new_with_bounds(1, whole(most).max(2), DIGITS)
            .expect("any upper bound from 2 on makes a histogram of three digits");
        for (ns, count) in &self.values_ns {
            // The greatest value is the bound.
            histogram.saturating_record_n(whole(*ns), *count);
        }
        let (mean_ns, stdev_ns) = self.moments();
        let known = Known {
            min_ns: whole(least),
            max_ns: whole(most),
            mean_ns,
            stdev_ns,
            inflation: None,
        };
        let mut row = Latency::from_known(
            LatencyName::Service,
            self.operation,
            Timing::Actual,
            &histogram,
            known,
        );
        row.series = Some(self.name.clone());
        row
    }

    /// The least and the greatest; 0 without any.
    fn ends(&self) -> [f64; 2] {
        let values = || {
            let some = self.values_ns.iter().filter(|(_, count)| *count > 0);
            some.map(|(ns, _)| *ns)
        };
        [
            values().reduce(f64::min).unwrap_or(0.0),
            values().reduce(f64::max).unwrap_or(0.0),
        ]
    }

    /// The mean, and the standard deviation where there is one.
    fn moments(&self) -> (f64, Option<f64>) {
        let n = self.n();
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            let each = self.values_ns.iter();
            each.map(|(ns, count)| of(*ns) * *count as f64).sum()
        };
        let mean = sum(&|ns| ns) / n.max(1) as f64;
        let squares = sum(&|ns| (ns - mean).powi(2));
        (mean, deviation::of_squares(squares, n))
    }

    /// The samples one by one, if they are in the order in which they were taken.
    #[must_use]
    pub fn sequence(&self) -> Option<Sequence> {
        self.in_order.then(|| Sequence {
            name: self.name.clone(),
            values_ns: self.values_ns.iter().map(|(ns, _)| *ns).collect(),
            singles: self.each == Each::Single,
        })
    }

    /// Its row in the table of statistics, of the exact times.
    fn statistics(&self) -> Vec<Cell> {
        let n = self.n();
        let (mean, stdev) = self.moments();
        let mut sorted = self.values_ns.clone();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = |p: f64| {
            let rank = crate::percentile::rank(n, p);
            let mut before = 0_u64;
            let found = sorted.iter().find(|(_, count)| {
                before = before.saturating_add(*count);
                before >= rank
            });
            found.map(|(ns, _)| *ns).filter(|_| n >= earned_n(p))
        };
        let ends = sorted.first().zip(sorted.last());
        let quantiles = [50.0, 90.0, 95.0, 99.0, 99.9].map(at);
        row(
            &self.name,
            Some(n),
            [Some(mean), stdev, ends.map(|(least, _)| least.0)],
            quantiles,
            ends.map(|(_, greatest)| greatest.0),
        )
    }
}

impl Summary {
    fn stated(&self, source: &str) -> StatedTimes {
        let mut percentiles: Vec<StatedPercentile> = self
            .quantiles_ns
            .iter()
            .map(|&(p, value_ns)| StatedPercentile { p, value_ns })
            .collect();
        percentiles.sort_by(|a, b| a.p.total_cmp(&b.p));
        percentiles.dedup_by(|b, a| a.p >= b.p);
        StatedTimes {
            source: source.to_owned(),
            name: self.name.clone(),
            n: self.n,
            mean_ns: self.mean_ns,
            stdev_ns: self.stdev_ns,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            percentiles,
        }
    }

    fn row(&self) -> Vec<Cell> {
        let at = |wanted: f64| {
            let same = |(p, _): &&(f64, f64)| (p - wanted).abs() < 1e-9;
            self.quantiles_ns.iter().find(same).map(|(_, ns)| *ns)
        };
        let quantiles = [50.0, 90.0, 95.0, 99.0, 99.9].map(at);
        row(
            &self.name,
            self.n,
            [self.mean_ns, self.stdev_ns, self.min_ns],
            quantiles,
            self.max_ns,
        )
    }
}

const COLUMNS: [(&str, Unit); 11] = [
    ("benchmark", Unit::Text),
    ("n", Unit::Count),
    ("mean_ns", Unit::Nanoseconds),
    ("stdev_ns", Unit::Nanoseconds),
    ("min_ns", Unit::Nanoseconds),
    ("p50_ns", Unit::Nanoseconds),
    ("p90_ns", Unit::Nanoseconds),
    ("p95_ns", Unit::Nanoseconds),
    ("p99_ns", Unit::Nanoseconds),
    ("p99.9_ns", Unit::Nanoseconds),
    ("max_ns", Unit::Nanoseconds),
];

fn row(
    name: &str,
    n: Option<u64>,
    [mean, stdev, min]: [Option<f64>; 3],
    quantiles: [Option<f64>; 5],
    max: Option<f64>,
) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![name.into(), n.into(), mean.into(), stdev.into(), min.into()];
    cells.extend(quantiles.map(Cell::from));
    cells.push(max.into());
    cells
}

const RATES: [(&str, Unit); 5] = [
    ("name", Unit::Text),
    ("count", Unit::Count),
    ("of", Unit::Count),
    ("per_s", Unit::PerSecond),
    ("share", Unit::Share),
];

fn rate(rate: &StatedRate) -> Vec<Cell> {
    vec![
        rate.name.as_str().into(),
        rate.count.into(),
        rate.of.into(),
        rate.per_s.into(),
        rate.share.into(),
    ]
}

/// What a tool stated of counts, rates and shares as a table of a report; `None` of nothing.
#[must_use]
pub fn rates_table(rates: &[StatedRate]) -> Option<Table> {
    let source = &rates.first()?.source;
    let mut table = Table::new(&format!("rates as stated by {source}"), &RATES);
    table.rows = rates.iter().map(rate).collect();
    Some(table)
}

/// As in a report of programs that were run here: limits on memory and processor time look for these columns.
const USAGE: [(&str, Unit); 4] = [
    ("command", Unit::Text),
    ("user_ns", Unit::Nanoseconds),
    ("system_ns", Unit::Nanoseconds),
    ("rss_max_bytes", Unit::Bytes),
];

fn usage(usage: &Usage) -> Vec<Cell> {
    vec![
        usage.name.as_str().into(),
        usage.user_ns.into(),
        usage.system_ns.into(),
        usage.rss_max_bytes.into(),
    ]
}

impl Foreign {
    /// What a comparison can be made of: each benchmark of the file, also one that has no samples.
    #[must_use]
    pub fn benchmarks(&self) -> Vec<Benchmark> {
        let source = self.source.as_str();
        let benchmark = |name: &str, times: Times| Benchmark {
            name: name.to_owned(),
            source,
            times,
            failed: self.failed(name),
        };
        let sampled = self.samples.iter().map(|one| {
            let times = match one.sequence() {
                Some(sequence) => Times::InOrder(sequence),
                None => Times::Distribution(Box::new(one.latency())),
            };
            benchmark(&one.name, times)
        });
        let stated = self.summaries.iter();
        sampled
            .chain(stated.map(|one| benchmark(&one.name, Times::Stated)))
            .collect()
    }

    /// How many runs of a command failed, and of how many.
    fn failed(&self, name: &str) -> Option<[u64; 2]> {
        let is =
            |rate: &&StatedRate| rate.kind == RateKind::Failures && rate.name == failed_runs(name);
        let rate = self.rates.iter().find(is)?;
        Some([rate.count?, rate.of?])
    }

    /// The rows of a report: of the benchmarks of which there are samples.
    #[must_use]
    pub fn latencies(&self) -> Vec<Latency> {
        self.samples.iter().map(Samples::latency).collect()
    }

    /// What the file states without samples.
    #[must_use]
    pub fn stated(&self) -> Stated {
        let source = self.source.as_str();
        Stated {
            times: self
                .summaries
                .iter()
                .map(|one| one.stated(source))
                .collect(),
            rates: self.rates.clone(),
        }
    }

    /// Statistics as they were stated, and of samples that are too short for whole nanoseconds.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        let source = self.source.as_str();
        let mut tables = Vec::new();
        let short = |samples: &&Samples| samples.values_ns.iter().any(|(ns, _)| *ns < COARSE_NS);
        let short: Vec<&Samples> = self.samples.iter().filter(short).collect();
        if !short.is_empty() {
            let mut table = Table::new("statistics of samples", &COLUMNS);
            table.rows = short.into_iter().map(Samples::statistics).collect();
            tables.push(table);
        }
        if !self.summaries.is_empty() {
            let name = format!("as stated by {source}, without samples");
            let mut table = Table::new(&name, &COLUMNS);
            table.rows = self.summaries.iter().map(Summary::row).collect();
            tables.push(table);
        }
        if !self.usage.is_empty() {
            let mut table = Table::new("commands", &USAGE);
            table.rows = self.usage.iter().map(usage).collect();
            tables.push(table);
        }
        tables.extend(rates_table(&self.rates));
        if !self.facts.is_empty() {
            let columns = [("what", Unit::Text), ("stated", Unit::Text)];
            let mut table = Table::new("what the file states of its run", &columns);
            let facts = self.facts.iter();
            table.rows = facts
                .map(|(name, value)| vec![(*name).into(), value.as_str().into()])
                .collect();
            tables.push(table);
        }
        if !self.notes.is_empty() {
            let mut table = Table::new("what the file cannot give", &[("note", Unit::Text)]);
            table.rows = self
                .notes
                .iter()
                .map(|note| vec![note.as_str().into()])
                .collect();
            tables.push(table);
        }
        tables
    }
}
