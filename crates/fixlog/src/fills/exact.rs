//! Decimal numbers without rounding: sums and products of quantities and prices.

use std::cmp::Ordering;
use std::fmt;

use fixcore::value::Decimal;

/// Greater numbers are not kept: ten times as much still fits.
const LIMIT: i128 = 10_i128.pow(Exact::DIGITS_MAX);

/// A decimal number of up to 37 digits: a sum of quantities, or of quantities times prices.
///
/// ```
/// use fixcore::value::Decimal;
/// use fixlog::fills::Exact;
///
/// let number = |text: &[u8]| Decimal::parse(text).map(Exact::from);
/// let (Some(quantity), Some(price)) = (number(b"300"), number(b"10.25")) else {
///     unreachable!("both are numbers");
/// };
/// let notional = quantity.times(price).and_then(|one| one.plus(price));
/// assert_eq!(notional.map(|sum| sum.to_string()).as_deref(), Some("3085.25"));
/// ```
#[derive(Debug, Default, Clone, Copy)]
pub struct Exact {
    digits: i128,
    /// How many of them follow the point.
    scale: u32,
}

impl From<Decimal> for Exact {
    /// Without the zeros that a number ends with behind its point.
    fn from(decimal: Decimal) -> Self {
        Self {
            digits: i128::from(decimal.mantissa),
            scale: u32::from(decimal.scale),
        }
        .trimmed(0)
    }
}

impl Exact {
    /// The most digits of a number.
    pub const DIGITS_MAX: u32 = 37;

    /// Leaves out zeros at the end, but keeps `least` digits behind the point.
    fn trimmed(mut self, least: u32) -> Self {
        while self.scale > least && self.digits % 10 == 0 {
            self.digits /= 10;
            self.scale -= 1;
        }
        self
    }

    /// The number, if it is not too great.
    fn kept(self) -> Option<Self> {
        (self.digits.unsigned_abs() <= LIMIT.unsigned_abs()).then_some(self)
    }

    /// The digits with `scale` of them behind the point, at least as many as it has.
    fn scaled_to(self, scale: u32) -> Option<i128> {
        let power = 10_i128.checked_pow(scale.checked_sub(self.scale)?)?;
        self.digits.checked_mul(power)
    }

    /// The sum. `None` if it has more than [`DIGITS_MAX`](Self::DIGITS_MAX) digits, as far as the finer of the two numbers goes.
    #[must_use]
    pub fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let digits = self
            .scaled_to(scale)?
            .checked_add(other.scaled_to(scale)?)?;
        Self { digits, scale }.kept()
    }

    /// The product. `None` if it has more than [`DIGITS_MAX`](Self::DIGITS_MAX) digits.
    #[must_use]
    pub fn times(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?;
        let scale = self.scale + other.scale;
        Self { digits, scale }.trimmed(0).kept()
    }

    /// The quotient with `scale` digits behind the point, the last one rounded, half away from zero; with fewer where it
    /// would have too many in all. `None` if the divisor is not above zero, or much finer than the quotient is to be.
    #[must_use]
    pub fn over(self, divisor: Self, scale: u32) -> Option<Self> {
        if divisor.digits <= 0 {
            return None;
        }
        let wanted = (scale + divisor.scale).checked_sub(self.scale)?;
        let of = self.digits.checked_abs()?;
        let (mut whole, mut rest) = (of / divisor.digits, of % divisor.digits);
        let mut left = wanted;
        while left > 0 && whole < LIMIT / 10 {
            // The rest is less than the divisor, of which ten times as much fits.
            rest *= 10;
            whole = whole * 10 + rest / divisor.digits;
            rest %= divisor.digits;
            left -= 1;
        }
        whole += i128::from(rest >= divisor.digits - rest);
        Self {
            digits: whole * self.digits.signum(),
            scale: scale.checked_sub(left)?,
        }
        .kept()
    }

    /// The number as text, with at least `least` digits behind the point if it has them, and without zeros behind these.
    #[must_use]
    pub fn text(self, least: u32) -> String {
        self.trimmed(least).to_string()
    }
}

impl PartialEq for Exact {
    /// `1.0` is `1`.
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (self.trimmed(0), other.trimmed(0));
        (one.digits, one.scale) == (other.digits, other.scale)
    }
}

