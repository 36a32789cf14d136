//! Messages of which most is known before: constant text with its sum, and slots for the rest.
//!
//! What is written is never read again: a sum of bytes just written would wait for them to reach
//! the cache. Constant text is copied in whole pieces, and what is too much is overwritten.

#[cfg(target_arch = "x86_64")]
use super::again::{self, Shape};
use super::header::{BODY, rank};
use super::text::{Clock, digits, push_decimal, push_number};
#[cfg(target_arch = "x86_64")]
use super::wide;
use super::{BODY_BYTES_MAX, Prefix, ROOM_BYTES};
use crate::error::{Error, ErrorKind, Result};
use crate::frame::{byte_sum, trailer};
use crate::isa::Isa;
use crate::scan::SOH;
use crate::value::{Decimal, Timestamp};

/// Constant text is copied in pieces of so many bytes.
pub(super) const PIECE_BYTES: usize = 32;
/// Written beyond the end at most, by a piece or by a value.
pub(super) const OVER_BYTES: usize = 64;
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

/// A message with slots.
#[derive(Debug, Clone)]
pub struct Template {
    pub(super) prefix: Prefix,
    pub(super) text: Vec<u8>,
    /// One a slot, in the order of the message.
    pub(super) parts: Vec<Part>,
    pub(super) last: Part,
    /// Constant bytes of the body, and the sum of them and of the head but for its digits.
    constant_bytes: usize,
    pub(super) constant_sum: u32,
    pub(super) buffer: Vec<u8>,
    pub(super) clock: Clock,
    path: Path,
    #[cfg(target_arch = "x86_64")]
    pub(super) shape: Shape,
}

/// How a message is written.
#[derive(Debug, Clone, Copy)]
enum Path {
    /// Over the one before it, as far as that goes.
    #[cfg(target_arch = "x86_64")]
    Again(again::Found),
    /// By AVX-512, as far as that goes.
    #[cfg(target_arch = "x86_64")]
    Wide(wide::Found),
    /// By general registers.
    Plain,
}

impl Path {
    fn of(isa: Isa) -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let again = again::Found::detect().filter(|_| isa == Isa::Avx512Vbmi2);
            if let Some(found) = again {
                return Self::Again(found);
            }
            if let (Isa::Avx512Bw | Isa::Avx512Vbmi2, Some(found)) = (isa, wide::Found::detect()) {
                return Self::Wide(found);
            }
        }
        let _ = isa;
        Self::Plain
    }
}

/// A field of a template: constant text, or the number of its value.
#[derive(Debug, Clone)]
enum Item {
    Constant(Vec<u8>),
    Slot(usize),
}

/// Puts a template together, field by field. The header comes out in its order, as QuickFIX has it.
#[derive(Debug, Clone)]
pub struct TemplateBuilder {
    begin_string: String,
    items: Vec<(u32, Item)>,
    slots: usize,
}

impl TemplateBuilder {
    /// A field with a constant value, which must not be empty or hold the byte 1.
    #[must_use]
    pub fn constant(mut self, tag: u32, value: &[u8]) -> Self {
        let value = value.iter().copied().filter(|byte| *byte != SOH);
        self.items.push((tag, Item::Constant(value.collect())));
        self
    }

    /// A field whose value comes with each message: values are in the order of these calls.
    #[must_use]
    pub fn slot(mut self, tag: u32) -> Self {
        self.items.push((tag, Item::Slot(self.slots)));
        self.slots += 1;
        self
    }

    /// The template.
    #[must_use]
    pub fn build(mut self) -> Template {
        // Stable: the body, and the entries of a group, stay in their order.
        self.items.sort_by_key(|(tag, _)| rank(*tag));
        let (mut text, mut parts, mut start) = (Vec::new(), Vec::new(), 0);
        for (tag, item) in self.items {
            push_number(&mut text, u64::from(tag));
            text.push(b'=');
            match item {
                Item::Constant(value) => text.extend_from_slice(&value),
                Item::Slot(value) => {
                    let length = text.len() - start;
                    parts.push(Part {
                        start,
                        length,
                        tag,
                        value,
                    });
                    start = text.len();
                }
            }
            text.push(SOH);
        }
        let prefix = Prefix::new(&self.begin_string);
        let sum = |sum: u32, byte: &u8| sum.wrapping_add(u32::from(*byte));
        let head = prefix.bytes.iter().fold(u32::from(SOH), sum);
        let (constant_sum, constant_bytes) = (text.iter().fold(head, sum), text.len());
        let last = Part {
            start,
            length: constant_bytes - start,
            tag: BODY,
            value: 0,
        };
        text.resize(constant_bytes + 2 * PIECE_BYTES, 0);
        Template {
            prefix,
            text,
            parts,
            last,
            constant_bytes,
            constant_sum,
            buffer: Vec::new(),
            clock: Clock::default(),
            path: Path::Plain,
            #[cfg(target_arch = "x86_64")]
            shape: Shape::default(),
        }
        .by(Isa::detect())
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

    /// Adds to the sum, of which the lowest eight bits count.
    #[inline]
    fn add(&mut self, sum: u32) {
        self.sum = self.sum.wrapping_add(sum);
    }

    /// Writes text in words that overlap. Whether it may stand in a message.
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

#[cold]
fn too_long() -> Error {
    Error::new(ErrorKind::TooLong, 0)
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
            items: Vec::new(),
            slots: 0,
        };
        builder.constant(35, msg_type.as_bytes())
    }

