//! What surrounds a measured run, and the report that comes of it; the measuring is in `perfkit-latency`.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod error;
mod exit;
mod floors;
pub mod formats;
pub mod gates;
pub mod names;
mod nouns;
#[cfg(feature = "openmetrics")]
pub mod openmetrics;
mod outcome;
pub mod plain;
mod run;
pub mod saved;
pub mod style;
pub mod topics;
pub mod units;
pub mod verdicts;

/// The recorder, and the report as data.
pub use latency;

pub use error::{Asked, Error};
pub use exit::ExitStatus;
pub use formats::{Detail, Format, LongTable, Look, Page, write};
pub use outcome::{Before, Outcome};
pub use run::{Finished, INPUTS_LISTED, Prepared, Run, RunOptions, tool};
