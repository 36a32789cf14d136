//! What a template knows of its messages before the first: constant text with its sum, where values
//! go, and the buffer that messages are written into.

use super::prefix::Prefix;
use super::text::{Clock, digits};
use crate::value::{Decimal, Timestamp};

/// Constant text is copied in pieces of so many bytes.
pub(super) const PIECE_BYTES: usize = 32;
/// Written beyond the end at most, by a piece or by a value.
pub(super) const OVER_BYTES: usize = 64;
/// A value for a slot.
#[derive(Debug, Clone, Copy)]
pub enum Slot<'v> {
    /// Text: one byte or more, and not the byte 1.
    Bytes(&'v [u8]),
    /// A whole number.
    Unsigned(u64),
    /// A decimal number.
    Decimal(Decimal),
    /// A moment, in milliseconds: its date and second are only written when they change.
    Time(Timestamp),
}

/// Constant text up to a slot.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Where in the text it begins; behind the last part there is a piece more.
    pub(super) start: usize,
    pub(super) length: usize,
    /// The tag of the slot behind it, and which of the values goes there.
    pub(super) tag: u32,
    pub(super) value: usize,
}

/// A message without its values.
#[derive(Debug, Clone)]
pub(super) struct Skeleton {
    pub(super) prefix: Prefix,
    pub(super) text: Vec<u8>,
    /// One for each slot, in the order of the message.
    pub(super) parts: Vec<Part>,
    pub(super) last: Part,
    /// Constant bytes of the body.
    pub(super) constant_bytes: usize,
    /// The sum of the constant bytes and of the message's head without its digits.
    pub(super) constant_sum: u32,
    pub(super) buffer: Vec<u8>,
    pub(super) clock: Clock,
}

/// A number of up to eight digits with some behind the point: its text from the lowest byte on, nine
/// bytes at most with zeros behind them, and their number.
#[inline]
pub(super) fn short_decimal(value: Decimal) -> Option<([u64; 2], usize)> {
    let scale = usize::from(value.scale);
    let small = (0..100_000_000).contains(&value.mantissa);
    if !small || !(1..=7).contains(&scale) {
        return None;
    }
    let digits = digits(value.mantissa as u32).at_least(scale + 1);
    // One digit at least stands before the point, and one behind it: 8 to 56 bits.
    let (text, whole) = (digits.left(), 8 * (digits.length - scale));
    let (before, behind) = (text & !(u64::MAX << whole), text >> whole);
    let low = before | u64::from(b'.') << whole | behind << whole << 8;
    Some(([low, behind >> (56 - whole)], digits.length + 1))
}