impl Eq for Exact {}

impl fmt::Display for Exact {
    /// All digits, with those behind the point that it has.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let digits = format!(
            "{:0width$}",
            self.digits.unsigned_abs(),
            width = self.scale as usize + 1
        );
        let (whole, behind) = digits.split_at(digits.len() - self.scale as usize);
        match behind {
            "" => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{behind}"),
        }
    }
}

/// How two numbers compare.
pub(super) fn compare(one: Decimal, other: Decimal) -> Ordering {
    // At most 19 digits and 18 more.
    let scaled = |number: Decimal, by: u8| i128::from(number.mantissa) * 10_i128.pow(u32::from(by));
    scaled(one, other.scale.min(Decimal::SCALE_MAX))
        .cmp(&scaled(other, one.scale.min(Decimal::SCALE_MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Exact {
        Decimal::parse(text.as_bytes()).expect(text).into()
    }

    #[test]
    fn sums_and_products_are_exact_or_none() {
        let sum = |one: &str, other: &str| exact(one).plus(exact(other)).map(|sum| sum.to_string());
        assert_eq!(sum("0.1", "0.2").as_deref(), Some("0.3"));
        assert_eq!(sum("-1.50", "1.5").as_deref(), Some("0.0"));
        assert_eq!(
            sum("9223372036854775807", "0.000000000000000001").as_deref(),
            Some("9223372036854775807.000000000000000001")
        );
        let greatest = exact("9223372036854775807");
        let square = greatest.times(greatest);
        assert_eq!(square, None, "38 digits");
        let product = greatest.times(exact("1000000000000000000"));
        assert_eq!(
            product.map(|one| one.to_string()).as_deref(),
            Some("9223372036854775807000000000000000000")
        );
        assert_eq!(product.and_then(|one| one.plus(product?)), None);
        assert_eq!(product.and_then(|one| one.plus(exact("0.1"))), None);
        assert_eq!(exact("2.50").times(exact("4")), Some(exact("10")));
    }

    #[test]
    fn quotients_are_rounded_half_away_from_zero() {
        let over = |one: &str, other: &str, scale| {
            exact(one)
                .over(exact(other), scale)
                .map(|found| found.to_string())
        };
        for (one, other, scale, wanted) in [
            ("10", "4", 2, Some("2.50")),
            ("10", "3", 4, Some("3.3333")),
            ("20", "3", 4, Some("6.6667")),
            ("-20", "3", 4, Some("-6.6667")),
            ("1", "8", 2, Some("0.13")),
            ("-1", "8", 2, Some("-0.13")),
            ("0", "8", 2, Some("0.00")),
            ("1", "0.5", 0, Some("2")),
            ("1", "0", 2, None),
            ("1", "-1", 2, None),
            ("0.001", "1", 2, None),
            // As many digits as there may be.
            (
                "9223372036854775807",
                "3",
                24,
                Some("3074457345618258602.333333333333333333"),
            ),
        ] {
            assert_eq!(
                over(one, other, scale).as_deref(),
                wanted,
                "{one} / {other}"
            );
        }
        assert_eq!(
            exact("1")
                .over(exact("4"), 8)
                .map(|one| one.text(1))
                .as_deref(),
            Some("0.25")
        );
        assert_eq!(
            exact("1")
                .over(exact("4"), 8)
                .map(|one| one.text(4))
                .as_deref(),
            Some("0.2500")
        );
    }

    #[test]
    fn numbers_of_any_scale_compare() {
        let numbers = [
            "-9223372036854775808",
            "-1.5",
            "-1.25",
            "-0.000000000000000001",
            "0.00",
            "0.000000000000000001",
            "1.49",
            "1.5",
            "9223372036854775807",
        ];
        let numbers = numbers.map(|text| Decimal::parse(text.as_bytes()).expect(text));
        for (at, one) in numbers.iter().enumerate() {
            for (other_at, other) in numbers.iter().enumerate() {
                assert_eq!(compare(*one, *other), at.cmp(&other_at), "{one} {other}");
            }
        }
        assert_eq!(
            compare(
                Decimal {
                    mantissa: 150,
                    scale: 2
                },
                Decimal {
                    mantissa: 15,
                    scale: 1
                }
            ),
            Ordering::Equal
        );
    }
}
