//! Messages of text logs, with the byte 1 in place of what their log has between fields.
//!
//! A separator may also occur within a value. BodyLength (9) and CheckSum (10) count the byte 1, so they
//! say whether every separator ends a field. Where one does not, the message is read [field by
//! field](Respeller::by_fields): data fields by their length, and a value goes on behind a separator that
//! no tag follows.

use fixcore::frame::{TRAILER_BYTES, begin_string_bytes};
use fixcore::{DataPairs, SOH, frame, separator};
use memchr::memchr_iter;

/// Fields up to this long are copied in one go.
const COPY_BYTES: usize = 32;
/// Bytes that are searched for separators at once.
const BLOCK_BYTES: usize = 64;
/// Digits of the longest tag and of the longest length.
const DIGITS_MAX: usize = 9;

/// Finds the end of messages of text logs, and writes them with the byte 1.
#[derive(Debug)]
pub(crate) struct Respeller {
    pairs: DataPairs,
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
            _ => return (1..=DIGITS_MAX).contains(&digits).then_some((number, digits)),
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

/// Whether a message may end here: some logs leave the last separator out.
#[inline]
fn ends(behind: &[u8], separator: &[u8]) -> bool {
    behind.first().is_none_or(u8::is_ascii_whitespace) || starts(behind, separator)
}

impl Respeller {
    pub(crate) fn new(pairs: DataPairs) -> Self {
        Self {
            pairs,
            buffer: Vec::new(),
            filled: 0,
            head: Vec::new(),
            start: Start::default(),
        }
    }

