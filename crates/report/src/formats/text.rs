//! The report as text for a terminal: how what `body` says looks there.

use std::io::{self, Write};

use latency::report::Report;

use super::body::{self, Block};
use super::clean;
use super::sparks;
use crate::{Detail, Look};

/// Writes the whole report. What would steer a terminal is shown as escapes.
///
/// # Errors
///
/// Those of `out`.
pub fn write(report: &Report, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let (report, palette) = (clean::report(report)?, &look.palette);
    let columns = look.page.columns();
    for (index, block) in body::blocks(&report, &look).iter().enumerate() {
        match block {
            Block::Heading(line) => {
                writeln!(out)?;
                line.text_within(columns, ("", "  "), palette, out)?;
            }
            Block::Grid(grid) => grid.text(&look.page, palette, out)?,
            Block::Lines(lines) => {
                for (nth, line) in lines.iter().enumerate() {
                    // Only the very first line stands at the margin, with the headings.
                    let (first, brief) = (index + nth == 0, look.detail == Detail::Line);
                    let margins = if first { ("", "    ") } else { ("  ", "    ") };
                    let columns = match first && brief {
                        true => look.page.line_columns(),
                        false => columns,
                    };
                    line.text_within(columns, margins, palette, out)?;
                }
            }
            Block::Picture(lines) => {
                for line in lines {
                    write!(out, "  ")?;
                    match look.ascii {
                        true => line.with(sparks::ascii).text(palette, out)?,
                        false => line.text(palette, out)?,
                    }
                }
            }
        }
    }
    Ok(())
}
