//! The formats of the HdrHistogram family: `.hgrm` for plotters, `.hlog` for everything over time.

use std::io::{self, Write};
use std::time::SystemTime;

use latency::LoggedIntervals;
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
    hgrm::write_row(&mut out, chosen.name, HgrmUnit::Us)?;
    if let Some(start) = start(report) {
        hgrm::write_start(&mut out, start)?;
    }
    hgrm::write_whole(&mut out, chosen)
}

/// All distributions, a line a second a tag: by what the run put into its log, a line at a time.
///
/// # Errors
///
/// Those of `out` and of the log.
pub fn hlog(
    report: &Report,
    logged: Option<&mut LoggedIntervals>,
    mut out: impl Write,
) -> io::Result<()> {
    let rows: Vec<&Latency> = report.latencies.iter().collect();
    let start = start(report).unwrap_or(SystemTime::UNIX_EPOCH);
    hlog::write(&mut out, start, &rows, logged)?;
    hlog::write_rows(&mut out, &rows)
}

/// When the run started, where the report says so.
fn start(report: &Report) -> Option<SystemTime> {
    let start = report
        .started_at
        .as_ref()?
        .parse::<jiff::Timestamp>()
        .ok()?;
    Some(SystemTime::from(start))
}

fn no_row(row: Option<&str>) -> io::Error {
    match row {
        Some(name) => io::Error::other(format!("the report has no row '{name}'")),
        None => io::Error::other("the report has no latencies"),
    }
}
