//! Messages of which most is known before: constant text with its sum, and slots for the rest.
//!
//! What is written is never read again: a sum of bytes just written would wait for them to reach
//! the cache. Constant text is copied in whole pieces, and what is too much is overwritten.

use super::text::{byte_sum, digits, push_decimal, push_number, trailer};
use super::{BODY_BYTES_MAX, Prefix, ROOM_BYTES};
use crate::error::{Error, ErrorKind, Result};
use crate::scan::SOH;
use crate::value::Decimal;

/// Constant text is copied in pieces of so many bytes.
const PIECE_BYTES: usize = 32;
/// Written beyond the end at most, by a piece or by a value.
const OVER_BYTES: usize = 64;
/// The longest number: sign, twenty digits, a point.
const NUMBER_BYTES_MAX: usize = 24;

/// A value for a slot.
#[derive(Debug, Clone, Copy)]
pub enum Slot<'v> {
    /// Text: one byte or more, and not the byte 1.
    Bytes(&'v [u8]),
    /// A whole number.
    Unsigned(u64),
    /// A decimal number.
    Decimal(Decimal),
}

/// Constant text up to a slot.
#[derive(Debug, Clone)]
struct Part {
    pieces: Vec<[u8; PIECE_BYTES]>,
    length: usize,
    /// The tag of the slot behind it.
    tag: u32,
}

/// A message with slots.
#[derive(Debug, Clone)]
pub struct Template {
    prefix: Prefix,
    parts: Vec<Part>,
    /// Constant bytes of the body, and the sum of them and of the head but for its digits.
    constant_bytes: usize,
    sum: u32,
    buffer: Vec<u8>,
}

/// Puts a template together, field by field.
#[derive(Debug, Clone)]
pub struct TemplateBuilder {
    begin_string: String,
    text: Vec<u8>,
    parts: Vec<Part>,
}

impl TemplateBuilder {
    /// A field with a constant value, which must not be empty or hold the byte 1.
    #[must_use]
    pub fn constant(mut self, tag: u32, value: &[u8]) -> Self {
        push_number(&mut self.text, u64::from(tag));
        self.text.push(b'=');
        self.text.extend(value.iter().filter(|byte| **byte != SOH));
        self.text.push(SOH);
        self
    }

    /// A field whose value comes with each message.
    #[must_use]
    pub fn slot(mut self, tag: u32) -> Self {
        push_number(&mut self.text, u64::from(tag));
        self.text.push(b'=');
        let text = std::mem::replace(&mut self.text, vec![SOH]);
        self.parts.push(Part::new(&text, tag));
        self
    }

    /// The template.
    #[must_use]
    pub fn build(mut self) -> Template {
        self.parts.push(Part::new(&self.text, 0));
        let prefix = Prefix::new(&self.begin_string);
        let texts = self
            .parts
            .iter()
            .flat_map(|part| part.pieces.as_flattened());
        let sum = |sum: u32, byte: &u8| sum.wrapping_add(u32::from(*byte));
        let head = prefix.bytes.iter().fold(u32::from(SOH), sum);
        Template {
            sum: texts.fold(head, sum),
            constant_bytes: self.parts.iter().map(|part| part.length).sum(),
            prefix,
            parts: self.parts,
            buffer: Vec::new(),
        }
    }
}

impl Part {
    fn new(text: &[u8], tag: u32) -> Self {
        let piece = |text: &[u8]| {
            let mut piece = [0; PIECE_BYTES];
            piece[..text.len()].copy_from_slice(text);
            piece
        };
        Self {
            pieces: text.chunks(PIECE_BYTES).map(piece).collect(),
            length: text.len(),
            tag,
        }
    }
}

/// Where the next byte goes, and the sum of what was not constant.
struct Pen<'b> {
    out: &'b mut [u8],
    at: usize,
    sum: u32,
}

