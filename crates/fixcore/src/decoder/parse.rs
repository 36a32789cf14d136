//! Checks the frame of a message by what the scan found. Unusual messages are read again by `diagnose`.

use super::diagnose;
use super::message::Message;
use super::parsed::Parsed;
use crate::data::{DataPairs, Role};
use crate::error::{Error, ErrorKind, Result};
use crate::frame::{
    MESSAGE_BYTES_MAX, SOH, TRAILER_BYTES, body_length, byte_sum, checksum, stated_checksum,
    trailer,
};
use crate::isa::Isa;
use crate::scan::{Index, Scanner, read_digits};

/// Parses messages, and reuses its buffers from message to message.
#[doc(alias = "parser")]
#[derive(Debug, Default)]
pub struct Decoder {
    pub(super) parsed: Parsed,
    pub(super) pairs: DataPairs,
}

impl Decoder {
    /// A decoder that knows the standard's data fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A decoder with one instruction set. `None` if this processor does not have it.
    #[must_use]
    pub fn with_isa(isa: Isa) -> Option<Self> {
        let mut decoder = Self::default();
        decoder.parsed.scanner = Scanner::with_isa(isa)?;
        Some(decoder)
    }

    /// The instruction set in use.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.parsed.scanner.isa()
    }

    /// Replaces the data fields that it knows.
    #[must_use]
    pub fn with_pairs(mut self, pairs: DataPairs) -> Self {
        self.pairs = pairs;
        self
    }

    /// Parses exactly one message.
    ///
    /// A message is returned only if its frame is valid: tags 8, 9 and 35 come first in this order,
    /// BodyLength (9) and CheckSum (10) are correct, 10 comes last, each tag is a number without leading
    /// zeros, each value has at least one byte, and each data field has the length that the field
    /// before it states.
    ///
    /// # Errors
    /// The first thing that is wrong, with its tag and place.
    #[inline]
    pub fn parse<'d, 'm>(&'d mut self, bytes: &'m [u8]) -> Result<Message<'d, 'm>> {
        if bytes.len() >= MESSAGE_BYTES_MAX {
            return Err(Error::new(ErrorKind::TooLong, 0));
        }
        self.parsed
            .scanner
            .index_watched(bytes, &self.pairs.watch, &mut self.parsed.index);
        let marks = self.parsed.index.marks;
        let plain = !(marks.bad | marks.long | marks.watched);
        if !(plain && frame_is_right(bytes, &self.parsed.index)) {
            self.look_closer(bytes)?;
        }
        self.parsed.tabled.set(false);
        Ok(Message {
            front: self.parsed.scanner.front(&self.parsed.index),
            ends: self.parsed.index.ends(),
            parsed: &self.parsed,
            bytes,
        })
    }

    #[cold]
    #[inline(never)]
    fn look_closer(&mut self, bytes: &[u8]) -> Result<()> {
        // Tags may be read again.
        self.parsed.index.has_front = false;
        let read = !self.parsed.index.marks.bad && self.settle(bytes);
        if read && let Some(error) = wrong_sum(bytes, &self.parsed.index) {
            return Err(error);
        }
        if !(read && frame_is_right(bytes, &self.parsed.index)) {
            diagnose::read(
                bytes,
                &self.pairs,
                self.parsed.scanner,
                &mut self.parsed.index,
            )?;
        }
        Ok(())
    }

    /// Reads long tags. Returns whether all tags are valid and none belongs to a data field.
    fn settle(&mut self, bytes: &[u8]) -> bool {
        let count = self.parsed.index.len;
        let (Some(tags), Some(ends)) = (
            self.parsed.index.tags.get_mut(..count),
            self.parsed.index.ends.get(..count),
        ) else {
            return false;
        };
        let mut start = 0;
        for (tag, end) in tags.iter_mut().zip(ends) {
            if self.parsed.index.marks.long {
                let field = bytes.get(start..*end as usize).unwrap_or(&[]);
                let Some(equals) = field.iter().position(|byte| *byte == b'=') else {
                    return false;
                };
                let Some(read) = diagnose::tag(&field[..equals]) else {
                    return false;
                };
                *tag = read;
            }
            if self.pairs.role(*tag) != Role::Neither {
                return false;
            }
            start = *end as usize + 1;
        }
        true
    }
}

/// Whether tags 8, 9, 35 and 10 are in their places and state correct values.
#[inline]
fn frame_is_right(bytes: &[u8], index: &Index) -> bool {
    let count = index.len;
    let (Some([8, 9, 35, ..]), Some([begin, length, ..])) =
        (index.tags.get(..count), index.ends.get(..count))
    else {
        return false;
    };
    let (begin, length) = (*begin as usize, *length as usize);
    let (Some(end), Some(body)) = (bytes.last_chunk(), bytes.len().checked_sub(TRAILER_BYTES))
    else {
        return false;
    };
    let stated = length_at(bytes, begin + 3, length);
    // A separator comes before it, so it is a field of its own, and the last one.
    *end == right_end(*end, index.sum) && stated == Some(body.wrapping_sub(length + 1))
}

/// The error of a message whose fields are valid, where CheckSum alone is wrong: known without reading
/// it again.
fn wrong_sum(bytes: &[u8], index: &Index) -> Option<Error> {
    let count = index.len;
    let (tags, ends) = (index.tags.get(..count)?, index.ends.get(..count)?);
    let ([8, 9, 35, .., 10], [begin, length, .., before, last]) = (tags, ends) else {
        return None;
    };
    let (begin, length) = (*begin as usize, *length as usize);
    let start = bytes.len().checked_sub(TRAILER_BYTES)?;
    let body = start.checked_sub(length + 1)?;
    let ends = (*before as usize + 1, *last as usize + 1) == (start, bytes.len());
    if !ends || length_at(bytes, begin + 3, length) != Some(body) {
        return None;
    }
    let [.., a, b, c, _] = bytes else {
        return None;
    };
    let computed = index.sum.wrapping_sub(checksum(bytes.get(start..)?));
    let stated = [*a, *b, *c];
    let is_right = stated_checksum(stated) == Some(computed);
    (!is_right).then(|| Error::check_sum(start + b"10=".len(), &stated, computed))
}

/// The last eight bytes that a message must have for the sum of all its bytes: a separator and the
/// trailer. `end` is what they are, which the sum includes.
#[inline]
fn right_end(end: [u8; 8], sum: u8) -> [u8; 8] {
    let of_trailer = byte_sum(u64::from_le_bytes(end) >> 8);
    let right = trailer(sum.wrapping_sub(of_trailer as u8));
    (u64::from_le_bytes(right) << 8 | u64::from(SOH)).to_le_bytes()
}

/// BodyLength between two places of a message.
#[inline]
fn length_at(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let word = end.checked_sub(8).and_then(|at| bytes.get(at..end));
    match (word.map(<[u8; 8]>::try_from), end.wrapping_sub(start)) {
        (Some(Ok(word)), digits @ 1..=8) => read_digits(word, digits).map(|length| length as usize),
        _ => body_length(bytes.get(start..end)?),
    }
}
