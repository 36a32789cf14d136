//! Numbers as digits, eight of them in a register.

#[cfg(target_arch = "x86_64")]
use std::num::NonZeroU64;

use crate::frame::byte_sum;
use crate::value::{Decimal, Timestamp};

const NS_PER_SECOND: i64 = 1_000_000_000;

/// Up to eight digits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digits {
    /// One digit in each byte, the first in the lowest byte, with leading zeros.
    word: u64,
    /// How many there are without leading zeros: at least one.
    pub(super) length: usize,
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

impl Digits {
    /// All eight as text.
    #[inline]
    pub(super) fn right(self) -> u64 {
        self.word | ZEROS
    }

    /// As text from the lowest byte on, without leading zeros; the rest is 0.
    #[inline]
    pub(super) fn left(self) -> u64 {
        self.right() >> (8 * (8 - self.length))
    }

    /// The sum of the text without leading zeros.
    #[inline]
    pub(super) fn sum(self) -> u32 {
        byte_sum(self.word) + 0x30 * self.length as u32
    }

    /// The same digits with leading zeros up to a length.
    #[inline]
    pub(super) fn at_least(self, length: usize) -> Self {
        Self {
            length: self.length.max(length.min(8)),
            ..self
        }
    }
}

/// The digits of a number below 100,000,000.
#[inline]
pub(super) fn digits(number: u32) -> Digits {
    let number = u64::from(number);
    // Two numbers of four digits, then four of two, then eight of one. Divisions are multiplications.
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = fours.wrapping_mul(10_486) >> 20 & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = twos.wrapping_mul(103) >> 10 & 0x000f_000f_000f_000f;
    let word = tens | (twos - 10 * tens) << 8;
    Digits {
        word,
        length: 8 - (word.trailing_zeros().min(56) / 8) as usize,
    }
}

const LOW: u64 = 100_000_000;

/// The text of an unsigned integer, and how many bytes it has: at most 20.
pub(super) fn number(number: u64) -> ([u8; 24], usize) {
    let (high, low) = (number / LOW, digits((number % LOW) as u32));
    let mut text = [0; 24];
    let mut put = |at: usize, word: u64| {
        if let Some(to) = text.get_mut(at..at + 8) {
            to.copy_from_slice(&word.to_le_bytes());
        }
    };
    if high == 0 {
        put(0, low.left());
        return (text, low.length);
    }
    let (top, middle) = (high / LOW, digits((high % LOW) as u32));
    let mut at = middle.length;
    if top > 0 {
        let top = digits(top as u32);
        put(0, top.left());
        put(top.length, middle.right());
        at = top.length + 8;
    } else {
        put(0, middle.left());
    }
    put(at, low.right());
    (text, at + 8)
}

/// Appends an unsigned integer.
pub(super) fn push_number(out: &mut Vec<u8>, value: u64) {
    let (text, length) = number(value);
    out.extend_from_slice(&text[..length]);
}

/// Appends a decimal number with all its digits after the point.
pub(super) fn push_decimal(out: &mut Vec<u8>, number: Decimal) {
    if number.mantissa < 0 {
        out.push(b'-');
    }
    let scale = usize::from(number.scale.min(Decimal::SCALE_MAX));
    let unit = 10_u64.pow(scale as u32);
    let magnitude = number.mantissa.unsigned_abs();
    push_number(out, magnitude / unit);
    if scale > 0 {
        out.push(b'.');
        let start = out.len();
        push_number(out, magnitude % unit + unit);
        // The added unit keeps zeros after the point; its leading digit goes.
        out.remove(start);
    }
}

/// The length of a timestamp as text, and where its last four bytes begin.
pub(super) const MOMENT_BYTES: usize = 21;
pub(super) const MILLIS_AT: usize = MOMENT_BYTES - 4;

/// A point and three digits for each number of milliseconds, as a little-endian word.
pub(super) static MILLIS: [u32; 1000] = {
    let (mut words, mut ms) = ([0; 1000], 0);
    while ms < words.len() {
        let digits = [ms / 100, ms / 10 % 10, ms % 10];
        let [a, b, c] = [digits[0] as u8, digits[1] as u8, digits[2] as u8];
        words[ms] = u32::from_le_bytes([b'.', b'0' + a, b'0' + b, b'0' + c]);
        ms += 1;
    }
    words
};

/// The second of a timestamp: its first nanosecond, which is even, with the lowest bit set.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Second(NonZeroU64);

#[cfg(target_arch = "x86_64")]
impl Second {
    /// The second that begins with this nanosecond, a multiple of a billion.
    const fn beginning_at(first_ns: i64) -> Self {
        match NonZeroU64::new(first_ns.cast_unsigned() | 1) {
            Some(second) => Self(second),
            None => Self(NonZeroU64::MIN),
        }
    }
}

/// Formats timestamps: keeps the text of the last second, so a timestamp in the same second only needs
/// its milliseconds.
///
/// The first and the last second that a timestamp can be in are incomplete. They are not kept, so no
/// other timestamp is mistaken for one in the same second.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    /// The first nanosecond of the second that is kept.
    start: i64,
    #[cfg(target_arch = "x86_64")]
    second: Second,
    /// Date and time, padded to the size of a register.
    text: [u8; 32],
    /// The sum of the text without the last four bytes.
    sum: u32,
}

