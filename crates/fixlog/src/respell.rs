//! Messages of text logs, with the byte 1 in place of what their log has between fields.
//!
//! A separator may also occur within a value. BodyLength (9) and CheckSum (10) count the byte 1, so they
//! say whether every separator ends a field. Where one does not, the message is read [field by
//! field](Respeller::by_fields): data fields by their length, and a value goes on behind a separator that
//! no tag follows.

use fixcore::frame::TRAILER_BYTES;
use fixcore::separator::{TWO_BYTES_ROOM, TwoBytes, fields_to_soh};
use fixcore::{DataPairs, SOH, frame};
use memchr::memchr_iter;

use self::values::Data;

mod json;
mod values;

/// Digits of the longest tag and of the longest length.
const DIGITS_MAX: usize = 9;

/// Finds the end of messages of text logs, and writes them with the byte 1.
#[derive(Debug)]
pub(crate) struct Respeller {
    pairs: DataPairs,
    two_bytes: Option<TwoBytes>,
    /// Longer than the message, which is its first `filled` bytes.
    buffer: Vec<u8>,
    filled: usize,
    /// What the last message had before its length: most messages of a log have the same.
    head: Vec<u8>,
    start: Start,
}

/// How a text begins.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) separator: &'static [u8],
    /// BeginString with its tag.
    begin_bytes: usize,
}

/// What a text states at its start.
struct Head {
    /// Bytes of the text up to the body.
    text_bytes: usize,
    /// BeginString with its tag.
    begin_bytes: usize,
    /// Of the message with the byte 1: where CheckSum begins.
    sum_at: usize,
}

impl Head {
    #[inline]
    fn of(text: &[u8], start: Start) -> Option<Self> {
        let Start {
            separator,
            begin_bytes,
        } = start;
        let before = begin_bytes + separator.len() + b"9=".len();
        let tag = text.get(before - b"9=".len()..before)?;
        let (length, digits) = number(text.get(before..)?)?;
        let behind = text.get(before + digits..)?;
        (tag == b"9=" && starts(behind, separator)).then_some(Self {
            text_bytes: before + digits + separator.len(),
            begin_bytes,
            sum_at: begin_bytes + 1 + b"9=".len() + digits + 1 + length as usize,
        })
    }
}

/// Whether a text begins with a separator, most of which are short.
#[inline]
fn starts(text: &[u8], separator: &[u8]) -> bool {
    match (separator, text) {
        ([byte], [first, ..]) => byte == first,
        ([one, two], [first, second, ..]) => one == first && two == second,
        _ => text.starts_with(separator),
    }
}

/// A number at the start of a text, and how many digits it has: one to nine.
#[inline]
fn number(text: &[u8]) -> Option<(u32, usize)> {
    let mut number = 0;
    for (digits, byte) in text.iter().take(DIGITS_MAX + 1).enumerate() {
        match byte {
            b'0'..=b'9' if digits < DIGITS_MAX => number = number * 10 + u32::from(byte - b'0'),
            _ => {
                return (1..=DIGITS_MAX)
                    .contains(&digits)
                    .then_some((number, digits));
            }
        }
    }
    (1..=DIGITS_MAX)
        .contains(&text.len())
        .then_some((number, text.len()))
}

/// A tag at the start of a text; the place behind its `=`.
#[inline]
fn tag(text: &[u8]) -> Option<(u32, usize)> {
    let (tag, digits) = number(text)?;
    (text.get(digits) == Some(&b'=')).then_some((tag, digits + 1))
}

/// The value of CheckSum at the start of a text: `10=` and three digits.
fn stated_sum(text: &[u8]) -> Option<u8> {
    let digits: &[u8; 3] = text.strip_prefix(b"10=")?.first_chunk()?;
    match number(digits)? {
        (sum, 3) => u8::try_from(sum).ok(),
        _ => None,
    }
}

/// Whether a message may end here: some logs leave the last separator out, and go on with a bracket, a
/// quote, a sign or a column.
#[inline]
fn ends(behind: &[u8], separator: &[u8]) -> bool {
    behind.first().is_none_or(is_end) || starts(behind, separator)
}

/// Whether a byte may stand behind a message without its last separator: colours of a terminal begin with 0x1b.
#[inline]
pub(crate) fn is_end(byte: &u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(byte, b'"' | b'\'' | b')' | b']' | b'}' | b'>' | b'<')
        || matches!(byte, b',' | b'.' | b';' | b':' | b'|' | 0x1b)
}

impl Respeller {
    pub(crate) fn new(pairs: DataPairs) -> Self {
        Self {
            pairs,
            two_bytes: TwoBytes::detect(),
            buffer: Vec::new(),
            filled: 0,
            head: Vec::new(),
            start: Start::default(),
        }
    }

    /// How the text of a message begins, whose separator may be one of the log's `own`; `None` if nothing that is
    /// known separates its fields.
    #[inline]
    pub(crate) fn start(&mut self, text: &[u8], own: Option<&'static [u8]>) -> Option<Start> {
        if !self.head.is_empty() && text.starts_with(&self.head) {
            return Some(self.start);
        }
        let start = Start::of(text, own)?;
        let before = start.begin_bytes + start.separator.len() + b"9=".len();
        if let Some(head) = text.get(..before)
            && head.ends_with(b"9=")
        {
            self.head.clear();
            self.head.extend_from_slice(head);
            self.start = start;
        }
        Some(start)
    }

