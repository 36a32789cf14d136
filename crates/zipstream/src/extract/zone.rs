//! The zone of this system.

use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

/// The zone, as it was when this was called first.
///
/// Without `TZ` it is what `/etc/localtime` holds, which is read without looking for its name: that
/// would read the names of all zones.
fn system() -> &'static TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(|| match std::env::var_os("TZ") {
        Some(_) => TimeZone::system(),
        None => localtime().unwrap_or_else(TimeZone::system),
    })
}

fn localtime() -> Option<TimeZone> {
    let file = std::fs::File::open("/etc/localtime").ok()?;
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, ZONE_BYTES_MAX), &mut bytes).ok()?;
    TimeZone::tzif("Local", &bytes).ok()
}

/// No zone takes more.
const ZONE_BYTES_MAX: u64 = 1 << 20;

/// How many seconds a clock in the zone of this system is ahead of UTC, at a time in seconds since 1970.
#[must_use]
pub fn utc_offset_seconds(seconds: i64) -> i32 {
    let at = Timestamp::from_second(seconds).ok();
    at.map_or(0, |at| system().to_offset(at).seconds())
}

/// When a clock in the zone of this system showed a local time: seconds since 1970, for seconds from
/// 1970-01-01 00:00:00 of the clock. Of a time that it showed twice, the first; of one that it skipped, what
/// a clock that was not put forward would have shown.
#[must_use]
pub fn local_to_utc(seconds: i64) -> i64 {
    let moment = Timestamp::from_second(seconds).ok().and_then(|at| {
        let shown = Offset::UTC.to_datetime(at);
        system().to_timestamp(shown).ok()
    });
    moment.map_or(seconds, Timestamp::as_second)
}
