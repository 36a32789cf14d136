//! The distributions that are drawn, in groups of as many as a chart can hold.

use latency::Histogram;
use latency::report::{Latency, LatencyName, Report, Timing};

use super::marks::LOOKS;
use crate::formats::tables::mean_of;

/// Groups at most: a page is no archive.
const GROUPS_MAX: usize = 6;
/// What the table of the files is called that a report was read from, whose first column has their names.
const SOURCES: [&str; 2] = ["read from", "merged from"];

/// One distribution.
#[derive(Debug)]
pub(super) struct Curve<'a> {
    /// Its row.
    pub(super) row: &'a Latency,
    /// What it is called.
    pub(super) name: String,
    /// Its values.
    pub(super) histogram: Histogram<u64>,
    /// When the first interval of its run started: runs are laid over each other from their starts.
    pub(super) start_ns: u64,
}

impl Curve<'_> {
    /// Whether each value is a single operation, whose tail means something.
    pub(super) fn is_single(&self) -> bool {
        self.row.timing != Timing::BatchMean
    }

    /// The greatest value.
    pub(super) fn max_ns(&self) -> u64 {
        self.row.max_ns.unwrap_or_else(|| self.histogram.max())
    }

    /// The least value that a logarithmic axis can show.
    pub(super) fn min_ns(&self) -> u64 {
        self.row
            .min_ns
            .unwrap_or_else(|| self.histogram.min())
            .max(1)
    }
}

/// Distributions in one chart.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// What they have in common.
    pub(super) title: String,
    /// The distributions; each has the look of its place.
    pub(super) curves: Vec<Curve<'a>>,
}

impl Group<'_> {
    /// The names of its curves.
    pub(super) fn names(&self) -> Vec<String> {
        self.curves.iter().map(|curve| curve.name.clone()).collect()
    }
}

/// The least and the greatest value of some curves.
pub(super) fn range<'c, 'r: 'c>(curves: impl Iterator<Item = &'c Curve<'r>>) -> Option<(f64, f64)> {
    let ends = curves.map(|curve| (curve.min_ns(), curve.max_ns().max(1)));
    let all = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    all.map(|(low, high)| (low as f64, high as f64))
}

/// The distributions of a report that hold something, and how many there was no room for.
pub(super) fn groups(report: &Report) -> (Vec<Group<'_>>, usize) {
    let mut curves = curves(report);
    let alone =
        |name: LatencyName| curves.iter().filter(|curve| curve.row.name == name).count() < 2;
    let mut groups = Vec::new();
    if LatencyName::ALL.into_iter().all(alone) {
        let title = "latency".to_owned();
        groups.push(Group { title, curves });
    } else {
        for name in LatencyName::ALL {
            let (own, rest) = curves.into_iter().partition(|curve| curve.row.name == name);
            curves = rest;
            split(name, own, &mut groups);
        }
    }
    groups.retain(|group| !group.curves.is_empty());
    let beyond = groups.split_off(groups.len().min(GROUPS_MAX));
    let left_out = beyond.iter().map(|group| group.curves.len()).sum();
    (groups, left_out)
}

/// Groups of curves of one time.
fn split<'a>(name: LatencyName, mut curves: Vec<Curve<'a>>, groups: &mut Vec<Group<'a>>) {
    let parts = curves.len().div_ceil(LOOKS).max(1);
    let each = curves.len().div_ceil(parts);
    for part in 1..=parts {
        let rest = curves.split_off(each.min(curves.len()));
        let title = match parts {
            1 => name.to_string(),
            _ => format!("{name}, {part} of {parts}"),
        };
        groups.push(Group { title, curves });
        curves = rest;
    }
}

fn curves(report: &Report) -> Vec<Curve<'_>> {
    let runs = runs(report);
    let mut curves: Vec<Curve<'_>> = Vec::new();
    for row in report.latencies.iter().filter(|row| row.n > 0) {
        let Some(histogram) = row.histogram().ok().filter(|found| !found.is_empty()) else {
            continue;
        };
        // Two times that are the same are one curve.
        let same = |curve: &&mut Curve<'_>| {
            (&curve.row.series, &curve.row.histogram_v2_deflate_b64)
                == (&row.series, &row.histogram_v2_deflate_b64)
                && curve.row.timing == row.timing
        };
        if let Some(known) = curves.iter_mut().find(same) {
            known.name = format!("{} = {}", known.name, row.name);
            continue;
        }
        curves.push(Curve {
            row,
            name: name(row),
            histogram,
            start_ns: start(report, row, &runs),
        });
    }
    curves
}

fn name(row: &Latency) -> String {
    let label = row.label();
    match row.timing {
        Timing::BatchMean => format!("{label}, means of {}", mean_of(row)),
        Timing::Modelled => format!("{label} (modelled)"),
        Timing::Intended | Timing::Actual => label,
    }
}

/// The names of the runs that a report was put together from, where there are several.
pub(super) fn runs(report: &Report) -> Vec<&str> {
    let is_sources = |table: &&latency::report::Table| SOURCES.contains(&table.name.as_str());
    let rows = report.tables.iter().rev().find(is_sources);
    let rows = rows.map_or(&[][..], |table| &table.rows);
    let names = rows.iter().filter_map(|row| match row.first() {
        Some(latency::report::Cell::Text(name)) => Some(name.as_str()),
        _ => None,
    });
    match rows.len() {
        0 | 1 => Vec::new(),
        _ => names.collect(),
    }
}

/// The run that a row is of.
fn run_of<'r>(row: &Latency, runs: &[&'r str]) -> Option<&'r str> {
    let series = row.series.as_deref()?;
    let of = |run: &&&str| {
        let rest = series.strip_prefix(**run);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
    };
    runs.iter().filter(of).max_by_key(|run| run.len()).copied()
}

/// When the first interval of the run of a row started.
fn start(report: &Report, row: &Latency, runs: &[&str]) -> u64 {
    let Some(run) = run_of(row, runs) else {
        return 0;
    };
    let rows = report.latencies.iter();
    let own = rows.filter(|other| run_of(other, runs) == Some(run));
    let starts = own.flat_map(|row| row.intervals.iter().map(|interval| interval.start_ns));
    starts.min().unwrap_or(0)
}
