//! The page as a whole.

use std::io::{self, Write};

use latency::report::Report;

use super::super::body::{self, Block};
use super::super::clean;
use super::curves::{self, Group};
use super::escape::{json, text};
use super::frame::figure;
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
    let mut blocks = body::blocks(&shown, &look);
    let head = match blocks.first() {
        Some(Block::Lines(_)) => block(&blocks.remove(0)),
        _ => String::new(),
    };
    let numbers = numbers(&mut blocks, shown.latencies.len());
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
    writeln!(out, "<h1>{}</h1>\n{head}", text(&title(&shown)),)?;
    if let Some(chart) = comparison(report) {
        writeln!(out, "<section>{chart}</section>")?;
    }
    out.write_all(numbers.as_bytes())?;
    pictures(report, &mut out)?;
    writeln!(out, "<section>")?;
    for one in &blocks {
        out.write_all(block(one).as_bytes())?;
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

/// A piece of the report; pictures are made anew.
fn block(block: &Block) -> String {
    match block {
        Block::Heading(line) => format!("<h2>{}</h2>\n", tables::line(line)),
        Block::Grid(grid) => tables::grid(grid),
        Block::Lines(lines) => tables::lines(lines),
        Block::Picture(_) => String::new(),
    }
}

/// The numbers of the distributions, where they are few: they are taken out of the blocks, and stand above the
/// pictures.
fn numbers(blocks: &mut Vec<Block>, rows: usize) -> String {
    let is_heading = |block: &Block| match block {
        Block::Heading(line) => matches!(line.parts(), [(_, text)] if text == "latency"),
        _ => false,
    };
    // Tables, which may have any name, come before it.
    match blocks.iter().rposition(is_heading) {
        Some(at) if rows <= NUMBERS_MAX => {
            // With the grid, and the lines that belong to it.
            let end = (at + 3).min(blocks.len());
            blocks.drain(at..end).map(|one| block(&one)).collect()
        }
        _ => String::new(),
    }
}

/// Distributions whose numbers stand above the pictures at most; more follow below.
const NUMBERS_MAX: usize = 12;
/// Runs that a title names.
const RUNS_NAMED: usize = 3;

/// The picture of the comparisons, where there are some.
fn comparison(report: &Report) -> Option<String> {
    let chart = figure(&[], |room| forest::chart(&report.comparisons, room));
    (!chart.is_empty()).then_some(chart)
}

/// The pictures of all distributions that can be drawn.
fn pictures(report: &Report, out: &mut impl Write) -> io::Result<()> {
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
    [
        figure(&names, |room| spectrum::chart(group, &report.gates, room)),
        figure(&names, |room| bars::chart(group, room)),
        figure(&names, |room| timeline::chart(group, room)),
    ]
    .concat()
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