impl Default for Clock {
    fn default() -> Self {
        let mut clock = Self {
            start: 0,
            #[cfg(target_arch = "x86_64")]
            second: Second::beginning_at(0),
            text: [0; 32],
            sum: 0,
        };
        clock.keep(0);
        clock
    }
}

impl Clock {
    /// The milliseconds of a timestamp, whose second is kept from now on. `None` if its second is
    /// incomplete and so not kept.
    #[inline]
    pub(super) fn millis(&mut self, moment: Timestamp) -> Option<usize> {
        let past = moment.0.wrapping_sub(self.start).cast_unsigned();
        if past < NS_PER_SECOND.cast_unsigned() {
            return Some((past as u32 / 1_000_000) as usize);
        }
        self.turn(moment)
    }

    #[cold]
    #[inline(never)]
    fn turn(&mut self, moment: Timestamp) -> Option<usize> {
        let past = moment.0.rem_euclid(NS_PER_SECOND);
        let start = moment.0.checked_sub(past)?;
        start.checked_add(NS_PER_SECOND - 1)?;
        self.keep(start);
        Some((past / 1_000_000) as usize)
    }

    /// Keeps the second that begins with this nanosecond.
    fn keep(&mut self, start: i64) {
        self.start = start;
        #[cfg(target_arch = "x86_64")]
        {
            self.second = Second::beginning_at(start);
        }
        let text = Timestamp(start).to_millis();
        self.text[..MOMENT_BYTES].copy_from_slice(&text);
        let second = text.iter().take(MILLIS_AT);
        self.sum = second.map(|byte| u32::from(*byte)).sum();
    }

    /// The second that is kept.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn second(&self) -> Second {
        self.second
    }

    /// Whether this second is kept.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn keeps(&self, second: Option<Second>) -> bool {
        second.map_or(0, |second| second.0.get()) == self.second.0.get()
    }

    /// The sum of the text of the second, without the milliseconds.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn sum(&self) -> u32 {
        self.sum
    }

    /// The second as text, with any milliseconds.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn text(&self) -> &[u8; 32] {
        &self.text
    }

    /// A timestamp as text.
    #[inline]
    pub(super) fn moment(&mut self, moment: Timestamp) -> [u8; MOMENT_BYTES] {
        let Some(millis) = self.millis(moment) else {
            return moment.to_millis();
        };
        let millis = MILLIS[millis].to_le_bytes();
        let mut text = [0; MOMENT_BYTES];
        text.copy_from_slice(&self.text[..MOMENT_BYTES]);
        text[MILLIS_AT..].copy_from_slice(&millis);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_the_standard_library_writes_them() {
        let mut numbers: Vec<u64> = (0..20_000).collect();
        for power in 1..20 {
            let unit = 10_u64.pow(power);
            numbers.extend([unit - 1, unit, unit + 1, unit / 7 * 9]);
        }
        numbers.extend([u64::MAX, 99_999_999, 12_345_678]);
        for number in numbers {
            let mut text = Vec::new();
            push_number(&mut text, number);
            assert_eq!(String::from_utf8(text.clone()).unwrap(), number.to_string());
            if number < LOW {
                let sum: u32 = text.iter().map(|byte| u32::from(*byte)).sum();
                assert_eq!(digits(number as u32).sum(), sum);
            }
        }
    }

    #[test]
    fn decimals_keep_the_zeros_behind_the_point() {
        for text in [
            "0.05",
            "-12.50",
            "150.25",
            "7",
            "-0.000000000000000001",
            "-9223372036854775808",
        ] {
            let mut out = Vec::new();
            push_decimal(&mut out, Decimal::parse(text.as_bytes()).unwrap());
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn seconds_differ_where_their_beginnings_do() {
        let (first, last) = (
            i64::MIN / NS_PER_SECOND * NS_PER_SECOND,
            i64::MAX / NS_PER_SECOND * NS_PER_SECOND,
        );
        let some = [
            first,
            first + NS_PER_SECOND,
            -NS_PER_SECOND,
            0,
            NS_PER_SECOND,
            2 * NS_PER_SECOND,
            last - NS_PER_SECOND,
            last,
        ];
        for a in some {
            for b in some {
                let same = Second::beginning_at(a) == Second::beginning_at(b);
                assert_eq!(same, a == b, "{a} {b}");
            }
        }
    }

    #[test]
    fn the_first_and_the_last_moment_are_written_in_any_order() {
        let (first, last, ns) = (i64::MIN, i64::MAX, NS_PER_SECOND);
        let whole = first.checked_add(ns).map(|at| at.div_euclid(ns) * ns);
        let moments = [
            first,
            first + ns / 2,
            whole.unwrap() - 1,
            whole.unwrap(),
            0,
            -1,
            last / ns * ns - 1,
            last / ns * ns,
            last,
        ];
        for before in moments {
            for moment in moments.map(Timestamp) {
                let mut clock = Clock::default();
                assert_eq!(
                    clock.moment(Timestamp(before)),
                    Timestamp(before).to_millis()
                );
                assert_eq!(
                    clock.moment(moment),
                    moment.to_millis(),
                    "{moment:?} after {before}"
                );
            }
        }
    }
}
