//! The zone of this system.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

/// When a clock in the zone of this system showed a local time: seconds since 1970, for seconds from
/// 1970-01-01 00:00:00 of the clock. Of a time that it showed twice, the first; of one that it skipped, what
/// a clock that was not put forward would have shown.
#[must_use]
pub fn local_to_utc(seconds: i64) -> i64 {
    let moment = Timestamp::from_second(seconds).ok().and_then(|at| {
        let shown = Offset::UTC.to_datetime(at);
        TimeZone::system().to_timestamp(shown).ok()
    });
    moment.map_or(seconds, Timestamp::as_second)
}
