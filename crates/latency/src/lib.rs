//! Honest latency recording: one recorder, report and comparison behind every perfkit number.
//!
//! A [`Recorder`] takes the times of one distribution on one thread, a few nanoseconds each. Its
//! [`Recording`] becomes a row of a [`Report`], with percentiles that were [earned](percentile) and
//! exact intervals beside them; a [`Gate`] judges rows, [`compare`] two of them, [`hgrm`] and
//! [`hlog`] are what other tools read. An [`OpenLoop`] counts response times from when operations were
//! due. [`environment`] says what the machine does to the numbers.
//!
//! ```
//! use std::time::Instant;
//! use perfkit_latency::{Gate, LatencyName, Recorder, Spec};
//!
//! let mut recorder = Recorder::new(Spec::new(LatencyName::Service, "sum"), Instant::now());
//! for _ in 0..1_000 {
//!     let start = Instant::now();
//!     std::hint::black_box((0..100u64).sum::<u64>());
//!     recorder.record_span(start, Instant::now());
//! }
//! let row = recorder.finish().latency();
//! assert_eq!(row.n, 1_000);
//! // 1,000 values earn a 99th percentile and not a 99.9th.
//! assert!(row.percentiles[2].value_ns.is_some());
//! assert_eq!(row.percentiles[3].reason.as_deref(), Some("n = 1000, needs 2995"));
//!
//! let gate: Gate = "p99<=1s".parse()?;
//! println!("{}", gate.decide(&[row]).reason);
//! # Ok::<(), perfkit_latency::ParseGateError>(())
//! ```
//!
//! What is not here: clap, a terminal, files, and the work that is measured.
#![forbid(unsafe_code)]

mod binomial;
mod check;
pub mod clock;
mod coding;
pub mod compare;
mod cpu;
pub mod environment;
mod gate;
pub mod hgrm;
pub mod hlog;
mod interval_log;
mod intervals;
mod merge;
mod open;
pub mod percentile;
pub mod pin;
mod read;
mod recorder;
mod recording;
pub mod report;
mod rng;
mod schedule;
mod series;
mod spec;
#[cfg(test)]
mod testing;
mod units;

pub use clock::{Clock, Floor, RecordingCost, floor, recording_cost};
pub use cpu::CpuClock;
pub use environment::Meter;
pub use gate::{Gate, ParseGateError};
pub use hdrhistogram::Histogram;
pub use interval_log::{IntervalLog, LoggedIntervals, Spool};
pub use open::{Lateness, OpenLoop, Pacer, Turn, Wait};
pub use read::{Place, ReadError, ReadErrorKind};
pub use recorder::{MergeError, Recorder};
pub use recording::Recording;
pub use report::{Latency, LatencyName, Report, Timing};
pub use rng::SplitMix64;
pub use schedule::{RATE_MAX_PER_S, RateError, Schedule};
pub use spec::{BucketPolicy, Spec};
