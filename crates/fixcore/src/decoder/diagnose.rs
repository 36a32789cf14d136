//! Reads a message field by field. Only this module reports what is wrong with one, and only here are
//! data fields read by their length.

use crate::data::{DataPairs, Role};
use crate::error::{Error, ErrorKind, Result};
use crate::frame::{SOH, TRAILER_BYTES, body_length, checksum, stated_checksum};
use crate::scan::{Index, Marks, Scanner};

/// The number of a tag: one to nine digits without a leading zero.
pub(super) fn tag(digits: &[u8]) -> Option<u32> {
    if !(1..=9).contains(&digits.len()) || digits.first() == Some(&b'0') {
        return None;
    }
    let mut value = 0;
    for digit in digits {
        value = value * 10 + u32::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
    }
    Some(value)
}

/// The place of a field.
struct Place {
    tag: u32,
    start: usize,
    value: usize,
    end: usize,
}

/// Reads fields one by one, data fields by their length.
struct Reader<'a> {
    bytes: &'a [u8],
    pairs: &'a DataPairs,
    at: usize,
    /// The tag of the data field that must come next, and its length.
    due: Option<(u32, usize)>,
}

impl Reader<'_> {
    fn next(&mut self) -> Result<Place> {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or(&[]);
        // A tag has up to nine digits.
        let head = rest.get(..10).unwrap_or(rest);
        let equals = head.iter().position(|byte| *byte == b'=');
        let Some(equals) = equals else {
            let whole = head.len() < 10 && head.iter().all(u8::is_ascii_digit);
            let kind = if whole {
                ErrorKind::Truncated
            } else {
                ErrorKind::Tag
            };
            return Err(Error::new(kind, start));
        };
        let tag = tag(&head[..equals]).ok_or(Error::new(ErrorKind::Tag, start))?;
        let value = start + equals + 1;
        let end = match self.due.take() {
            Some((data, length)) if data == tag => self.data_end(tag, value, length)?,
            Some((data, _)) => return Err(Error::new(ErrorKind::DataPair, start).tag_is(data)),
            None if self.pairs.role(tag) == Role::Data => {
                return Err(Error::new(ErrorKind::DataPair, start).tag_is(tag));
            }
            None => {
                let rest = &rest[equals + 1..];
                let end = rest.iter().position(|byte| *byte == SOH);
                value + end.ok_or(Error::new(ErrorKind::Unterminated, value).tag_is(tag))?
            }
        };
        if end == value {
            return Err(Error::new(ErrorKind::EmptyValue, value).tag_is(tag));
        }
        if let Role::LengthOf(data) = self.pairs.role(tag) {
            let stated = body_length(&self.bytes[value..end]);
            let length = stated.ok_or(Error::new(ErrorKind::DataLength, value).tag_is(tag))?;
            self.due = Some((data, length));
        }
        self.at = end + 1;
        Ok(Place {
            tag,
            start,
            value,
            end,
        })
    }

    fn data_end(&self, tag: u32, value: usize, length: usize) -> Result<usize> {
        let end = value + length;
        match self.bytes.get(end) {
            Some(&SOH) => Ok(end),
            Some(_) => Err(Error::new(ErrorKind::DataLength, end).tag_is(tag)),
            None => Err(Error::new(ErrorKind::Truncated, value).tag_is(tag)),
        }
    }
}

/// Reads a message into the index, or reports what is wrong with it.
pub(super) fn read(
    bytes: &[u8],
    pairs: &DataPairs,
    scanner: Scanner,
    index: &mut Index,
) -> Result<()> {
    index.reserve(bytes.len());
    index.len = 0;
    let mut reader = Reader {
        bytes,
        pairs,
        at: 0,
        due: None,
    };
    let mut body_start = 0;
    while reader.at < bytes.len() {
        let field = match reader.next() {
            Ok(field) => field,
            Err(error) => return Err(frame_error(bytes, index.len, error)),
        };
        let wanted = [8, 9, 35].get(index.len);
        if wanted.is_some_and(|wanted| *wanted != field.tag) {
            return Err(Error::new(ErrorKind::HeaderOrder, field.start).tag_is(field.tag));
        }
        if index.len == 1 {
            body_start = field.end + 1;
            check_length(bytes, &field)?;
        }
        let slots = (index.tags.get_mut(index.len), index.ends.get_mut(index.len));
        if let (Some(tag), Some(end)) = slots {
            (*tag, *end) = (field.tag, field.end as u32);
        }
        index.len += 1;
        if reader.at == bytes.len() {
            index.marks = Marks::default();
            index.sum = scanner.sum(bytes);
            return check_trailer(bytes, index, &field, body_start);
        }
    }
    Err(Error::new(ErrorKind::Truncated, bytes.len()))
}

/// Compares BodyLength with the bytes.
fn check_length(bytes: &[u8], field: &Place) -> Result<()> {
    let stated = &bytes[field.value..field.end];
    let trailer = trailer(bytes);
    let wrong = || {
        let body = trailer.and_then(|trailer| trailer.checked_sub(field.end + 1));
        Err(Error::body_length(field.value, stated, body))
    };
    let Some(length) = body_length(stated) else {
        return wrong();
    };
    let end = field.end + 1 + length;
    if trailer == Some(end) || end + TRAILER_BYTES == bytes.len() {
        return Ok(());
    }
    // A message with a CheckSum at its end is not truncated.
    match end + TRAILER_BYTES > bytes.len() && trailer.is_none() {
        true => Err(Error::new(ErrorKind::Truncated, bytes.len())),
        false => wrong(),
    }
}

/// Where CheckSum begins, if the bytes end with it, whatever it states.
fn trailer(bytes: &[u8]) -> Option<usize> {
    let (&SOH, fields) = bytes.split_last()? else {
        return None;
    };
    let start = fields.iter().rposition(|byte| *byte == SOH)? + 1;
    fields[start..].starts_with(b"10=").then_some(start)
}

/// Reports an empty BodyLength or CheckSum like any other wrong value of these.
fn frame_error(bytes: &[u8], fields: usize, error: Error) -> Error {
    if error.kind() != ErrorKind::EmptyValue {
        return error;
    }
    let (value, last) = (error.offset(), trailer(bytes));
    match error.tag() {
        Some(9) if fields == 1 => {
            let body = last.and_then(|last| last.checked_sub(value + 1));
            Error::body_length(value, &[], body)
        }
        Some(10) if last == value.checked_sub(b"10=".len()) => {
            let before = value
                .checked_sub(b"10=".len())
                .and_then(|at| bytes.get(..at));
            Error::check_sum(value, &[], checksum(before.unwrap_or(bytes)))
        }
        _ => error,
    }
}

fn check_trailer(bytes: &[u8], index: &Index, last: &Place, body_start: usize) -> Result<()> {
    if index.len < 4 {
        return Err(Error::new(ErrorKind::HeaderOrder, last.start));
    }
    if last.tag != 10 {
        return Err(Error::new(ErrorKind::Trailer, last.start).tag_is(last.tag));
    }
    if last.start < body_start {
        return Err(Error::new(ErrorKind::BodyLength, body_start).tag_is(9));
    }
    let stated = &bytes[last.value..last.end];
    let computed = index.sum.wrapping_sub(checksum(&bytes[last.start..]));
    match stated.try_into().ok().and_then(stated_checksum) == Some(computed) {
        true => Ok(()),
        false => Err(Error::check_sum(last.value, stated, computed)),
    }
}
