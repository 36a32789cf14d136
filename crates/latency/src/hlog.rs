//! `.hlog`: the HdrHistogram interval log, version 2, with tags.
//!
//! One line per tag and interval, each with its own histogram, so that a finished run can be plotted over
//! time. The histogram crate's own writer writes the lines. Its parser reads them, one line at a time,
//! because it searches all of its input for a separator. What a row says beyond its histograms stands in
//! comments at the end.

mod read;
mod rows;
mod tag;
mod write;

pub use self::read::{TaggedHistogram, cut_line, read, started_at};
pub use self::rows::{Rows, latencies, rows, rows_in};
pub use self::tag::tag;
pub use self::write::{write, write_rows};

#[cfg(test)]
mod tests;
