//! Intervals that come back: each day, on some days of the week, or once a week.

use fixcore::Timestamp;
use jiff::civil::{Date, Weekday};

use super::endpoint::Endpoint;

/// A span of time: `start` belongs to it, `end` does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// Its first instant.
    pub start: Timestamp,
    /// The first instant after it.
    pub end: Timestamp,
}

/// Days of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days(u8);

impl Days {
    /// Each day.
    pub const ALL: Self = Self(0b111_1111);

    /// These days: 0 is Sunday. Numbers above 6 are left out.
    #[must_use]
    pub fn of(days: impl IntoIterator<Item = u8>) -> Self {
        let days = days.into_iter().filter(|day| *day < 7);
        Self(days.fold(0, |days, day| days | 1 << day))
    }

    /// Whether it has no day.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn has(self, day: Weekday) -> bool {
        self.0 >> day.to_sunday_zero_offset() & 1 == 1
    }
}

/// Intervals that come back. Each begins at the start's time of a civil day in the start's zone, and ends at
/// the first time of the end, in the end's zone, after that. The next start ends an interval, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    start: Endpoint,
    end: Endpoint,
    days: Days,
}

/// How many days of the week there are.
const WEEK: i64 = 7;

impl Rule {
    /// Intervals that start on these days of the week. An end on a day of the week
    /// ([`Endpoint::on`]) makes them as long as a week.
    #[must_use]
    pub fn new(start: Endpoint, end: Endpoint, days: Days) -> Self {
        let days = match start.day {
            Some(day) => Days::of([day.to_sunday_zero_offset().cast_unsigned()]),
            None => days,
        };
        Self { start, end, days }
    }

    /// The end that starts intervals.
    #[must_use]
    pub fn start(&self) -> &Endpoint {
        &self.start
    }

    /// The end that ends them.
    #[must_use]
    pub fn end(&self) -> &Endpoint {
        &self.end
    }

    /// The interval that an instant is in.
    #[must_use]
    pub fn interval_at(&self, utc: Timestamp) -> Option<Interval> {
        let today = self.start.date(utc);
        // The latest start that is not after the instant: an interval is a week at most, and a day's
        // start may lie up to two days from the day's name where a zone changed its date.
        let from = (-WEEK - 2..=2)
            .rev()
            .filter_map(|days| self.start_of(today, days))
            .find(|start| *start <= utc)?;
        let end = self.end_of(from)?;
        (utc < end).then_some(Interval { start: from, end })
    }

    /// The next start after an instant.
    #[must_use]
    pub fn next_start(&self, utc: Timestamp) -> Option<Timestamp> {
        let today = self.start.date(utc);
        (-2..=WEEK + 2)
            .filter_map(|days| self.start_of(today, days))
            .find(|start| *start > utc)
    }

    /// The next instant after this one at which the interval changes or ends.
    #[must_use]
    pub fn next_change(&self, utc: Timestamp) -> Option<Timestamp> {
        match self.interval_at(utc) {
            Some(interval) => Some(interval.end),
            None => self.next_start(utc),
        }
    }

    /// The start on the day `days` after this one, if intervals start on it.
    fn start_of(&self, today: Date, days: i64) -> Option<Timestamp> {
        let day = shifted(today, days)?;
        self.days.has(day.weekday()).then_some(())?;
        self.start.instant(day)
    }

    /// Where the interval ends that starts at an instant.
    fn end_of(&self, start: Timestamp) -> Option<Timestamp> {
        let today = self.end.date(start);
        let end = (-2..=WEEK + 2)
            .filter_map(|days| shifted(today, days))
            .filter(|day| self.end.day.is_none_or(|wanted| wanted == day.weekday()))
            .filter_map(|day| self.end.instant(day))
            .find(|end| *end > start)?;
        let next = self.next_start(start).unwrap_or(end);
        Some(end.min(next))
    }
}

fn shifted(day: Date, days: i64) -> Option<Date> {
    day.checked_add(jiff::Span::new().days(days)).ok()
}