    /// How the text of a message begins; `None` if nothing that is known separates its fields.
    #[inline]
    pub(crate) fn start(&mut self, text: &[u8]) -> Option<Start> {
        if !self.head.is_empty() && text.starts_with(&self.head) {
            return Some(self.start);
        }
        let start = Start {
            separator: separator::detect(text)?,
            begin_bytes: begin_string_bytes(text),
        };
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
        let head = Head::of(text, start)?;
        let end = head.sum_at + TRAILER_BYTES - 1;
        match text.get(head.sum_at - 1..end)? {
            [before, b'1', b'0', b'=', digits @ ..]
                if *before == separator && digits.iter().all(u8::is_ascii_digit) => {}
            _ => return None,
        }
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
    /// separator. Returns the place behind its CheckSum.
    pub(crate) fn by_length(&mut self, text: &[u8], start: Start) -> Option<usize> {
        let separator = start.separator;
        let head = Head::of(text, start)?;
        if head.sum_at + TRAILER_BYTES > text.len() + 1 {
            return None;
        }
        let out = self.room(head.sum_at + TRAILER_BYTES + COPY_BYTES);
        let at = fields_to_soh(text, separator, head.sum_at, out)?;
        let rest = text.get(at..)?;
        if stated_sum(rest).is_none() || !ends(rest.get(TRAILER_BYTES - 1..)?, separator) {
            return None;
        }
        let field = out.get_mut(head.sum_at..head.sum_at + TRAILER_BYTES)?;
        let (last, field) = field.split_last_mut()?;
        *last = SOH;
        field.copy_from_slice(rest.get(..TRAILER_BYTES - 1)?);
        self.filled = head.sum_at + TRAILER_BYTES;
        Some(at + TRAILER_BYTES - 1)
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

    fn fields(&mut self, text: &[u8], start: Start, data: &mut Data) -> Option<usize> {
        let separator = start.separator;
        let head = Head::of(text, start)?;
        if head.sum_at + TRAILER_BYTES > text.len() + 1 {
            return None;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend_from_slice(text.get(..head.begin_bytes)?);
        buffer.push(SOH);
        let length = head.begin_bytes + separator.len()..head.text_bytes - separator.len();
        buffer.extend_from_slice(text.get(length)?);
        buffer.push(SOH);
        let end = self.body(text, separator, data, &head, &mut buffer);
        self.filled = buffer.len();
        self.buffer = buffer;
        end
    }

    /// Appends the fields behind BodyLength.
    fn body(
        &self,
        text: &[u8],
        separator: &[u8],
        spelling: &mut Data,
        head: &Head,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let mut at = head.text_bytes;
        let mut due = None;
        while out.len() < head.sum_at {
            let field = text.get(at..)?;
            let (tag, start) = tag(field)?;
            out.extend_from_slice(&field[..start]);
            let value = field.get(start..)?;
            let length = match due.take() {
                Some((data, bytes)) if data == tag => {
                    spelling.end(value, bytes, separator, out)?
                }
                _ => {
                    let length = text_end(value, separator)?;
                    out.extend_from_slice(value.get(..length)?);
                    length
                }
            };
            due = self.data_of(tag).and_then(|data| {
                let (bytes, digits) = number(value.get(..length)?)?;
                (digits == length).then_some((data, bytes as usize))
            });
            out.push(SOH);
            at += start + length + separator.len();
        }
        let rest = text.get(at..)?;
        let stated = stated_sum(rest)?;
        let ends = ends(rest.get(TRAILER_BYTES - 1..)?, separator);
        if out.len() != head.sum_at || !ends || stated != frame::checksum(out) {
            return None;
        }
        out.extend_from_slice(rest.get(..TRAILER_BYTES - 1)?);
        out.push(SOH);
        Some(at + TRAILER_BYTES - 1)
    }

    /// The tag of the data field whose length a field with this tag states.
    fn data_of(&self, tag: u32) -> Option<u32> {
        let pairs = self.pairs.pairs();
        let at = pairs.binary_search_by_key(&tag, |pair| pair.0).ok()?;
        pairs.get(at).map(|pair| pair.1)
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

/// Writes a text up to CheckSum, which begins at `sum_at` of the message. Returns where it begins in the
/// text; `None` if no field ends there.
#[inline]
fn fields_to_soh(text: &[u8], separator: &[u8], sum_at: usize, out: &mut [u8]) -> Option<usize> {
    match *separator {
        [first, other] => {
            let follows = |at: usize| text.get(at + 1) == Some(&other);
            fields_until(text, first, 2, follows, sum_at, out)
        }
        [first, ref others @ ..] => {
            let follows = |at: usize| text.get(at + 1..).is_some_and(|rest| rest.starts_with(others));
            fields_until(text, first, separator.len(), follows, sum_at, out)
        }
        [] => None,
    }
}

/// The same, where a separator has this first byte and so many in all, and `follows` says whether the
/// others follow it.
#[inline(always)]
fn fields_until(
    text: &[u8],
    first: u8,
    separator_bytes: usize,
    follows: impl Fn(usize) -> bool,
    sum_at: usize,
    out: &mut [u8],
) -> Option<usize> {
    let (mut from, mut end, mut block) = (0, 0, 0);
    while block < text.len() {
        let mut found = places(text, block, first);
        while found != 0 {
            let at = block + found.trailing_zeros() as usize;
            found &= found - 1;
            if at < from || !follows(at) {
                continue;
            }
            let length = at - from;
            if end + length >= sum_at {
                return None;
            }
            let whole = text.get(from..from + COPY_BYTES);
            match (whole, out.get_mut(end..end + COPY_BYTES)) {
                (Some(from), Some(to)) if length <= COPY_BYTES => to.copy_from_slice(from),
                _ => out
                    .get_mut(end..end + length)?
                    .copy_from_slice(text.get(from..at)?),
            }
            end += length + 1;
            *out.get_mut(end - 1)? = SOH;
            from = at + separator_bytes;
            if end == sum_at {
                return Some(from);
            }
        }
        block += BLOCK_BYTES;
    }
    None
}

/// Where a byte is among the 64 from `start` on: a bit for each.
///
/// A search that begins anew at each separator costs more than the few bytes of a field.
#[inline]
fn places(text: &[u8], start: usize, byte: u8) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let rest = text.get(start..).unwrap_or(&[]);
    let mut last = [byte ^ 1; BLOCK_BYTES];
    let block = match rest.first_chunk::<BLOCK_BYTES>() {
        Some(block) => block,
        None => {
            if let Some(to) = last.get_mut(..rest.len()) {
                to.copy_from_slice(rest);
            }
            &last
        }
    };
    let wanted = u64::from_le_bytes([byte; 8]);
    let mut bits = 0;
    for (number, word) in block.as_chunks::<8>().0.iter().enumerate() {
        let other = u64::from_le_bytes(*word) ^ wanted;
        // The highest bit of each byte that is 0.
        let zero = !(((other & LOW) + LOW) | other | LOW);
        bits |= zero >> (7 - number);
    }
    // Byte n has the bits of the bytes n of all words: a square of bits, which is mirrored.
    let mut swap = (bits ^ (bits >> 7)) & 0x00aa_00aa_00aa_00aa;
    bits ^= swap ^ (swap << 7);
    swap = (bits ^ (bits >> 14)) & 0x0000_cccc_0000_cccc;
    bits ^= swap ^ (swap << 14);
    swap = (bits ^ (bits >> 28)) & 0x0000_0000_f0f0_f0f0;
    bits ^ swap ^ (swap << 28)
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

/// Where a value ends: at the first separator that a tag follows.
fn text_end(value: &[u8], separator: &[u8]) -> Option<usize> {
    let (first, others) = separator.split_first()?;
    let found = memchr_iter(*first, value).find(|at| {
        let behind = value.get(at + 1..).unwrap_or(&[]);
        let next = behind.strip_prefix(others);
        next.is_some_and(|next| tag(next).is_some())
    });
    found.filter(|length| *length > 0)
}

/// What a separator within data fields stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Data {
    /// The byte 1, and there was none so far.
    Respelled,
    /// The byte 1, or itself: a data field has one.
    Either,
    Itself,
}

impl Data {
    /// Appends a data field of this many bytes. Returns how many it has in the text, where a tag has to
    /// follow it.
    fn end(
        &mut self,
        value: &[u8],
        bytes: usize,
        separator: &[u8],
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let mut length = bytes;
        if *self == Self::Itself {
            out.extend_from_slice(value.get(..bytes)?);
        } else {
            length = 0;
            let end = out.len() + bytes;
            while out.len() < end {
                let rest = value.get(length..)?;
                if rest.starts_with(separator) {
                    *self = Self::Either;
                    out.push(SOH);
                    length += separator.len();
                } else {
                    out.push(*rest.first()?);
                    length += 1;
                }
            }
        }
        let next = value.get(length..)?.strip_prefix(separator)?;
        tag(next).map(|_| length)
    }
}

#[cfg(test)]
mod tests;
