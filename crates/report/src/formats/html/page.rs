//! The page as a whole.

use std::io::{self, Write};

use latency::report::Report;

use super::super::body::{self, Block};
use super::super::clean;
use super::curves::{self, Group};
use super::escape::{json, text};
use super::{bars, forest, spectrum, style, tables, timeline};
use crate::units::count;
use crate::{Detail, Look};

/// Writes the report as one page.
///
/// # Errors
///
/// Those of `out`, and those of serialisation.
pub fn write(report: &Report, mut out: impl Write) -> io::Result<()> {
    let bare = without_intervals(report);
    let shown = clean::report(&bare)?;
    let look = Look {
        detail: Detail::Full,
        ..Look::default()
    };
    let mut blocks = body::blocks(&shown, &look).into_iter();
    let head = match blocks.next() {
        Some(Block::Lines(lines)) => lines,
        _ => Vec::new(),
    };
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"{} {}\">\n\
         <title>{}</title>\n<style>\n{}</style></head>\n<body><main>",
        style::POLICY,
        text(&shown.tool.name),
        text(&shown.tool.version),
        text(&title(&shown)),
        style::CSS,
    )?;
    writeln!(
        out,
        "<h1>{}</h1>\n{}",
        text(&title(&shown)),
        tables::lines(&head)
    )?;
    pictures(report, &mut out)?;
    writeln!(out, "<section>")?;
    for block in blocks {
        match block {
            Block::Heading(line) => writeln!(out, "<h2>{}</h2>", tables::line(&line))?,
            Block::Grid(grid) => out.write_all(tables::grid(&grid).as_bytes())?,
            Block::Lines(lines) => out.write_all(tables::lines(&lines).as_bytes())?,
            Block::Picture(_) => {}
        }
    }
    writeln!(
        out,
        "</section>\n<section>{}</section>",
        tables::circumstances(&shown)
    )?;
    writeln!(
        out,
        "</main>\n<script type=\"application/json\" id=\"report\">{}</script>\n<script>{}</script></body></html>",
        json(&serde_json::to_string(&bare)?),
        style::SCRIPT,
    )
}

/// What the page is about.
fn title(report: &Report) -> String {
    let mut title = match report.tool.name.as_str() {
        "" => report.workload.kind.clone(),
        name => format!("{name} {}", report.workload.kind),
    };
    let runs = curves::runs(report);
    if !runs.is_empty() {
        title += &format!(": {}", runs[..runs.len().min(RUNS_NAMED)].join(", "));
        if runs.len() > RUNS_NAMED {
            title += &format!(" and {} more", runs.len() - RUNS_NAMED);
        }
    }
    title
}

/// Runs that a title names.
const RUNS_NAMED: usize = 3;

/// The pictures of everything that can be drawn.
fn pictures(report: &Report, out: &mut impl Write) -> io::Result<()> {
    if let Some(chart) = forest::chart(&report.comparisons) {
        writeln!(out, "<section>{}</section>", chart.html(&[]))?;
    }
    let (groups, left_out) = curves::groups(report);
    for group in &groups {
        let charts = charts(group, report);
        if !charts.is_empty() {
            let title = text(&group.title);
            writeln!(out, "<section><h2>{title}</h2>\n{charts}</section>")?;
        }
    }
    if left_out > 0 {
        let more = count(left_out as u64);
        writeln!(
            out,
            "<p class=\"note\">{more} more distributions are in the tables, without pictures.</p>"
        )?;
    }
    Ok(())
}

fn charts(group: &Group<'_>, report: &Report) -> String {
    let names = group.names();
    let charts = [
        spectrum::chart(group, &report.gates),
        bars::chart(group),
        timeline::chart(group),
    ];
    charts
        .into_iter()
        .flatten()
        .map(|chart| chart.html(&names))
        .collect()
}

/// The report without the histograms of its intervals, of which the pictures have what can be seen: a page is sent
/// around, and the JSON report has them.
fn without_intervals(report: &Report) -> Report {
    let mut report = report.clone();
    report
        .latencies
        .iter_mut()
        .for_each(|row| row.intervals.clear());
    report
}
