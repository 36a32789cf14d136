//! Splits JSON into tokens of bounded length, each with its byte offset. The reader checks the structure.

use std::borrow::Cow;

use super::TEXT_BYTES_MAX;
use crate::error::{Error, ErrorKind, Result};

/// Most white space skipped in one call.
const BLANK_BYTES_MAX: usize = 1 << 12;
/// The longest number.
const NUMBER_BYTES_MAX: usize = 512;

/// One piece of JSON.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'j> {
    /// One of `{}[]:,`.
    Sign(u8),
    Text(Cow<'j, str>),
    Integer(i64),
    /// An integer that does not fit 64 bits with a sign, as the nearest float.
    Wide(f64),
    Float(f64),
    True,
    False,
    Null,
    /// White space that continues.
    Blank,
    End,
}

/// Where in the JSON the next token begins.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'j> {
    json: &'j [u8],
    at: usize,
}

impl<'j> Lexer<'j> {
    pub(super) fn new(json: &'j [u8]) -> Self {
        Self { json, at: 0 }
    }

    /// All of the JSON.
    pub(super) fn json(&self) -> &'j [u8] {
        self.json
    }

    /// The byte at which the next token or white space before it begins.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Continues at a byte, up to which tokens were read otherwise.
    pub(super) fn move_to(&mut self, at: usize) {
        self.at = at;
    }

    /// The next token, and the byte at which it begins.
    pub(super) fn next(&mut self) -> Result<(Token<'j>, usize)> {
        let blank = self.json[self.at..]
            .iter()
            .take(BLANK_BYTES_MAX)
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
            .count();
        self.at += blank;
        let start = self.at;
        let Some(first) = self.json.get(start).copied() else {
            return Ok((Token::End, start));
        };
        let token = match first {
            _ if blank == BLANK_BYTES_MAX => Token::Blank,
            b'{' | b'}' | b'[' | b']' | b':' | b',' => {
                self.at += 1;
                Token::Sign(first)
            }
            b'"' => self.text()?,
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.word("true", Token::True)?,
            b'f' => self.word("false", Token::False)?,
            b'n' => self.word("null", Token::Null)?,
            _ => return Err(wrong(start, "not JSON")),
        };
        Ok((token, start))
    }

    fn word(&mut self, word: &str, token: Token<'j>) -> Result<Token<'j>> {
        if !self.json[self.at..].starts_with(word.as_bytes()) {
            return Err(wrong(self.at, "not JSON"));
        }
        self.at += word.len();
        Ok(token)
    }

    fn number(&mut self) -> Result<Token<'j>> {
        let start = self.at;
        let rest = &self.json[start..];
        let length = rest
            .iter()
            .take(NUMBER_BYTES_MAX)
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
            .count();
        let bytes = &rest[..length];
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        if !is_number(bytes) || length == NUMBER_BYTES_MAX {
            return Err(wrong(start, "not a JSON number"));
        }
        self.at += length;
        let is_integer = bytes.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'-'));
        if let Some(value) = is_integer.then(|| text.parse().ok()).flatten() {
            return Ok(Token::Integer(value));
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() && is_integer => Ok(Token::Wide(value)),
            Ok(value) if value.is_finite() => Ok(Token::Float(value)),
            _ => Err(wrong(start, "the number is out of range")),
        }
    }

    fn text(&mut self) -> Result<Token<'j>> {
        let start = self.at;
        let rest = &self.json[start + 1..];
        let window = &rest[..rest.len().min(TEXT_BYTES_MAX + 1)];
        let mut plain = true;
        let mut at = 0;
        loop {
            match window.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    plain = false;
                    at += 2;
                }
                Some(0..0x20) => {
                    return Err(wrong(start + 1 + at, "a control character in a string"));
                }
                Some(_) => at += 1,
                None if rest.len() > TEXT_BYTES_MAX => {
                    let message = format!("a string of more than {TEXT_BYTES_MAX} bytes");
                    return Err(wrong(start, message));
                }
                None => return Err(wrong(start, "a string without its closing quote")),
            }
        }
        let body = std::str::from_utf8(&window[..at])
            .map_err(|error| wrong(start + 1 + error.valid_up_to(), "invalid UTF-8 in a string"))?;
        self.at = start + at + 2;
        Ok(Token::Text(if plain {
            Cow::Borrowed(body)
        } else {
            Cow::Owned(unescape(body, start + 1)?)
        }))
    }
}

