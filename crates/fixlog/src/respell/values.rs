//! A message whose values have the separator of its log, field by field.

use fixcore::frame::TRAILER_BYTES;
use fixcore::{SOH, frame};
use memchr::memchr_iter;

use super::{Head, Respeller, Start, ends, number, stated_sum, tag};

impl Respeller {
    pub(super) fn fields(&mut self, text: &[u8], start: Start, data: &mut Data) -> Option<usize> {
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
                Some((data, bytes)) if data == tag => spelling.end(value, bytes, separator, out)?,
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
pub(super) enum Data {
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
