//! Honest latency recording: one recorder, report and comparison behind every perfkit number.
//!
//! A [`Recorder`] records the times of one distribution on one thread, at a cost of a few nanoseconds
//! each. Its [`Recording`] becomes a row of a [`Report`]: [percentiles](percentile) that the sample is
//! large enough for, each with an exact confidence interval. A [`Gate`] checks a row against a limit,
//! [`compare`] compares two rows, and [`hgrm`] and [`hlog`] are formats that other tools read. An
//! [`OpenLoop`] measures response times from the moment at which operations were due. [`environment`]
//! reports what about the machine makes the numbers less reliable.
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
//! // 1,000 samples are enough for the 99th percentile, not for the 99.9th.
//! assert!(row.percentile(99.0).is_some());
//! assert_eq!(row.percentiles[3].reason.as_deref(), Some("1000 samples, 2995 needed"));
//!
//! let gate: Gate = "p99<=1s".parse()?;
//! println!("{}", gate.decide(&[row]).reason);
//! # Ok::<(), perfkit_latency::ParseGateError>(())
//! ```
//!
//! Not in this crate: command-line parsing, terminals, files, and the work that is measured.
#![forbid(unsafe_code)]

mod binomial;
mod carried;
mod check;
pub mod clock;
mod coding;
pub mod compare;
mod cpu;
pub mod dependence;
pub mod deviation;
pub mod environment;
mod exact;
pub mod foreign;
mod gate;
pub mod hgrm;
mod histogram;
pub mod hlog;
mod interval_log;
mod intervals;
mod live;
mod live_rows;
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
mod span;
mod spec;
#[cfg(test)]
mod testing;
mod units;
mod wake;

pub use clock::{Clock, Floor, RecordingCost, floor, recording_cost};
pub use cpu::CpuClock;
pub use environment::Meter;
pub use gate::{Gate, ParseGateError, RSS_FLOOR_PARAM};
pub use hdrhistogram::Histogram;
pub use interval_log::{IntervalLog, LoggedIntervals, Spool};
pub use live::{BOUNDS_NS, Buckets, LiveBuckets};
pub use live_rows::{LiveRow, LiveRows, Window};
pub use open::{Lateness, OpenLoop, Pacer, Turn, Wait};
pub use read::{Place, ReadError, ReadErrorKind};
pub use recorder::{MergeError, Recorder};
pub use recording::Recording;
pub use report::{Latency, LatencyName, Report, Timing};
pub use rng::SplitMix64;
pub use schedule::{RATE_MAX_PER_S, RateError, Schedule};
pub use spec::{BucketPolicy, Spec};
pub use units::parse_duration;
pub use wake::wake_floor;
