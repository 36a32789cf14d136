//! Writes the body of a template's message by general registers, on any processor. It handles all
//! values, and reports those that cannot be written.

use super::prefix::{BODY_BYTES_MAX, ROOM_BYTES};
use super::skeleton::{OVER_BYTES, PIECE_BYTES, Part, Skeleton, Slot, short_decimal};
use super::text::{Clock, digits, push_decimal, push_number};
use crate::error::{Error, ErrorKind, Result};
use crate::frame::byte_sum;
use crate::value::Decimal;

/// The longest number: sign, twenty digits, a point.
const NUMBER_BYTES_MAX: usize = 24;

/// Writes the body. Returns where it ends, and the sum of the values.
///
/// # Errors
/// A value that cannot be written, with the tag of its slot.
#[inline(never)]
pub(super) fn body(skeleton: &mut Skeleton, values: &[Slot<'_>]) -> Result<(usize, u32)> {
    let bytes = |value: &Slot<'_>| match value {
        Slot::Bytes(bytes) => bytes.len(),
        _ => NUMBER_BYTES_MAX,
    };
    // The same text may be in many slots, so the sum of their lengths may overflow.
    let own = skeleton.constant_bytes + ROOM_BYTES + OVER_BYTES;
    let room = values.iter().map(bytes).fold(own, usize::saturating_add);
    if skeleton.buffer.len() < room {
        grow(&mut skeleton.buffer, room)?;
    }
    let mut pen = Pen {
        out: &mut skeleton.buffer,
        at: ROOM_BYTES,
        sum: 0,
    };
    for part in &skeleton.parts {
        let value = values.get(part.value).unwrap_or(&Slot::Bytes(&[]));
        let written = pen
            .constant(&skeleton.text, part)
            .and_then(|()| pen.value(value, &mut skeleton.clock));
        if written != Some(true) {
            let empty = matches!(value, Slot::Bytes([]));
            let kind = if empty {
                ErrorKind::EmptyValue
            } else {
                ErrorKind::Value
            };
            return Err(Error::new(kind, pen.at - ROOM_BYTES).tag_is(part.tag));
        }
    }
    let end = pen.constant(&skeleton.text, &skeleton.last);
    end.map(|()| (pen.at, pen.sum)).ok_or_else(too_long)
}

#[cold]
fn grow(buffer: &mut Vec<u8>, room: usize) -> Result<()> {
    if room >= BODY_BYTES_MAX {
        return Err(too_long());
    }
    // Never larger, so no body in it is too long.
    let room = room.next_power_of_two().min(BODY_BYTES_MAX);
    buffer.resize(room, 0);
    Ok(())
}

#[cold]
pub(super) fn too_long() -> Error {
    Error::new(ErrorKind::TooLong, 0)
}

/// Where the next byte goes, and the sum of the values.
struct Pen<'b> {
    out: &'b mut [u8],
    at: usize,
    sum: u32,
}

impl Pen<'_> {
    /// Writes a whole array, of which only `length` bytes count.
    #[inline]
    fn put<const N: usize>(&mut self, bytes: &[u8; N], length: usize) -> Option<()> {
        *self.out.get_mut(self.at..)?.first_chunk_mut::<N>()? = *bytes;
        self.at += length;
        Some(())
    }

    /// Adds to the sum, of which only the lowest eight bits matter.
    #[inline]
    fn add(&mut self, sum: u32) {
        self.sum = self.sum.wrapping_add(sum);
    }

    /// Writes text in overlapping words. Returns whether a message may contain it.
    #[inline]
    fn text(&mut self, value: &[u8]) -> Option<bool> {
        let (words, rest) = value.as_chunks::<8>();
        let mut ends = 0_u64;
        for word in words {
            let number = u64::from_le_bytes(*word);
            ends |= has_soh(number);
            self.add(byte_sum(number));
            self.put(word, 8)?;
        }
        let number = short(rest);
        ends |= has_soh(number) & !(u64::MAX << (8 * rest.len()));
        self.add(byte_sum(number));
        self.put(&number.to_le_bytes(), rest.len())?;
        Some(ends == 0 && !value.is_empty())
    }

    #[inline]
    fn number(&mut self, value: u64) -> Option<()> {
        if value < 100_000_000 {
            let digits = digits(value as u32);
            self.add(digits.sum());
            return self.put(&digits.left().to_le_bytes(), digits.length);
        }
        self.slowly(|out| push_number(out, value))
    }

    #[inline]
    fn decimal(&mut self, value: Decimal) -> Option<()> {
        let Some(([low, high], length)) = short_decimal(value) else {
            return self.slowly(|out| push_decimal(out, value));
        };
        self.add(byte_sum(low) + high as u32);
        let text = u128::from(low) | u128::from(high) << 64;
        self.put(&text.to_le_bytes(), length)
    }

    #[inline]
    fn constant(&mut self, text: &[u8], part: &Part) -> Option<()> {
        let mut left = part.length;
        for piece in text.get(part.start..)?.as_chunks::<PIECE_BYTES>().0 {
            let length = left.min(PIECE_BYTES);
            self.put(piece, length)?;
            left -= length;
            if left == 0 {
                break;
            }
        }
        Some(())
    }

    #[inline]
    fn value(&mut self, value: &Slot<'_>, clock: &mut Clock) -> Option<bool> {
        match value {
            Slot::Bytes(bytes) => return self.text(bytes),
            Slot::Unsigned(number) => self.number(*number)?,
            Slot::Decimal(number) => self.decimal(*number)?,
            Slot::Time(moment) => return self.text(&clock.moment(*moment)),
        }
        Some(true)
    }

    #[cold]
    fn slowly(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Option<()> {
        let mut text = Vec::with_capacity(NUMBER_BYTES_MAX);
        write(&mut text);
        self.text(&text).map(|_| ())
    }
}

/// Up to seven bytes as a word.
#[inline]
pub(super) fn short(bytes: &[u8]) -> u64 {
    if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (head, tail) = (u32::from_le_bytes(*head), u32::from_le_bytes(*tail));
        return u64::from(head) | u64::from(tail) << (8 * (bytes.len() - 4));
    }
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return 0;
    };
    // One to three bytes, without a branch: some of them are the same.
    let middle = bytes.len() / 2;
    let second = bytes.get(middle).unwrap_or(last);
    let place = |byte: &u8, at: usize| u64::from(*byte) << (8 * at);
    place(first, 0) | place(second, middle) | place(last, bytes.len() - 1)
}

/// Not zero if some byte of the word is 1; exact for the lowest such byte.
#[inline]
pub(super) fn has_soh(word: u64) -> u64 {
    let ones = 0x0101_0101_0101_0101;
    let differs = word ^ ones;
    differs.wrapping_sub(ones) & !differs & 0x8080_8080_8080_8080
}
