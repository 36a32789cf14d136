//! Decimal numbers of any length, as their digits.

use std::cmp::Ordering;

/// A number as it stands in a text: an optional minus sign, digits, an optional point and digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number<'t> {
    is_negative: bool,
    /// Digits without zeros before them.
    whole: &'t [u8],
    /// Digits without zeros behind them.
    fraction: &'t [u8],
}

impl<'t> Number<'t> {
    /// A number; `None` where a text is none.
    pub(super) fn parse(text: &'t [u8]) -> Option<Self> {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        let point = digits.iter().position(|byte| *byte == b'.');
        let (whole, fraction) = digits.split_at(point.unwrap_or(digits.len()));
        let fraction = fraction.get(1..).unwrap_or(&[]);
        let is_number = whole.len() + fraction.len() > 0
            && whole.iter().chain(fraction).all(u8::is_ascii_digit);
        if !is_number {
            return None;
        }
        let is_zero = |byte: &&u8| **byte == b'0';
        let before = whole.iter().take_while(is_zero).count();
        let behind = fraction.iter().rev().take_while(is_zero).count();
        let whole = whole.get(before..)?;
        let fraction = fraction.get(..fraction.len() - behind)?;
        Some(Self {
            // Minus zero is zero.
            is_negative: digits.len() < text.len() && whole.len() + fraction.len() > 0,
            whole,
            fraction,
        })
    }

    /// Which of two numbers is greater.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let size = |number: &Self| (number.whole.len(), number.whole, number.fraction);
        match (self.is_negative, other.is_negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => size(self).cmp(&size(other)),
            (true, true) => size(other).cmp(&size(self)),
        }
    }
}

/// Whether a text looks like a number that is written in another form: `1e3`, `+5`, `0x10`, `1_000`.
pub(super) fn is_other_form(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-', '.']);
    let is_hex = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_part = |byte: u8| byte.is_ascii_digit() || b"_.+-eE".contains(&byte);
    let signs = text.bytes().filter(|byte| b"+-".contains(byte)).count();
    let exponents = text.bytes().filter(|byte| b"eE".contains(byte)).count();
    let begins = digits.starts_with(|c: char| c.is_ascii_digit());
    let is_hex = digits
        .strip_prefix("0x")
        .or(digits.strip_prefix("0X"))
        .is_some_and(is_hex);
    let is_dashed = !text.starts_with(['+', '-']) && signs > exponents;
    begins
        && Number::parse(text.as_bytes()).is_none()
        && (is_hex || (text.bytes().all(is_part) && exponents <= 1 && !is_dashed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_length_are_in_order() {
        let ordered = [
            "-100000000000000000000.5",
            "-100000000000000000000",
            "-10",
            "-9.5",
            "-9.49",
            "-.5",
            "0",
            ".000000000000000000000000001",
            "0.5",
            "1",
            "2",
            "10",
            "12345678901234567890",
            "12345678901234567891",
            "012345678901234567891.10",
        ];
        for (at, one) in ordered.iter().enumerate() {
            for (other_at, other) in ordered.iter().enumerate() {
                let parse = |text: &'static str| Number::parse(text.as_bytes()).expect(text);
                assert_eq!(
                    parse(one).compare(&parse(other)),
                    at.cmp(&other_at),
                    "{one} {other}"
                );
            }
        }
        let same = |one: &str, other: &str| {
            Number::parse(one.as_bytes()) == Number::parse(other.as_bytes())
        };
        assert!(same("-0", "0.00") && same("5.", "05.0"));
        for text in ["", "-", ".", "1e3", "+5", "1.2.3", "--1", "1-", "x"] {
            assert_eq!(Number::parse(text.as_bytes()), None, "{text}");
        }
        for text in ["1e3", "+5", "0x10", "1_000", "-1e-3", "1.2.3", "+0xff"] {
            assert!(is_other_form(text), "{text}");
        }
        for text in [
            "5",
            "-5.",
            "A1",
            "20260305-10:00",
            "2026-03-05",
            "12ab",
            "x10",
            "1/2",
            "",
        ] {
            assert!(!is_other_form(text), "{text}");
        }
    }
}
