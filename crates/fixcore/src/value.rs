//! Values of fields: numbers without floating point, timestamps to the nanosecond.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use crate::error::{Error, ErrorKind};

/// An unsigned integer: digits only.
#[must_use]
pub fn unsigned(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0_u64, |sum, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// An integer with an optional minus sign.
#[must_use]
pub fn signed(value: &[u8]) -> Option<i64> {
    match value.strip_prefix(b"-") {
        Some(digits) => 0_i64.checked_sub_unsigned(unsigned(digits)?),
        None => i64::try_from(unsigned(value)?).ok(),
    }
}

/// `Y` or `N`.
#[must_use]
pub fn boolean(value: &[u8]) -> Option<bool> {
    match value {
        b"Y" => Some(true),
        b"N" => Some(false),
        _ => None,
    }
}

/// A single byte.
#[must_use]
pub fn character(value: &[u8]) -> Option<u8> {
    match value {
        [byte] => Some(*byte),
        _ => None,
    }
}

/// A decimal number: `mantissa` times ten to the power of minus `scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// All digits, with the sign.
    pub mantissa: i64,
    /// How many digits follow the point: at most 18.
    pub scale: u8,
}

impl Decimal {
    /// The most digits after the point.
    pub const SCALE_MAX: u8 = 18;

    /// Parses an optional minus sign, digits, an optional point and digits: at least one digit in all.
    #[must_use]
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (negative, digits) = match value.strip_prefix(b"-") {
            Some(digits) => (true, digits),
            None => (false, value),
        };
        let (mut sum, mut count, mut point) = (0_u64, 0_usize, None);
        for byte in digits {
            match byte {
                b'0'..=b'9' => {
                    sum = sum.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
                    count += 1;
                }
                b'.' if point.is_none() => point = Some(count),
                _ => return None,
            }
        }
        if count == 0 {
            return None;
        }
        let scale = u8::try_from(count - point.unwrap_or(count)).ok()?;
        let mantissa = match negative {
            true => 0_i64.checked_sub_unsigned(sum)?,
            false => i64::try_from(sum).ok()?,
        };
        (scale <= Self::SCALE_MAX).then_some(Self { mantissa, scale })
    }

    /// The number in units of ten to the power of minus `scale`. `None` if it does not fit or has more
    /// digits after the point.
    #[must_use]
    pub fn scaled_to(self, scale: u8) -> Option<i64> {
        match scale.checked_sub(self.scale) {
            Some(more) => self
                .mantissa
                .checked_mul(10_i64.checked_pow(u32::from(more))?),
            None => {
                let unit = 10_i64.checked_pow(u32::from(self.scale - scale))?;
                (self.mantissa % unit == 0).then_some(self.mantissa / unit)
            }
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.mantissa < 0 { "-" } else { "" };
        let unit = 10_u64.pow(u32::from(self.scale.min(Self::SCALE_MAX)));
        let magnitude = self.mantissa.unsigned_abs();
        write!(f, "{sign}{}", magnitude / unit)?;
        if self.scale > 0 {
            let width = usize::from(self.scale.min(Self::SCALE_MAX));
            write!(f, ".{:0width$}", magnitude % unit)?;
        }
        Ok(())
    }
}

impl FromStr for Decimal {
    type Err = Error;

    /// Reads what `Display` writes.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text.as_bytes()).ok_or(Error::new(ErrorKind::Value, 0))
    }
}

/// A UTC timestamp: nanoseconds since 1970-01-01, without leap seconds.
#[doc(alias = "UTCTimestamp")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

