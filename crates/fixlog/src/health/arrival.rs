//! The time that a log writes before a message: when it was sent or came.

use fixcore::value::{date, time_of_day};

const DAY_NS: i64 = 86_400_000_000_000;
/// Zones differ by quarters of an hour.
const ZONE_NS: i64 = 900_000_000_000;
/// Bytes of a time without its fraction, and of the longest fraction.
const CLOCK_BYTES: usize = "14:15:16".len();
const FRACTION_BYTES_MAX: usize = 9;

/// The first time in the text before a message, in nanoseconds since 1970, or of the day that is nearest to
/// `sent_ns` if the log has no date. The zone is whatever the log has.
pub(super) fn arrival_ns(prefix: &[u8], sent_ns: i64) -> Option<i64> {
    let mut at = 0;
    while let Some(colon) = memchr::memchr(b':', prefix.get(at..)?) {
        let colon = at + colon;
        at = colon + 1;
        let Some(start) = colon.checked_sub(2) else {
            continue;
        };
        let Some(clock_ns) = clock(prefix, start) else {
            continue;
        };
        let day_ns = day(prefix.get(..start)?);
        return Some(match day_ns {
            Some(day_ns) => day_ns.checked_add(clock_ns)?,
            None => {
                let behind = (clock_ns - sent_ns.rem_euclid(DAY_NS)).rem_euclid(DAY_NS);
                let nearest = if behind > DAY_NS / 2 {
                    behind - DAY_NS
                } else {
                    behind
                };
                sent_ns.checked_add(nearest)?
            }
        });
    }
    None
}

/// `HH:MM:SS`, and a fraction behind a point or a comma.
fn clock(text: &[u8], start: usize) -> Option<i64> {
    let whole = text.get(start..start + CLOCK_BYTES)?;
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    if before.is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let rest = text.get(start + CLOCK_BYTES..)?;
    let mut value = whole.to_vec();
    if let [b'.' | b',', digits @ ..] = rest {
        let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
        let digits: Vec<u8> = digits.take(FRACTION_BYTES_MAX).copied().collect();
        // FIX has whole milliseconds, microseconds or nanoseconds.
        if !digits.is_empty() {
            value.push(b'.');
            value.extend_from_slice(&digits);
            value.resize(CLOCK_BYTES + 1 + digits.len().div_ceil(3) * 3, b'0');
        }
    }
    time_of_day(&value)
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
pub(super) fn zone_ns(difference_ns: i64) -> i64 {
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
            let found = arrival_ns(prefix.as_bytes(), sent);
            assert_eq!(found, Some(at(wanted)), "{prefix}");
        }
        for prefix in ["", "in ", "14:15 ", "::::::", "99:99:99 ", "114:15:16"] {
            assert_eq!(arrival_ns(prefix.as_bytes(), sent), None, "{prefix}");
        }
        assert_eq!(zone_ns(3_600_000_000_000 + 5), 3_600_000_000_000);
        assert_eq!(zone_ns(-3_599_000_000_000), -3_600_000_000_000);
        assert_eq!(zone_ns(-5), 0);
    }
}
