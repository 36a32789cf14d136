//! The time that a log writes before a message: when it was sent or came.

use fixcore::value::{date, time_of_day};

const DAY_NS: i64 = 86_400_000_000_000;
const HOUR_NS: i64 = 3_600_000_000_000;
const MINUTE_NS: i64 = 60_000_000_000;
/// Zones differ by quarters of an hour.
const ZONE_NS: i64 = 900_000_000_000;
/// Bytes of a time without its fraction, and of the longest fraction.
const CLOCK_BYTES: usize = "14:15:16".len();
const FRACTION_BYTES_MAX: usize = 9;
/// Digits of a date and time without anything between them.
const COMPACT_BYTES: usize = "20260305141516".len();

/// A time that a log has before a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Logged {
    /// In nanoseconds since 1970.
    pub(crate) ns: i64,
    /// Whether the log states the zone, and this is UTC. If not, the zone is whatever the log has.
    pub(crate) is_utc: bool,
}

/// The first time in the text before a message, in nanoseconds since 1970, or of the day that is nearest to
/// `sent_ns` if the log has no date that is read.
pub(crate) fn arrival(prefix: &[u8], sent_ns: i64) -> Option<Logged> {
    clock_time(prefix, sent_ns).or_else(|| digits_time(prefix, sent_ns))
}

/// The first time with colons.
fn clock_time(prefix: &[u8], sent_ns: i64) -> Option<Logged> {
    let mut at = 0;
    while let Some(colon) = memchr::memchr(b':', prefix.get(at..)?) {
        let colon = at + colon;
        at = colon + 1;
        let Some(start) = colon.checked_sub(2) else {
            continue;
        };
        let Some((clock_ns, behind)) = clock(prefix, start) else {
            continue;
        };
        let rest = prefix.get(behind..)?;
        let ahead_ns = ahead(rest);
        let sent_there_ns = sent_ns.checked_add(ahead_ns.unwrap_or(0))?;
        let ns = match day(prefix.get(..start)?) {
            Some(day_ns) => day_ns.checked_add(clock_ns)?,
            None => nearest(clock_ns, sent_there_ns)?,
        };
        return Some(Logged {
            ns: ns.checked_sub(ahead_ns.unwrap_or(0))?,
            is_utc: ahead_ns.is_some(),
        });
    }
    None
}

/// The time of the day on the day that is nearest to another time.
fn nearest(clock_ns: i64, sent_ns: i64) -> Option<i64> {
    let behind = (clock_ns - sent_ns.rem_euclid(DAY_NS)).rem_euclid(DAY_NS);
    let nearest = if behind > DAY_NS / 2 {
        behind - DAY_NS
    } else {
        behind
    };
    sent_ns.checked_add(nearest)
}

/// The first time that is digits only: since 1970, or date and time without anything between. It is believed if it
/// is within two days of `sent_ns`: other numbers are as long.
fn digits_time(prefix: &[u8], sent_ns: i64) -> Option<Logged> {
    let mut rest = prefix;
    while let Some(start) = rest.iter().position(u8::is_ascii_digit) {
        rest = rest.get(start..)?;
        let count = digits(rest);
        let (token, behind) = rest.split_at(count);
        rest = behind;
        let fraction_ns = match behind {
            [b'.' | b',', more @ ..] => fraction(more),
            _ => 0,
        };
        let found = if let (COMPACT_BYTES | 17 | 20 | 23, Some((day, more))) =
            (count, token.split_at_checked(8))
        {
            let (clock, more) = more.split_at_checked(6)?;
            let clock = [clock.get(..2)?, clock.get(2..4)?, clock.get(4..)?].join(&b':');
            let clock_ns = time_of_day(&clock);
            let days = date(day).and_then(|days| days.checked_mul(DAY_NS));
            let ns = days.zip(clock_ns).map(|(day, clock)| day + clock);
            ns.map(|ns| (ns + fraction(more) + fraction_ns, false))
        } else {
            let unit_ns = match count {
                10 => 1_000_000_000,
                13 => 1_000_000,
                16 => 1_000,
                19 => 1,
                _ => continue,
            };
            let number = fixcore::value::unsigned(token);
            let number = number.and_then(|number| i64::try_from(number).ok());
            let ns = number.and_then(|number| number.checked_mul(unit_ns));
            let fraction_ns = if unit_ns == 1_000_000_000 {
                fraction_ns
            } else {
                0
            };
            ns.and_then(|ns| ns.checked_add(fraction_ns))
                .map(|ns| (ns, true))
        };
        if let Some((ns, is_utc)) = found
            && ns.abs_diff(sent_ns) <= 2 * DAY_NS.unsigned_abs()
        {
            return Some(Logged { ns, is_utc });
        }
    }
    None
}

