//! One end of an interval: a time of day in a zone, and the instant at which it happens on a civil day.

use fixcore::Timestamp;
use jiff::civil::{Date, Time, Weekday};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

/// A time zone: of the IANA database, a fixed offset, or that of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

/// A zone that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "time zone '{name}' is not known: expected a name of the IANA database such as America/New_York, UTC, or \
     GMT+hh:mm{}",
    if *.is_empty { " (this system has no zone files: install tzdata, or point TZDIR at them)" } else { "" }
)]
pub struct ZoneError {
    /// What was stated.
    pub name: String,
    /// Whether the system has no zone files at all.
    pub is_empty: bool,
}

impl Zone {
    /// UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self {
            name: "UTC".to_owned(),
            zone: TimeZone::UTC,
        }
    }

    /// The zone of this system (`UseLocalTime`).
    #[must_use]
    pub fn system() -> Self {
        let zone = TimeZone::system();
        Self {
            name: zone.iana_name().unwrap_or("local time").to_owned(),
            zone,
        }
    }

    /// The zone of a name: `UTC`, `America/New_York`, `GMT+05:30`.
    ///
    /// # Errors
    ///
    /// There is no such zone, or the system has no zone files.
    pub fn named(name: &str) -> Result<Self, ZoneError> {
        let of = |zone| Self {
            name: name.to_owned(),
            zone,
        };
        if ["utc", "gmt", "z"].contains(&name.to_ascii_lowercase().as_str()) {
            return Ok(of(TimeZone::UTC));
        }
        if let Some(offset) = fixed(name) {
            return Ok(of(TimeZone::fixed(offset)));
        }
        TimeZone::get(name).map(of).map_err(|_| ZoneError {
            name: name.to_owned(),
            is_empty: jiff::tz::db().available().next().is_none(),
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn zone(&self) -> &TimeZone {
        &self.zone
    }
}

/// `GMT+5`, `UTC-03:30`, as Java writes offsets.
fn fixed(name: &str) -> Option<Offset> {
    let rest = name
        .strip_prefix("GMT")
        .or_else(|| name.strip_prefix("UTC"))?;
    let (sign, rest) = match rest.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
    let number = |digits: &str, max: i32| {
        let is_right =
            (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        let number: i32 = digits.parse().ok()?;
        (is_right && number <= max).then_some(number)
    };
    let seconds = number(hours, 23)? * 3600 + number(minutes, 59)? * 60;
    Offset::from_seconds(sign * seconds).ok()
}

/// One end of an interval: a time of day in a zone, on one day of the week or on each day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub(super) time: Time,
    pub(super) zone: Zone,
    pub(super) day: Option<Weekday>,
}

impl Endpoint {
    /// The end at this time of each day.
    ///
    /// Returns `None` if there is no such time of day.
    #[must_use]
    pub fn daily(hour: u8, minute: u8, second: u8, zone: Zone) -> Option<Self> {
        let [hour, minute, second] = [hour, minute, second].map(u8::cast_signed);
        let time = Time::new(hour, minute, second, 0).ok()?;
        Some(Self {
            time,
            zone,
            day: None,
        })
    }

    /// The same on one day of the week only: 0 is Sunday.
    ///
    /// Returns `None` if there is no such day.
    #[must_use]
    pub fn on(mut self, day: u8) -> Option<Self> {
        let day = Weekday::from_sunday_zero_offset(day.cast_signed()).ok()?;
        self.day = Some(day);
        Some(self)
    }

    /// The same on the day of the week of another end.
    #[must_use]
    pub fn like(mut self, other: &Self) -> Self {
        self.day = other.day;
        self
    }

    /// The zone.
    #[must_use]
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// The civil day of an instant in this end's zone.
    pub(super) fn date(&self, utc: Timestamp) -> Date {
        let at = jiff::Timestamp::from_nanosecond(i128::from(utc.0)).unwrap_or_default();
        self.zone.zone.to_datetime(at).date()
    }

    /// The instant at which this end's time happens on a civil day: the first of two, or the first instant
    /// after a hole. `None` beyond the years that a timestamp can state.
    pub(super) fn instant(&self, day: Date) -> Option<Timestamp> {
        let civil = day.to_datetime(self.time);
        let zone = self.zone.zone();
        let ambiguous = zone.to_ambiguous_timestamp(civil);
        let at = match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(civil).ok()?,
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(civil).ok()?,
            AmbiguousOffset::Gap { after, .. } => {
                // With the later offset it lies before the hole's instant, from which the hole is found.
                let earlier = after.to_timestamp(civil).ok()?;
                zone.following(earlier).next()?.timestamp()
            }
        };
        i64::try_from(at.as_nanosecond()).ok().map(Timestamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        let at: jiff::Timestamp = text.parse().unwrap();
        Timestamp(i64::try_from(at.as_nanosecond()).unwrap())
    }

    fn instant(time: (u8, u8), zone: &str, day: (i16, i8, i8)) -> Timestamp {
        let zone = Zone::named(zone).unwrap();
        let endpoint = Endpoint::daily(time.0, time.1, 0, zone).unwrap();
        let day = Date::new(day.0, day.1, day.2).unwrap();
        endpoint.instant(day).unwrap()
    }

    #[test]
    fn a_time_in_a_hole_is_the_first_instant_after_it() {
        let new_york = "America/New_York";
        let after = at("2026-03-08T07:00:00Z");
        assert_eq!(instant((2, 0), new_york, (2026, 3, 8)), after);
        assert_eq!(instant((2, 30), new_york, (2026, 3, 8)), after);
        assert_eq!(instant((3, 0), new_york, (2026, 3, 8)), after);
        assert_eq!(
            instant((1, 59), new_york, (2026, 3, 8)),
            at("2026-03-08T06:59:00Z")
        );
    }

    #[test]
    fn a_time_that_happens_twice_is_the_first() {
        assert_eq!(
            instant((1, 30), "America/New_York", (2026, 11, 1)),
            at("2026-11-01T05:30:00Z")
        );
    }

    #[test]
    fn a_day_that_a_zone_left_out_begins_with_the_next() {
        assert_eq!(
            instant((10, 0), "Pacific/Apia", (2011, 12, 30)),
            at("2011-12-30T10:00:00Z")
        );
    }

    #[test]
    fn fixed_offsets_need_no_files() {
        assert_eq!(
            instant((5, 30), "GMT+05:30", (2026, 1, 1)),
            at("2026-01-01T00:00:00Z")
        );
        assert_eq!(
            instant((1, 0), "UTC-3", (2026, 1, 1)),
            at("2026-01-01T04:00:00Z")
        );
        for wrong in ["GMT+", "GMT+24", "GMT+1:60", "GMT+1:", "Mars/Olympus", ""] {
            assert_eq!(Zone::named(wrong).unwrap_err().name, wrong);
        }
    }
}
