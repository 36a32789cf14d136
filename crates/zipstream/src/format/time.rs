//! Conversion between seconds since 1970 (UTC) and the two DOS fields. No clock and no time zone.

/// 1980-01-01 00:00:00, the first time of the DOS fields.
pub(crate) const DOS_MIN: i64 = 315_532_800;
/// Moments that the DOS fields have in every zone.
pub(crate) const DOS_RANGE: std::ops::Range<i64> = DOS_MIN + DAY..DOS_MAX - DAY;
/// 2107-12-31 23:59:58, the last one.
const DOS_MAX: i64 = 4_354_819_198;
const DAY: i64 = 86_400;

/// The DOS time and date of a time, clamped to their range.
pub(crate) fn to_dos(seconds: i64) -> (u16, u16) {
    let seconds = seconds.clamp(DOS_MIN, DOS_MAX);
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    let rest = seconds.rem_euclid(DAY);
    let (hours, minutes, seconds) = (rest / 3600, rest / 60 % 60, rest % 60);
    let time = hours << 11 | minutes << 5 | (seconds / 2);
    let date = (year - 1980) << 9 | month << 5 | day;
    // Both fit 16 bits after the clamp.
    (time as u16, date as u16)
}

/// What a clock showed by DOS fields, in seconds from 1970-01-01 00:00:00 of it; fields out of range are
/// clamped.
pub(crate) fn from_dos(time: u16, date: u16) -> i64 {
    let (time, date) = (i64::from(time), i64::from(date));
    let month = (date >> 5 & 15).clamp(1, 12);
    let day = (date & 31).max(1);
    let days = days(1980 + (date >> 9), month, day);
    let (hours, minutes, seconds) = (time >> 11, time >> 5 & 63, (time & 31) * 2);
    days * DAY + hours.min(23) * 3600 + minutes.min(59) * 60 + seconds.min(59)
}

/// Days since 1970 to year, month and day. Years start in March here, so that the leap day is the
/// last day of a year.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let month = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        assert_eq!(to_dos(DOS_MIN), (0, 33));
        assert_eq!(to_dos(0), (0, 33), "before 1980");
        assert_eq!(to_dos(i64::MAX), to_dos(DOS_MAX));
        // 2000-02-29 12:34:56
        assert_eq!(
            to_dos(951_827_696),
            (12 << 11 | 34 << 5 | 28, 20 << 9 | 2 << 5 | 29)
        );
    }

    #[test]
    fn every_day_goes_there_and_back() {
        for day in 3652..50_403 {
            let seconds = day * DAY + 43_210;
            let (time, date) = to_dos(seconds);
            assert_eq!(from_dos(time, date), seconds);
        }
    }

    #[test]
    fn fields_out_of_range_are_no_panic() {
        for value in [0, 1, 0x7fff, 0x8000, u16::MAX] {
            let _ = from_dos(value, value);
        }
        assert_eq!(from_dos(0, 0), DOS_MIN);
    }
}