/// The longest string that is read at once.
pub(super) const PLAIN_BYTES_MAX: usize = 2048;
/// The longest number that is read at once.
const PLAIN_NUMBER_BYTES_MAX: usize = 40;
/// Most digits that fit 64 bits whatever they are, and those that a float keeps exactly.
const DIGITS_MAX: usize = 18;
const EXACT_DIGITS_MAX: usize = 15;
/// Each power of ten that is exact as a float, up to as many digits as a fraction may have here.
const TENS: [f64; EXACT_DIGITS_MAX + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// A number of the usual form.
pub(super) enum Number {
    Integer(i64),
    Float(f64),
}

/// The length of a string whose opening quote is before `rest`, and whether it is ASCII. `None` when it has an escape or
/// a control character, is long, or does not end.
#[inline]
pub(super) fn plain_text(rest: &[u8]) -> Option<(usize, bool)> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    // The high bit of each byte that is zero; below the first such byte no other bit is set.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let window = rest.get(..PLAIN_BYTES_MAX).unwrap_or(rest);
    let mut high = 0;
    let mut at = 0;
    while let Some(&bytes) = window.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(bytes);
        let control = word.wrapping_sub(0x20 * ONES) & !word & HIGH;
        let special = zero(word ^ (u64::from(b'"') * ONES))
            | zero(word ^ (u64::from(b'\\') * ONES))
            | control;
        if special != 0 {
            let bit = special.trailing_zeros();
            high |= word & HIGH & ((1 << bit) - 1);
            let length = at + bit as usize / 8;
            return (window.get(length) == Some(&b'"')).then_some((length, high == 0));
        }
        high |= word & HIGH;
        at += 8;
    }
    let mut is_ascii = high == 0;
    for (more, byte) in window.get(at..)?.iter().enumerate() {
        match byte {
            b'"' => return Some((at + more, is_ascii)),
            b'\\' | 0..0x20 => return None,
            _ => is_ascii &= byte.is_ascii(),
        }
    }
    None
}

/// An integer at a byte, and the byte after it: eight bytes at once where it has fewer digits and no sign.
#[inline]
pub(super) fn integer(json: &[u8], at: usize) -> Option<(i64, usize)> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let rest = json.get(at..)?;
    let word = u64::from_le_bytes(*rest.first_chunk::<8>().unwrap_or(&[b'-'; 8]));
    let values = word ^ (0x30 * ONES);
    // The high bit of each byte that is no digit.
    let others = (((values & (0x7f * ONES)) + 0x76 * ONES) | values) & (0x80 * ONES);
    let bits = others.trailing_zeros() & !7;
    let after = word.checked_shr(bits).unwrap_or(0) as u8;
    let is_plain = (8..64).contains(&bits)
        && (values & 0xff != 0 || bits == 8)
        && !matches!(after, b'.' | b'-' | b'+' | b'e' | b'E');
    if !is_plain {
        return match number(rest)? {
            (Number::Integer(value), length) => Some((value, at + length)),
            (Number::Float(_), _) => None,
        };
    }
    // Digits of the number at the end of the word, zeros before; then pairs, and fours, and all eight are added up.
    let digits = values << (64 - bits);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let odd = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul((1_000_000 << 32) + 100);
    let even = (pairs >> 16 & 0x0000_00ff_0000_00ff).wrapping_mul((10_000 << 32) + 1);
    Some((
        (odd.wrapping_add(even) >> 32) as i64,
        at + bits as usize / 8,
    ))
}

