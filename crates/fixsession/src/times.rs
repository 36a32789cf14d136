//! SendingTime as text, and times of two sides compared.

use fixcore::Timestamp;

/// The length of `YYYYMMDD-HH:MM:SS`.
const SECONDS_BYTES: usize = 17;
const NS_PER_SECOND: i64 = 1_000_000_000;

/// Appends a time with this many digits of the fraction of a second, at most nine.
pub(crate) fn write(time: Timestamp, digits: u8, out: &mut Vec<u8>) {
    let text = time.to_millis();
    out.extend_from_slice(text.get(..SECONDS_BYTES).unwrap_or(&text));
    write_fraction(time, digits, out);
}

fn write_fraction(time: Timestamp, digits: u8, out: &mut Vec<u8>) {
    let digits = usize::from(digits.min(9));
    if digits == 0 {
        return;
    }
    out.push(b'.');
    let ns = time.0.rem_euclid(NS_PER_SECOND);
    let mut rest = ns / 10_i64.pow(9 - digits as u32);
    let mut fraction = [b'0'; 9];
    let fraction = fraction.get_mut(..digits).unwrap_or_default();
    for slot in fraction.iter_mut().rev() {
        *slot = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(fraction);
}

/// Times as text, where most are within the second of the one before.
#[derive(Debug, Default)]
pub(crate) struct Stamp {
    /// The text of a second, with its fraction, and which second that is.
    text: Vec<u8>,
    second: Option<i64>,
}

impl Stamp {
    /// Makes the text of a time; see [`write`].
    pub(crate) fn set(&mut self, time: Timestamp, digits: u8) {
        let second = time.0.div_euclid(NS_PER_SECOND);
        if self.second == Some(second) {
            self.text.truncate(SECONDS_BYTES);
            write_fraction(time, digits, &mut self.text);
        } else {
            self.text.clear();
            write(time, digits, &mut self.text);
            self.second = Some(second);
        }
    }

    /// The text.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }
}

/// Times that are read, where most are within the second of the one before.
#[derive(Debug)]
pub(crate) struct Reader {
    text: [u8; SECONDS_BYTES],
    second_ns: i64,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            text: *b"19700101-00:00:00",
            second_ns: 0,
        }
    }
}

impl Reader {
    /// How many nanoseconds a time is from now, at the precision of that time. `None` if it is not a time.
    pub(crate) fn distance_ns(&mut self, text: &[u8], now: Timestamp) -> Option<u64> {
        let precision = digits(text);
        let time = self.parse(text)?;
        let apart = truncated(time, precision).abs_diff(truncated(now, precision));
        Some(apart.saturating_mul(10_u64.pow(9 - precision)))
    }

    fn parse(&mut self, text: &[u8]) -> Option<Timestamp> {
        let (second, fraction) = text.split_first_chunk::<SECONDS_BYTES>()?;
        if *second != self.text {
            let parsed = Timestamp::parse(second)?;
            (self.text, self.second_ns) = (*second, parsed.0);
        }
        let ns = fixcore::value::fraction_ns(fraction)?;
        self.second_ns.checked_add(ns).map(Timestamp)
    }
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
    fn what_is_known_of_the_second_before_changes_nothing() {
        let (mut stamp, mut reader) = (Stamp::default(), Reader::default());
        let start = Timestamp::parse(b"20251231-23:59:58").unwrap();
        let now = Timestamp(start.0 + 7_000_000_000);
        for at in 0..400 {
            let digits = (at % 10) as u8;
            let time = Timestamp(start.0 + i64::from(at) * 13_456_789);
            let mut text = Vec::new();
            write(time, digits, &mut text);
            stamp.set(time, digits);
            assert_eq!(stamp.text(), text, "{at}");
            let parsed = Timestamp::parse(&text);
            assert_eq!(reader.parse(&text), parsed, "{at}");
            let unit = 10_i64.pow(9 - u32::from(digits));
            let apart = (now.0.div_euclid(unit) - time.0.div_euclid(unit)) * unit;
            assert_eq!(reader.distance_ns(&text, now), Some(apart as u64), "{at}");
        }
        // Digits behind the ninth are dropped.
        for text in [
            &b"20251231-23:59:58.1234567891"[..],
            b"20251231-23:59:58.123456789999",
        ] {
            assert_eq!(reader.parse(text), Timestamp::parse(&text[..27]));
            assert_eq!(reader.parse(text), Timestamp::parse(text));
        }
        for wrong in [
            &b""[..],
            b"20251231-23:59:5",
            b"20251231-23:59:58.",
            b"20251231-23:59:58x",
            b"20251231-23:59:58.1234567890123",
            b"20251231-23:59:58.123456789x",
            b"20251231-23:59:58.-1",
            b"20251331-23:59:58",
        ] {
            assert_eq!(reader.parse(wrong), None, "{}", wrong.escape_ascii());
            assert_eq!(Timestamp::parse(wrong), None);
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
        let mut reader = Reader::default();
        let mut distance_ns = |text: &[u8], now| reader.distance_ns(text, now);
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
