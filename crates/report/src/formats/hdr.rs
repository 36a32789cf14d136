//! The formats of the HdrHistogram family: `.hgrm` for plotters, `.hlog` for everything over time.

use std::io::{self, Write};
use std::time::SystemTime;

use latency::IntervalLog;
use latency::hgrm::{self, HgrmUnit};
use latency::hlog;
use latency::report::{Latency, Report};

/// One distribution, values in microseconds: the first whose name is `row`, or the first of all.
///
/// # Errors
///
/// Those of `out`, and one that names the row that the report does not have.
pub fn hgrm(report: &Report, row: Option<&str>, mut out: impl Write) -> io::Result<()> {
    let chosen = report
        .latencies
        .iter()
        .find(|latency| row.is_none_or(|name| latency.name.as_str() == name))
        .ok_or_else(|| no_row(row))?;
    let histogram = chosen.histogram().map_err(io::Error::other)?;
    hgrm::write(&mut out, &histogram, HgrmUnit::Us)?;
    hgrm::write_row(&mut out, chosen.name, HgrmUnit::Us)
}

/// All distributions, a line a second a tag: by what the run put into its log, a line at a time.
///
/// # Errors
///
/// Those of `out` and of the log.
pub fn hlog(
    report: &Report,
    intervals: Option<IntervalLog>,
    mut out: impl Write,
) -> io::Result<()> {
    let mut logged = intervals.map(IntervalLog::finish).transpose()?;
    let rows: Vec<&Latency> = report.latencies.iter().collect();
    let start = report
        .started_at
        .parse::<jiff::Timestamp>()
        .map_or(SystemTime::UNIX_EPOCH, SystemTime::from);
    hlog::write(&mut out, start, &rows, logged.as_mut())
}

fn no_row(row: Option<&str>) -> io::Error {
    match row {
        Some(name) => io::Error::other(format!("the report has no row '{name}'")),
        None => io::Error::other("the report has no latencies"),
    }
}
