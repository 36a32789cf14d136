//! One recorder, report and comparison behind every perfkit number.
#![forbid(unsafe_code)]

mod binomial;
pub mod clock;
mod coding;
pub mod compare;
pub mod environment;
mod gate;
pub mod hgrm;
pub mod hlog;
mod inflate;
pub mod percentile;
pub mod pin;
mod read;
mod recorder;
mod recording;
pub mod report;
mod rng;
mod series;
#[cfg(test)]
mod testing;
mod units;

pub use clock::{Clock, Floor, RecordingCost, floor, recording_cost};
pub use environment::Meter;
pub use gate::{Gate, ParseGateError};
pub use hdrhistogram::Histogram;
pub use read::{Place, ReadError, ReadErrorKind};
pub use recorder::{BucketPolicy, MergeError, Recorder, Spec};
pub use recording::Recording;