/// A number of few bytes without an exponent at the beginning of `rest`, and its length.
#[inline]
pub(super) fn number(rest: &[u8]) -> Option<(Number, usize)> {
    let is_negative = rest.first() == Some(&b'-');
    let start = usize::from(is_negative);
    let rest = rest.get(..PLAIN_NUMBER_BYTES_MAX).unwrap_or(rest);
    let digits = |mut at: usize, mut value: u64| {
        while let Some(digit @ 0..10) = rest.get(at).map(|byte| byte.wrapping_sub(b'0')) {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        (at, value)
    };
    let (end, value) = digits(start, 0);
    let whole = end - start;
    if whole == 0 || (whole > 1 && rest.get(start) == Some(&b'0')) || whole > DIGITS_MAX {
        return None;
    }
    let is_over = |at: usize| match rest.get(at) {
        Some(byte) => !matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E'),
        None => false,
    };
    if is_over(end) {
        let value = value as i64;
        return Some((
            Number::Integer(if is_negative { -value } else { value }),
            end,
        ));
    }
    if rest.get(end) != Some(&b'.') {
        return None;
    }
    let (last, value) = digits(end + 1, value);
    let fraction = last - end - 1;
    if fraction == 0 || !is_over(last) {
        return None;
    }
    if whole + fraction > EXACT_DIGITS_MAX || value == 0 {
        // Beyond what floats keep exactly, and for the sign of zero.
        let text = std::str::from_utf8(rest.get(..last)?).ok()?;
        return Some((Number::Float(text.parse().ok()?), last));
    }
    // Both are exact, so that their quotient is the nearest float.
    let value = value as f64 / TENS.get(fraction)?;
    Some((
        Number::Float(if is_negative { -value } else { value }),
        last,
    ))
}

/// The grammar of JSON numbers, which is stricter than Rust's.
fn is_number(bytes: &[u8]) -> bool {
    let digits = |bytes: &[u8]| {
        bytes
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let bytes = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let whole = digits(bytes);
    if whole == 0 || (whole > 1 && bytes[0] == b'0') {
        return false;
    }
    let mut rest = &bytes[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', digits @ ..] => digits,
            digits => digits,
        };
        let count = digits(exponent);
        return count > 0 && count == exponent.len();
    }
    rest.is_empty()
}

/// Replaces escapes; `offset` is the byte at which `body` begins.
fn unescape(body: &str, offset: usize) -> Result<String> {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let place = offset + body.len() - rest.len() + at;
        let escape = rest.as_bytes().get(at + 1).copied().unwrap_or(0);
        rest = rest.get(at + 2..).unwrap_or("");
        let plain = match escape {
            b'"' | b'\\' | b'/' => char::from(escape),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let (found, after) =
                    unicode(rest).ok_or_else(|| wrong(place, "not a JSON escape"))?;
                rest = after;
                found
            }
            _ => return Err(wrong(place, "not a JSON escape")),
        };
        out.push(plain);
    }
    out.push_str(rest);
    Ok(out)
}

/// The character after `\u`, which may take two escapes, and the rest of the text.
fn unicode(rest: &str) -> Option<(char, &str)> {
    let unit = |text: &str| {
        let digits = text.get(..4)?;
        let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        hexadecimal.then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let high = unit(rest)?;
    let rest = &rest[4..];
    if !(0xd800..0xdc00).contains(&high) {
        return Some((char::from_u32(high)?, rest));
    }
    let second = rest.strip_prefix("\\u")?;
    let low = unit(second).filter(|low| (0xdc00..0xe000).contains(low))?;
    let character = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    Some((char::from_u32(character)?, &second[4..]))
}

fn wrong(offset: usize, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Json, message).byte(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(json: &str) -> Result<Token<'_>> {
        Lexer::new(json.as_bytes()).next().map(|(token, _)| token)
    }

    #[test]
    fn texts_are_unescaped_and_numbers_are_those_of_json() {
        let text = |json| match one(json) {
            Ok(Token::Text(text)) => text.into_owned(),
            other => panic!("{json}: {other:?}"),
        };
        assert_eq!(text(r#""a\n\"\\\u00e9\ud83d\ude00é""#), "a\n\"\\é😀é");
        assert_eq!(one("-12"), Ok(Token::Integer(-12)));
        assert_eq!(one("1.5e-1"), Ok(Token::Float(0.15)));
        assert_eq!(one("-9223372036854775808"), Ok(Token::Integer(i64::MIN)));
        assert_eq!(one("18446744073709551616"), Ok(Token::Wide(2f64.powi(64))));
        assert!(one(&"9".repeat(400)).is_err());
        for json in [
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "-",
            "1e999",
            "nul",
            "\"a",
            r#""\x""#,
            r#""\ud800""#,
            "\"\u{1}\"",
            r#""\u12""#,
            r#""\u+123""#,
        ] {
            assert!(one(json).is_err(), "{json}");
        }
        let long = format!("\"{}\"", "x".repeat(TEXT_BYTES_MAX));
        assert!(one(&long).is_ok());
        let long = format!("\"{}\"", "x".repeat(TEXT_BYTES_MAX + 1));
        assert!(one(&long).unwrap_err().to_string().contains("more than"));
    }

    #[test]
    fn much_white_space_takes_several_calls() {
        let json = " ".repeat(10_000);
        let mut lexer = Lexer::new(json.as_bytes());
        let mut calls = 1;
        while lexer.next().unwrap().0 == Token::Blank {
            calls += 1;
        }
        assert_eq!(calls, 3);
    }
}