    /// The same by one instruction set. `None`: this processor does not have it.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Option<Self> {
        isa.is_available().then(|| self.by(isa))
    }

    /// By an instruction set that the processor has.
    fn by(mut self, isa: Isa) -> Self {
        self.path = Path::of(isa);
        #[cfg(target_arch = "x86_64")]
        self.shape.forget();
        self
    }

    /// A message with these values in its slots, in the order in which the slots were given.
    ///
    /// # Errors
    /// A value that cannot be written, with the tag of its slot; [`ErrorKind::MissingTag`]: there are
    /// fewer values than slots, or more.
    #[inline]
    pub fn encode(&mut self, values: &[Slot<'_>]) -> Result<&[u8]> {
        if values.len() != self.parts.len() {
            return Err(Error::new(ErrorKind::MissingTag, 0));
        }
        let written = match self.path {
            #[cfg(target_arch = "x86_64")]
            Path::Again(found) => {
                if let Some((start, end, sum)) = again::message(found, self, values) {
                    return self.sealed(start, end, sum).ok_or_else(too_long);
                }
                None
            }
            #[cfg(target_arch = "x86_64")]
            Path::Wide(found) => wide::body(found, self, values),
            Path::Plain => None,
        };
        let (end, sum) = match written {
            Some(written) => written,
            None => self.plain(values)?,
        };
        self.frame(end, sum).ok_or_else(too_long)
    }

    /// Head and trailer around a body that ends here.
    #[inline]
    fn frame(&mut self, end: usize, sum: u32) -> Option<&[u8]> {
        let (start, digits) = self.prefix.write(&mut self.buffer, end - ROOM_BYTES)?;
        let sum = self.constant_sum.wrapping_add(sum).wrapping_add(digits);
        self.sealed(start, end, sum)
    }

    /// The trailer behind a message that begins and ends here.
    #[inline]
    fn sealed(&mut self, start: usize, end: usize, sum: u32) -> Option<&[u8]> {
        *self.buffer.get_mut(end..)?.first_chunk_mut::<8>()? = trailer(sum as u8);
        self.buffer.get(start..end + 7)
    }

    /// The body by general registers, with anything in its slots: its end, and the sum of values.
    #[inline(never)]
    fn plain(&mut self, values: &[Slot<'_>]) -> Result<(usize, u32)> {
        let bytes = |value: &Slot<'_>| match value {
            Slot::Bytes(bytes) => bytes.len(),
            _ => NUMBER_BYTES_MAX,
        };
        // The same text may stand in many slots: what they need together may be beyond any number.
        let own = self.constant_bytes + ROOM_BYTES + OVER_BYTES;
        let room = values.iter().map(bytes).fold(own, usize::saturating_add);
        if self.buffer.len() < room {
            self.grow(room)?;
        }
        let mut pen = Pen {
            out: &mut self.buffer,
            at: ROOM_BYTES,
            sum: 0,
        };
        for part in &self.parts {
            let value = values.get(part.value).unwrap_or(&Slot::Bytes(&[]));
            let written = pen
                .constant(&self.text, part)
                .and_then(|()| pen.value(value, &mut self.clock));
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
        let end = pen.constant(&self.text, &self.last);
        end.map(|()| (pen.at, pen.sum)).ok_or_else(too_long)
    }

    #[cold]
    fn grow(&mut self, room: usize) -> Result<()> {
        if room >= BODY_BYTES_MAX {
            return Err(too_long());
        }
        // Never longer, so that no body in it is too long.
        let room = room.next_power_of_two().min(BODY_BYTES_MAX);
        self.buffer.resize(room, 0);
        Ok(())
    }
}