    /// The message that was written last.
    #[inline]
    pub(crate) fn message(&self) -> &[u8] {
        self.buffer.get(..self.filled).unwrap_or(&[])
    }

    /// The message at the start of a text, up to the first CheckSum (10); see
    /// [`to_soh`](fixcore::separator::to_soh).
    pub(crate) fn by_first_sum(&mut self, text: &[u8], separator: &[u8]) -> Option<usize> {
        let taken = fixcore::separator::to_soh(text, separator, &mut self.buffer);
        self.filled = self.buffer.len();
        taken
    }

    /// A message whose length is right and whose separator is a byte. Returns the place behind its
    /// CheckSum.
    #[inline]
    pub(crate) fn by_byte(&mut self, text: &[u8], start: Start) -> Option<usize> {
        let [separator] = *start.separator else {
            return None;
        };
        let end = frame::end(text, separator)?;
        if !ends(text.get(end..)?, start.separator) {
            return None;
        }
        let from = text.get(..end)?;
        let room = self.room(end + 1);
        let (last, room) = room.split_last_mut()?;
        *last = SOH;
        if separator == SOH {
            room.copy_from_slice(from);
            self.filled = end + 1;
            return Some(end);
        }
        let mut sum = 0_u8;
        for (to, byte) in room.iter_mut().zip(from) {
            *to = if *byte == separator { SOH } else { *byte };
            sum = sum.wrapping_add(*to);
        }
        self.filled = end + 1;
        let trailer = text.get(end - (TRAILER_BYTES - 1)..end)?;
        let before = sum.wrapping_sub(frame::checksum(trailer));
        let is_right = *trailer == frame::checksum_field(before)[..TRAILER_BYTES - 1];
        if !is_right
            && may_be_values(from, before, separator)
            && self.by_fields(text, start).is_none()
        {
            // What was written is no message: the CheckSum is wrong for another reason.
            self.every(from, separator);
        }
        Some(end)
    }

    /// A message whose separator has two bytes or more and whose length is right, if no value has that
    /// separator. It ends within the first `limit` bytes of the text. Returns the place behind its CheckSum.
    pub(crate) fn by_length(&mut self, text: &[u8], limit: usize, start: Start) -> Option<usize> {
        let separator = start.separator;
        let head = Head::of(text, start)?;
        if head.sum_at + TRAILER_BYTES > limit + 1 {
            return None;
        }
        let two_bytes = self.two_bytes;
        let out = self.room(head.sum_at + TRAILER_BYTES + TWO_BYTES_ROOM);
        let at = match (two_bytes, separator) {
            (Some(two_bytes), &[first, second]) if first != second => {
                let line = text.get(..limit)?;
                let at = two_bytes.to_soh(line, [first, second], head.sum_at, out)?;
                line.get(..at)?.ends_with(separator).then_some(at)?
            }
            _ => fields_to_soh(text, limit, separator, head.sum_at, out)?,
        };
        let rest = text.get(at..)?;
        if stated_sum(rest).is_none() || !ends(rest.get(TRAILER_BYTES - 1..)?, separator) {
            return None;
        }
        let field = out.get_mut(head.sum_at..head.sum_at + TRAILER_BYTES)?;
        let (last, field) = field.split_last_mut()?;
        *last = SOH;
        field.copy_from_slice(rest.get(..TRAILER_BYTES - 1)?);
        self.filled = head.sum_at + TRAILER_BYTES;
        let end = at + TRAILER_BYTES - 1;
        (end <= limit).then_some(end)
    }

    /// A message whose length and CheckSum are right, where some separators belong to values. Returns
    /// the place behind its CheckSum.
    #[cold]
    pub(crate) fn by_fields(&mut self, text: &[u8], start: Start) -> Option<usize> {
        // Within data, a separator stands for the byte 1, or for itself.
        let mut data = Data::Respelled;
        let end = self.fields(text, start, &mut data);
        match (end, data) {
            (None, Data::Either) => self.fields(text, start, &mut Data::Itself),
            _ => end,
        }
    }

    /// Writes a text with the byte 1 in place of each separator.
    fn every(&mut self, text: &[u8], separator: u8) {
        let room = self.room(text.len() + 1);
        if let Some((last, room)) = room.split_last_mut() {
            *last = SOH;
            for (to, byte) in room.iter_mut().zip(text) {
                *to = if *byte == separator { SOH } else { *byte };
            }
        }
        self.filled = text.len() + 1;
    }

    /// Room for this many bytes.
    #[inline]
    fn room(&mut self, bytes: usize) -> &mut [u8] {
        if self.buffer.len() < bytes {
            self.buffer.resize(2 * bytes, 0);
        }
        self.buffer.get_mut(..bytes).unwrap_or_default()
    }
}

/// Whether a number of separators within values would explain the CheckSum of a text: each of them that
/// became the byte 1 made the sum smaller by its difference from it. `sum` is that of the message.
fn may_be_values(text: &[u8], sum: u8, separator: u8) -> bool {
    let trailer = text.len().checked_sub(TRAILER_BYTES - 1);
    let Some(stated) = trailer.and_then(|at| stated_sum(text.get(at..)?)) else {
        return false;
    };
    let (missing, each) = (stated.wrapping_sub(sum), separator.wrapping_sub(SOH));
    // BeginString, BodyLength, MsgType and the last field before CheckSum end with one.
    let most = memchr_iter(separator, text).count().saturating_sub(4);
    (1..=most.min(255) as u8).any(|count| count.wrapping_mul(each) == missing)
}

#[cfg(test)]
mod tests;