impl Pen<'_> {
    /// Writes all of an array; a part of it counts.
    #[inline]
    fn put<const N: usize>(&mut self, bytes: &[u8; N], length: usize) -> Option<()> {
        *self.out.get_mut(self.at..)?.first_chunk_mut::<N>()? = *bytes;
        self.at += length;
        Some(())
    }

    /// Writes text in words that overlap. Whether it may stand in a message.
    #[inline]
    fn text(&mut self, value: &[u8]) -> Option<bool> {
        let (words, rest) = value.as_chunks::<8>();
        let mut ends = 0_u64;
        for word in words {
            let number = u64::from_le_bytes(*word);
            ends |= has_soh(number);
            self.sum += byte_sum(number);
            self.put(word, 8)?;
        }
        let number = short(rest);
        ends |= has_soh(number) & !(u64::MAX << (8 * rest.len()));
        self.sum += byte_sum(number);
        self.put(&number.to_le_bytes(), rest.len())?;
        Some(ends == 0 && !value.is_empty())
    }

    #[inline]
    fn number(&mut self, value: u64) -> Option<()> {
        if value < 100_000_000 {
            let digits = digits(value as u32);
            self.sum += digits.sum();
            return self.put(&digits.left().to_le_bytes(), digits.length);
        }
        self.slowly(|out| push_number(out, value))
    }

    #[inline]
    fn decimal(&mut self, value: Decimal) -> Option<()> {
        let scale = usize::from(value.scale);
        let small = (0..100_000_000).contains(&value.mantissa);
        if !small || !(1..=7).contains(&scale) {
            return self.slowly(|out| push_decimal(out, value));
        }
        let digits = digits(value.mantissa as u32).at_least(scale + 1);
        let (text, whole) = (u128::from(digits.left()), 8 * (digits.length - scale));
        let before = (1_u128 << whole) - 1;
        let text = text & before | u128::from(b'.') << whole | (text & !before) << 8;
        self.sum += digits.sum() + u32::from(b'.');
        self.put(&text.to_le_bytes(), digits.length + 1)
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
fn short(bytes: &[u8]) -> u64 {
    if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (head, tail) = (u32::from_le_bytes(*head), u32::from_le_bytes(*tail));
        return u64::from(head) | u64::from(tail) << (8 * (bytes.len() - 4));
    }
    let from_high = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
    bytes.iter().rev().fold(0, from_high)
}

/// Not zero if a byte of the word is 1; exact for the lowest such byte.
#[inline]
fn has_soh(word: u64) -> u64 {
    let ones = 0x0101_0101_0101_0101;
    let differs = word ^ ones;
    differs.wrapping_sub(ones) & !differs & 0x8080_8080_8080_8080
}

impl Template {
    /// A template of messages of a type, without fields behind it yet.
    #[must_use]
    pub fn builder(begin_string: &str, msg_type: &str) -> TemplateBuilder {
        let builder = TemplateBuilder {
            begin_string: begin_string.to_owned(),
            text: Vec::new(),
            parts: Vec::new(),
        };
        builder.constant(35, msg_type.as_bytes())
    }

    /// A message with these values in its slots, in order.
    ///
    /// # Errors
    /// A value that cannot be written, with the tag of its slot; [`ErrorKind::MissingTag`]: there are
    /// fewer values than slots, or more.
    #[inline]
    pub fn encode(&mut self, values: &[Slot<'_>]) -> Result<&[u8]> {
        let bytes = |value: &Slot<'_>| match value {
            Slot::Bytes(bytes) => bytes.len(),
            _ => NUMBER_BYTES_MAX,
        };
        let room = values.iter().map(bytes).sum::<usize>() + self.constant_bytes;
        let room = room + ROOM_BYTES + OVER_BYTES;
        if self.buffer.len() < room {
            self.grow(room)?;
        }
        let mut pen = Pen {
            out: &mut self.buffer,
            at: ROOM_BYTES,
            sum: self.sum,
        };
        let Some((last, parts)) = self.parts.split_last() else {
            return Err(Error::new(ErrorKind::MissingTag, 0));
        };
        if parts.len() != values.len() {
            return Err(Error::new(ErrorKind::MissingTag, 0));
        }
        for (part, value) in parts.iter().zip(values) {
            let written = write(&mut pen, part, value);
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
        let end = constant(&mut pen, last).and_then(|()| {
            let body = pen.at - ROOM_BYTES;
            let (start, sum) = self.prefix.write(pen.out, body)?;
            pen.put(&trailer((pen.sum + sum) as u8), 7)?;
            Some((start, pen.at))
        });
        let (start, end) = end.ok_or(Error::new(ErrorKind::TooLong, 0))?;
        Ok(self.buffer.get(start..end).unwrap_or(&[]))
    }

    #[cold]
    fn grow(&mut self, room: usize) -> Result<()> {
        if room >= BODY_BYTES_MAX {
            return Err(Error::new(ErrorKind::TooLong, 0));
        }
        self.buffer.resize(room.next_power_of_two(), 0);
        Ok(())
    }
}

#[inline]
fn constant(pen: &mut Pen<'_>, part: &Part) -> Option<()> {
    let mut left = part.length;
    for piece in &part.pieces {
        let length = left.min(PIECE_BYTES);
        pen.put(piece, length)?;
        left -= length;
    }
    Some(())
}

#[inline]
fn write(pen: &mut Pen<'_>, part: &Part, value: &Slot<'_>) -> Option<bool> {
    constant(pen, part)?;
    match value {
        Slot::Bytes(bytes) => return pen.text(bytes),
        Slot::Unsigned(number) => pen.number(*number)?,
        Slot::Decimal(number) => pen.decimal(*number)?,
    }
    Some(true)
}