/// How many digits a text begins with.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The nanoseconds of the digits behind a point.
fn fraction(text: &[u8]) -> i64 {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let all = digits.chain(std::iter::repeat(&b'0'));
    all.take(FRACTION_BYTES_MAX)
        .fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'))
}

/// `HH:MM:SS`, a fraction behind a point or a comma, and AM or PM; and the byte behind them.
fn clock(text: &[u8], start: usize) -> Option<(i64, usize)> {
    let whole = text.get(start..start + CLOCK_BYTES)?;
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    if before.is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let mut behind = start + CLOCK_BYTES;
    let mut ns = time_of_day(whole)?;
    if let Some([b'.' | b',', more @ ..]) = text.get(behind..)
        && digits(more) > 0
    {
        ns += fraction(more);
        behind += 1 + digits(more);
    }
    let rest = text.get(behind..)?;
    let half = rest.strip_prefix(b" ").unwrap_or(rest);
    let is_word = half.get(2).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    if let Some(half_name) = half.get(..2)
        && is_word
        && (half_name.eq_ignore_ascii_case(b"AM") || half_name.eq_ignore_ascii_case(b"PM"))
        && (1..=12).contains(&(ns / HOUR_NS))
    {
        let is_later = half_name.eq_ignore_ascii_case(b"PM");
        ns = ns % (12 * HOUR_NS) + if is_later { 12 * HOUR_NS } else { 0 };
        behind += rest.len() - half.len() + 2;
    }
    Some((ns, behind))
}

