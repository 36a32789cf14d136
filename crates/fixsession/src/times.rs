//! SendingTime as text, and times of two sides compared.

use fixcore::Timestamp;

/// The length of `YYYYMMDD-HH:MM:SS`.
const SECONDS_BYTES: usize = 17;

/// Appends a time with this many digits of the fraction of a second, at most nine.
pub(crate) fn write(time: Timestamp, digits: u8, out: &mut Vec<u8>) {
    let text = time.to_millis();
    out.extend_from_slice(text.get(..SECONDS_BYTES).unwrap_or(&text));
    let digits = usize::from(digits.min(9));
    if digits == 0 {
        return;
    }
    out.push(b'.');
    let mut rest = time.0.rem_euclid(1_000_000_000);
    let mut fraction = [b'0'; 9];
    for slot in fraction.iter_mut().rev() {
        *slot = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(fraction.get(..digits).unwrap_or(&fraction));
}

/// The digits of the fraction of a second.
fn digits(text: &[u8]) -> u32 {
    let digits = text.len().saturating_sub(SECONDS_BYTES + 1);
    u32::try_from(digits.min(9)).unwrap_or(9)
}

/// A time in units of the last of these digits.
fn truncated(time: Timestamp, digits: u32) -> i64 {
    time.0.div_euclid(10_i64.pow(9 - digits.min(9)))
}

/// Whether one time is later than another, compared at the coarser precision of the two. `None` if one
/// of them is not a time.
pub(crate) fn is_later(left: &[u8], right: &[u8]) -> Option<bool> {
    let precision = digits(left).min(digits(right));
    let (left, right) = (Timestamp::parse(left)?, Timestamp::parse(right)?);
    Some(truncated(left, precision) > truncated(right, precision))
}

/// How many nanoseconds a time is from now, at the precision of that time. `None` if it is not a time.
pub(crate) fn distance_ns(text: &[u8], now: Timestamp) -> Option<u64> {
    let precision = digits(text);
    let time = Timestamp::parse(text)?;
    let apart = truncated(time, precision).abs_diff(truncated(now, precision));
    Some(apart.saturating_mul(10_u64.pow(9 - precision)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_precision_is_a_prefix_of_the_finest() {
        let time = Timestamp::parse(b"20260102-03:04:05.123456789").unwrap();
        for digits in 0..=9 {
            let mut text = Vec::new();
            write(time, digits, &mut text);
            let length = 17 + usize::from(digits) + usize::from(digits > 0);
            assert_eq!(text, &b"20260102-03:04:05.123456789"[..length]);
        }
    }

    #[test]
    fn times_are_compared_at_the_coarser_precision() {
        let later = |a: &str, b: &str| is_later(a.as_bytes(), b.as_bytes());
        assert_eq!(
            later("20260102-03:04:05.999", "20260102-03:04:05"),
            Some(false)
        );
        assert_eq!(
            later("20260102-03:04:06", "20260102-03:04:05.999"),
            Some(true)
        );
        assert_eq!(
            later("20260102-03:04:05.123456", "20260102-03:04:05.123"),
            Some(false)
        );
        assert_eq!(
            later("20260102-03:04:05.124", "20260102-03:04:05.123"),
            Some(true)
        );
        assert_eq!(later("yesterday", "20260102-03:04:05"), None);
        let now = Timestamp::parse(b"20260102-03:04:05.9").unwrap();
        assert_eq!(
            distance_ns(b"20260102-03:02:05", now),
            Some(120_000_000_000)
        );
        assert_eq!(
            distance_ns(b"20260102-03:04:06.000", now),
            Some(100_000_000)
        );
    }
}
