//! Units of time in texts and tables.

use std::str::FromStr;

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// µs
    Microsecond,
    /// ms
    Millisecond,
    /// s
    Second,
    /// min
    Minute,
    /// h
    Hour,
}

impl TimeUnit {
    /// The unit that a time is best read in.
    #[must_use]
    pub fn fitting(ns: f64) -> Self {
        if ns < 1e6 {
            Self::Microsecond
        } else if ns < 1e9 {
            Self::Millisecond
        } else {
            Self::Second
        }
    }

    /// `ms` and the like.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Microsecond => "µs",
            Self::Millisecond => "ms",
            Self::Second => "s",
            Self::Minute => "min",
            Self::Hour => "h",
        }
    }

    fn ns(self) -> f64 {
        match self {
            Self::Microsecond => 1e3,
            Self::Millisecond => 1e6,
            Self::Second => 1e9,
            Self::Minute => 60e9,
            Self::Hour => 3600e9,
        }
    }

    /// A time as a number of this unit: three digits behind the point of seconds, else one.
    #[must_use]
    pub fn number(self, ns: f64) -> String {
        let digits = if self == Self::Second { 3 } else { 1 };
        format!("{:.digits$}", ns / self.ns())
    }

    /// [`Self::number`] with the unit.
    #[must_use]
    pub fn time(self, ns: f64) -> String {
        format!("{} {}", self.number(ns), self.as_str())
    }
}

/// The text is not a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown unit: expected microsecond, millisecond, second, minute or hour")]
pub struct ParseTimeUnitError;

impl FromStr for TimeUnit {
    type Err = ParseTimeUnitError;

    fn from_str(text: &str) -> Result<Self, ParseTimeUnitError> {
        Ok(match text {
            "µs" | "us" | "microsecond" | "microseconds" => Self::Microsecond,
            "ms" | "millisecond" | "milliseconds" => Self::Millisecond,
            "s" | "second" | "seconds" => Self::Second,
            "min" | "minute" | "minutes" => Self::Minute,
            "h" | "hour" | "hours" => Self::Hour,
            _ => return Err(ParseTimeUnitError),
        })
    }
}