/// How far the zone that stands behind a time is ahead of UTC: `Z`, ` UTC`, ` GMT`, `+01:00`, ` -0500` or `+01`.
fn ahead(text: &[u8]) -> Option<i64> {
    let is_end = |text: &[u8]| {
        text.first()
            .is_none_or(|byte| !byte.is_ascii_alphanumeric())
    };
    let text = text.strip_prefix(b" ").unwrap_or(text);
    for name in [&b"Z"[..], b"UTC", b"GMT"] {
        if let Some(rest) = text.strip_prefix(name)
            && is_end(rest)
        {
            return Some(0);
        }
    }
    let (sign, rest) = match text {
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let two = |digits: &[u8]| fixcore::value::unsigned(digits).and_then(|n| i64::try_from(n).ok());
    let (hours, minutes, rest) = match rest {
        [h1, h2, b':', m1, m2, rest @ ..] => (two(&[*h1, *h2])?, two(&[*m1, *m2])?, rest),
        [h1, h2, m1, m2, rest @ ..] if digits(&[*m1, *m2]) == 2 => {
            (two(&[*h1, *h2])?, two(&[*m1, *m2])?, rest)
        }
        [h1, h2, rest @ ..] => (two(&[*h1, *h2])?, 0, rest),
        _ => return None,
    };
    (is_end(rest) && hours <= 14 && minutes < 60)
        .then_some(sign * (hours * HOUR_NS + minutes * MINUTE_NS))
}

/// The date that a text ends with, up to one byte: `20260305-`, `2026-03-05 ` or `2026/03/05T`.
fn day(text: &[u8]) -> Option<i64> {
    let text = text.strip_suffix(b" ").or_else(|| {
        let (last, text) = text.split_last()?;
        matches!(last, b'-' | b'T' | b'_').then_some(text)
    })?;
    let days = match text {
        [y @ .., b'-' | b'/', _, _, b'-' | b'/', _, _] if y.len() >= 4 => {
            let (year, rest) = text.get(text.len() - 10..)?.split_at(4);
            date(&[year, rest.get(1..3)?, rest.get(4..6)?].concat())?
        }
        _ => date(text.get(text.len().checked_sub(8)?..)?)?,
    };
    days.checked_mul(DAY_NS)
}

/// The zone that explains a difference: the nearest quarter of an hour.
pub(crate) fn zone_ns(difference_ns: i64) -> i64 {
    let half = ZONE_NS / 2;
    difference_ns.saturating_add(half).div_euclid(ZONE_NS) * ZONE_NS
}

#[cfg(test)]
mod tests {
    use fixcore::Timestamp;

    use super::*;

    #[test]
    fn times_of_logs_are_read() {
        let sent = Timestamp::parse(b"20260305-23:59:59.900")
            .expect("a time")
            .0;
        let at = |text: &str| Timestamp::parse(text.as_bytes()).expect("a time").0;
        for (prefix, wanted) in [
            ("20260305-14:15:16.789 : ", "20260305-14:15:16.789"),
            ("2026-03-05 14:15:16.789 <- ", "20260305-14:15:16.789"),
            ("[2026-03-05T14:15:16,789Z] in ", "20260305-14:15:16.789"),
            ("2026/03/05 14:15:16 ", "20260305-14:15:16"),
            ("x 2026-03-05 14:15:16.7 ", "20260305-14:15:16.700"),
            ("2026-03-05 14:15:16.7891 ", "20260305-14:15:16.789100"),
            ("23:59:59.950 ", "20260305-23:59:59.950"),
            ("00:00:00.100 ", "20260306-00:00:00.100"),
            ("a:b 2026-03-05 14:15:16 ", "20260305-14:15:16"),
        ] {
            let found = arrival(prefix.as_bytes(), sent);
            assert_eq!(found.map(|found| found.ns), Some(at(wanted)), "{prefix}");
        }
        for (prefix, wanted, is_utc) in [
            ("2026-03-05T23:00:00.000Z ", "20260305-23:00:00", true),
            (
                "2026-03-06T00:00:00.250+01:00 ",
                "20260305-23:00:00.250",
                true,
            ),
            (
                "2026-03-05 18:00:00,5 -0500 x ",
                "20260305-23:00:00.500",
                true,
            ),
            ("2026-03-05 23:00:00 UTC ", "20260305-23:00:00", true),
            ("2026-03-05 18:00:00 EST ", "20260305-18:00:00", false),
            ("2026-03-05 23:00:00 -> ", "20260305-23:00:00", false),
            ("2026-03-05 23:00:00 - 05 ", "20260305-23:00:00", false),
            ("[00:30:00+01:00] ", "20260305-23:30:00", true),
            ("03/05/2026 11:00:00.000 PM ", "20260305-23:00:00", false),
            ("03/06/2026 12:00:01 am ", "20260306-00:00:01", false),
            ("03/05/2026 12:30:00PM ", "20260305-12:30:00", false),
            ("1772748000000 ", "20260305-22:00:00", true),
            ("7 1772748000.250 ", "20260305-22:00:00.250", true),
            ("1772748000000250 ", "20260305-22:00:00.000250", true),
            ("20260305220000250 ", "20260305-22:00:00.250", false),
            ("20260305220000,5 ", "20260305-22:00:00.500", false),
        ] {
            let found = arrival(prefix.as_bytes(), sent);
            let wanted = Logged {
                ns: at(wanted),
                is_utc,
            };
            assert_eq!(found, Some(wanted), "{prefix}");
        }
        for prefix in [
            "",
            "in ",
            "14:15 ",
            "::::::",
            "99:99:99 ",
            "114:15:16",
            "1572748000000 ",
            "20261305220000250 ",
        ] {
            assert_eq!(arrival(prefix.as_bytes(), sent), None, "{prefix}");
        }
        assert_eq!(zone_ns(3_600_000_000_000 + 5), 3_600_000_000_000);
        assert_eq!(zone_ns(-3_599_000_000_000), -3_600_000_000_000);
        assert_eq!(zone_ns(-5), 0);
    }
}
