//! The report: what every perfkit command reports about a run, as plain data.
//!
//! A command builds one [`Report`] and hands it to any number of exporters. Nothing here knows terminals
//! or files. Each key ends in its unit (`_ns`, `_bytes`, `_per_s`). Integers are nanoseconds or bytes. An
//! absent value is `null`, which is not zero. No value is NaN or infinite (see [`finite`]). [`SCHEMA`] names
//! the JSON form; reading refuses unknown fields.

mod distribution;
mod environment;
mod floor;
mod load;
mod read;
mod run;
mod stated;
mod table;
mod verdict;

pub use self::distribution::{
    Buckets, Interval, Latency, LatencyName, ParseLatencyNameError, Percentile, SlowSample, Timing,
};
pub use self::environment::{Environment, Warning};
pub use self::floor::{FloorKind, RowFloor};
pub use self::load::{Arrivals, GeneratorLate, Load, LoadModel};
pub use self::read::read_json;
pub use self::run::{
    Command, Done, Input, Report, Resources, Throughput, Tool, Validation, Workload,
};
pub use self::stated::{RateKind, Stated, StatedPercentile, StatedRate, StatedTimes};
pub use self::table::{Cell, Column, Table, Unit};
pub use self::verdict::{
    Comparison, Design, Differences, GateResult, GateVerdict, LimitResult, TailDifference,
    TailLeftOut, Verdict,
};

/// The name and version of the JSON form, the value of every report's `schema` key.
pub const SCHEMA: &str = "perfkit.report/1";

/// `Some` for a finite number; `None` for NaN and the infinities, which no report may contain.
#[must_use]
pub fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The JSON Schema of [`Report`].
#[cfg(feature = "schema")]
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Report).to_value()
}
