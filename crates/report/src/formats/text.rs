//! The report as text for a terminal: how what `body` says looks there.

use std::io::{self, Write};

use latency::report::Report;

use super::body::{self, Block};
use super::clean;
use super::sparks;
use crate::Look;

/// Writes the whole report. What would steer a terminal is shown as escapes.
///
/// # Errors
///
/// Those of `out`.
pub fn write(report: &Report, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let (report, palette) = (clean::report(report)?, &look.palette);
    for (index, block) in body::blocks(&report, look.detail).iter().enumerate() {
        match block {
            Block::Heading(line) => {
                writeln!(out)?;
                line.text(palette, out)?;
            }
            Block::Grid(grid) => grid.text(palette, out)?,
            Block::Lines(lines) | Block::Picture(lines) => {
                let is_plain = look.ascii && matches!(block, Block::Picture(_));
                for (nth, line) in lines.iter().enumerate() {
                    let line = &match is_plain {
                        true => line.with(sparks::ascii),
                        false => line.clone(),
                    };
                    // Only the very first line stands at the margin, with the headings.
                    if index + nth > 0 {
                        write!(out, "  ")?;
                    }
                    line.text(palette, out)?;
                }
            }
        }
    }
    Ok(())
}
