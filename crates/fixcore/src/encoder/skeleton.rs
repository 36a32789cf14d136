//! The constant part of a template's messages: text with its sum, the places of values, and the buffer
//! that messages are written into.

use super::prefix::Prefix;
use super::text::{Clock, digits};
use crate::value::{Decimal, Timestamp};

/// Constant text is copied in pieces of this size.
pub(super) const PIECE_BYTES: usize = 32;
/// How far a piece or a value may be written beyond its end.
pub(super) const OVER_BYTES: usize = 64;
/// A value for a slot.
#[derive(Debug, Clone, Copy)]
pub enum Slot<'v> {
    /// Text: at least one byte, without the byte 1.
    Bytes(&'v [u8]),
    /// An unsigned integer.
    Unsigned(u64),
    /// A decimal number.
    Decimal(Decimal),
    /// A timestamp with milliseconds. Its date and second are only formatted when they change.
    Time(Timestamp),
}

/// Constant text up to a slot.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Where it begins in the text; a piece follows the last part.
    pub(super) start: usize,
    pub(super) length: usize,
    /// The tag of the slot after it, and which of the values goes there.
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

/// The text of a decimal with up to eight digits: at most nine bytes from the lowest byte on, padded
/// with zeros, and its length. `None` for other numbers.
#[inline]
pub(super) fn short_decimal(value: Decimal) -> Option<([u64; 2], usize)> {
    let scale = usize::from(value.scale);
    let small = (0..100_000_000).contains(&value.mantissa);
    if !small || !(1..=7).contains(&scale) {
        return None;
    }
    let digits = digits(value.mantissa as u32).at_least(scale + 1);
    // There is at least one digit on each side of the point: 8 to 56 bits.
    let (text, whole) = (digits.left(), 8 * (digits.length - scale));
    let (before, behind) = (text & !(u64::MAX << whole), text >> whole);
    let low = before | u64::from(b'.') << whole | behind << whole << 8;
    Some(([low, behind >> (56 - whole)], digits.length + 1))
}
