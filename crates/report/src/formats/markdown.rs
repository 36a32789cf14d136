//! The report as Markdown, for an issue or a README: how what `body` says looks there.

use std::io::{self, Write};

use latency::report::Report;

use super::body::{self, Block};
use super::clean;
use super::line::{Line, Tone, escape};
use crate::Look;

/// Writes the whole report, after the command line that made it.
///
/// # Errors
///
/// Those of `out`.
pub fn write(report: &Report, mut out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let out: &mut dyn Write = &mut out;
    let report = clean::report(report)?;
    let start = report.started_at.as_ref();
    let start = start.map(|start| format!(" ({start})"));
    Line::of(Tone::Heading, report.command.argv.join(" "))
        .plain(start.unwrap_or_default())
        .markdown(out)?;
    writeln!(out)?;
    for block in body::blocks(&report, &Look::default()) {
        match block {
            Block::Heading(line) => line.markdown(out)?,
            Block::Grid(grid) if grid.is_empty() => continue,
            Block::Grid(grid) => grid.markdown(out)?,
            Block::Lines(lines) if lines.is_empty() => continue,
            Block::Lines(lines) => {
                for line in lines {
                    write!(out, "- ")?;
                    line.markdown(out)?;
                }
            }
            Block::Picture(_) => continue,
        }
        writeln!(out)?;
    }
    let tool = &report.tool;
    writeln!(out, "{} {}", escape(&tool.name), escape(&tool.version))
}
