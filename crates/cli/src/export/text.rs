//! The report as text for a terminal: how what `body.rs` says looks there.

use std::io::{self, Write};

use latency::report::Report;

use super::Detail;
use super::body::{self, Block};

/// Writes the whole report.
pub(crate) fn write(report: &Report, detail: Detail, out: &mut dyn Write) -> io::Result<()> {
    for (index, block) in body::blocks(report, detail).iter().enumerate() {
        match block {
            Block::Heading(line) => {
                writeln!(out)?;
                line.text(out)?;
            }
            Block::Grid(grid) => grid.text(out)?,
            Block::Lines(lines) | Block::Picture(lines) => {
                for (nth, line) in lines.iter().enumerate() {
                    // Only the very first line stands at the margin, with the headings.
                    if index + nth > 0 {
                        write!(out, "  ")?;
                    }
                    line.text(out)?;
                }
            }
        }
    }
    Ok(())
}
