//! Times, and times of each day.

use std::cmp::Ordering;

use fixcore::{Timestamp, value};

/// Nanoseconds of a day.
const DAY_NS: i64 = 86_400_000_000_000;

/// A time, or a time of each day, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A time.
    At(Timestamp),
    /// Nanoseconds since the midnight of each day.
    EachDay(i64),
}

impl Moment {
    /// Whether a message of this time came before.
    pub(super) fn is_after(self, time: Timestamp) -> bool {
        self.compare(time).is_gt()
    }

    /// How this compares with a time.
    pub(super) fn compare(self, time: Timestamp) -> Ordering {
        match self {
            Self::At(moment) => moment.cmp(&time),
            Self::EachDay(ns) => ns.cmp(&time.0.rem_euclid(DAY_NS)),
        }
    }
}

impl Moment {
    /// Reads the forms that FIX has: `YYYYMMDD-HH:MM:SS` with or without a fraction, `YYYYMMDD` and
    /// `HH:MM:SS`, also without seconds. All are UTC; 24:00 is the end of a day.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (day, clock) = match bytes.split_first_chunk::<8>() {
            Some((day, [])) if value::date(day).is_some() => (Some(day), &b"00:00"[..]),
            Some((day, [b'-', clock @ ..])) => (Some(day), clock),
            _ => (None, bytes),
        };
        let mut clock = clock.to_vec();
        if clock.len() == "HH:MM".len() {
            clock.extend_from_slice(b":00");
        }
        let ns = match clock.as_slice() {
            b"24:00:00" => DAY_NS,
            clock => value::time_of_day(clock)?,
        };
        let Some(day) = day else {
            return Some(Self::EachDay(ns));
        };
        let midnight_ns = value::date(day)?.checked_mul(DAY_NS)?;
        midnight_ns
            .checked_add(ns)
            .map(|ns| Self::At(Timestamp(ns)))
    }
}
