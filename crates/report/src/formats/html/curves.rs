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
    let runs = runs(report);
    let mut curves = curves(report, &runs);
    let mut groups = Vec::new();
    if let Some(laid_over) = laid_over(&mut curves, &runs) {
        for (title, curves) in laid_over {
            split(&title, curves, &mut groups);
        }
    } else if LatencyName::ALL
        .into_iter()
        .all(|name| curves.iter().filter(|curve| curve.row.name == name).count() < 2)
    {
        let title = "latency".to_owned();
        groups.push(Group { title, curves });
    } else {
        for name in LatencyName::ALL {
            let (own, rest) = curves.into_iter().partition(|curve| curve.row.name == name);
            curves = rest;
            split(name.as_str(), own, &mut groups);
        }
    }
    groups.retain(|group| !group.curves.is_empty());
    let beyond = groups.split_off(groups.len().min(GROUPS_MAX));
    let left_out = beyond.iter().map(|group| group.curves.len()).sum();
    (groups, left_out)
}

/// The same row of several runs over each other, each called by its run: nothing where no two runs have one.
fn laid_over<'a>(
    curves: &mut Vec<Curve<'a>>,
    runs: &[&str],
) -> Option<Vec<(String, Vec<Curve<'a>>)>> {
    let title = |curve: &Curve<'_>| {
        let run = run_of(curve.row, runs)?;
        let own = curve.row.series.as_deref()?.strip_prefix(run)?;
        let own = own.strip_prefix(": ").map(|own| format!("{own} "));
        Some(format!("{}{}", own.unwrap_or_default(), curve.row.name))
    };
    let titles: Option<Vec<String>> = curves.iter().map(title).collect();
    let titles = titles.filter(|titles| {
        let is_twin = |(at, title): (usize, &String)| titles[..at].contains(title);
        titles.iter().enumerate().any(is_twin)
    })?;
    let mut found: Vec<(String, Vec<Curve<'a>>)> = Vec::new();
    for (mut curve, title) in std::mem::take(curves).into_iter().zip(titles) {
        if let Some(run) = run_of(curve.row, runs) {
            let label = curve.row.label();
            let rest = curve.name.strip_prefix(&label).unwrap_or_default();
            curve.name = match rest.starts_with(" = ") {
                true => format!("{run} ({}{rest})", curve.row.name),
                false => format!("{run}{rest}"),
            };
        }
        match found.iter_mut().find(|(known, _)| *known == title) {
            Some((_, group)) => group.push(curve),
            None => found.push((title, vec![curve])),
        }
    }
    Some(found)
}

/// Groups of curves of one time.
fn split<'a>(name: &str, mut curves: Vec<Curve<'a>>, groups: &mut Vec<Group<'a>>) {
    let parts = curves.len().div_ceil(LOOKS).max(1);
    let each = curves.len().div_ceil(parts);
    for part in 1..=parts {
        let rest = curves.split_off(each.min(curves.len()));
        let title = match parts {
            1 => name.to_owned(),
            _ => format!("{name}, {part} of {parts}"),
        };
        groups.push(Group { title, curves });
        curves = rest;
    }
}

fn curves<'a>(report: &'a Report, runs: &[&str]) -> Vec<Curve<'a>> {
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
            start_ns: start(report, row, runs),
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