const NS_PER_SECOND: i64 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// Two digits.
fn pair(tens: u8, ones: u8) -> Option<i64> {
    let digit = |byte: u8| byte.checked_sub(b'0').filter(|digit| *digit < 10);
    Some(i64::from(digit(tens)?) * 10 + i64::from(digit(ones)?))
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
///
/// Years are counted from March, so the leap day is the last day of a year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let month = (month + 9) % 12;
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + (month * 153 + 2) / 5 + day - 1 - 719_468
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Powers of ten.
const SCALES: [i64; 9] = {
    let mut scales = [1; 9];
    let mut at = 1;
    while at < scales.len() {
        scales[at] = scales[at - 1] * 10;
        at += 1;
    }
    scales
};

/// Nanoseconds since midnight: `HH:MM:SS`, optionally with a point and up to twelve digits, of which those
/// behind the ninth are dropped. Second 60 is the first of the next minute.
#[must_use]
pub fn time_of_day(value: &[u8]) -> Option<i64> {
    let (clock, fraction) = value.split_first_chunk::<8>()?;
    let [h, g, b':', m, n, b':', s, t] = *clock else {
        return None;
    };
    let (hour, minute, second) = (pair(h, g)?, pair(m, n)?, pair(s, t)?);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some((hour * 3600 + minute * 60 + second) * NS_PER_SECOND + fraction_ns(fraction)?)
}

/// Nanoseconds of what a time has behind its seconds: nothing, or a point and up to twelve digits, of which those
/// behind the ninth are dropped. `None`: it is something else.
#[must_use]
pub fn fraction_ns(fraction: &[u8]) -> Option<i64> {
    match fraction {
        [] => Some(0),
        [b'.', digits @ ..] if (1..=12).contains(&digits.len()) => {
            let (digits, picoseconds) = digits.split_at(digits.len().min(9));
            if !picoseconds.iter().all(u8::is_ascii_digit) {
                return None;
            }
            let digits_ns = i64::try_from(unsigned(digits)?).ok()?;
            Some(digits_ns * SCALES.get(9 - digits.len())?)
        }
        _ => None,
    }
}

/// Days since 1970-01-01: `YYYYMMDD`.
#[must_use]
pub fn date(value: &[u8]) -> Option<i64> {
    let [a, b, c, d, m, n, x, y] = *value else {
        return None;
    };
    let year = pair(a, b)? * 100 + pair(c, d)?;
    let (month, day) = (pair(m, n)?, pair(x, y)?);
    let valid = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    valid.then(|| days(year, month, day))
}

impl Timestamp {
    /// Parses `YYYYMMDD-HH:MM:SS`, optionally with a point and up to twelve digits, of which those behind the
    /// ninth are dropped.
    #[must_use]
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (day, rest) = value.split_first_chunk::<8>()?;
        let clock = rest.strip_prefix(b"-")?;
        let seconds = date(day)?.checked_mul(SECONDS_PER_DAY)?;
        let ns = seconds.checked_mul(NS_PER_SECOND)?;
        ns.checked_add(time_of_day(clock)?).map(Self)
    }

    /// Formats as `YYYYMMDD-HH:MM:SS.mmm`, for years up to 9999; the rest of a millisecond is dropped.
    #[must_use]
    pub fn to_millis(self) -> [u8; 21] {
        let ms = self.0.div_euclid(1_000_000);
        let (day, ms) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
        let (year, month, day) = calendar(day);
        let mut text = *b"00000000-00:00:00.000";
        let mut put = |at: usize, width: usize, mut number: i64| {
            for slot in text[at..at + width].iter_mut().rev() {
                *slot = b'0' + (number % 10) as u8;
                number /= 10;
            }
        };
        put(0, 4, year);
        put(4, 2, month);
        put(6, 2, day);
        put(9, 2, ms / 3_600_000);
        put(12, 2, ms / 60_000 % 60);
        put(15, 2, ms / 1000 % 60);
        put(18, 3, ms % 1000);
        text
    }
}

impl fmt::Display for Timestamp {
    /// `YYYYMMDD-HH:MM:SS.mmm`, with six more digits if it is not a whole millisecond.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.to_millis() {
            f.write_char(char::from(byte))?;
        }
        match self.0.rem_euclid(1_000_000) {
            0 => Ok(()),
            rest => write!(f, "{rest:06}"),
        }
    }
}

impl FromStr for Timestamp {
    type Err = Error;

    /// Reads what `Display` writes.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text.as_bytes()).ok_or(Error::new(ErrorKind::Value, 0))
    }
}

/// Year, month and day of the days since 1970-01-01: the inverse of [`days`].
fn calendar(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let civil = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(civil <= 2), civil, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_print_as_they_came() {
        for text in [
            "0",
            "-0.5",
            "150.25",
            "4800.00",
            "0.000000000000000001",
            "-9223372036854775808",
        ] {
            let decimal = Decimal::parse(text.as_bytes()).unwrap();
            assert_eq!(decimal.to_string(), text);
        }
        assert_eq!(Decimal::parse(b"23."), Decimal::parse(b"23"));
        assert_eq!(Decimal::parse(b".5").unwrap().scaled_to(2), Some(50));
        assert_eq!(Decimal::parse(b"1.25").unwrap().scaled_to(1), None);
        for bad in [
            "",
            "-",
            ".",
            "1.2.3",
            "+1",
            "1e5",
            " 1",
            "9223372036854775808",
        ] {
            assert_eq!(Decimal::parse(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn moments_go_there_and_back_on_every_day() {
        for day in -1000..200_000 {
            let (year, month, date) = calendar(day);
            assert_eq!(days(year, month, date), day);
        }
        let moment = Timestamp::parse(b"20260121-10:30:00.123456789").unwrap();
        assert_eq!(moment.0, 1_768_991_400_123_456_789);
        assert_eq!(&moment.to_millis(), b"20260121-10:30:00.123");
        assert!(Timestamp::parse(b"20240229-00:00:60").is_some());
        for text in ["20260121-10:30:00.123", "20260121-10:30:00.123456789"] {
            assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), text);
        }
        for bad in [
            "20230229-00:00:00",
            "20240101-24:00:00",
            "20240101 00:00:00",
            "20240101-00:00:00.",
        ] {
            assert_eq!(Timestamp::parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
