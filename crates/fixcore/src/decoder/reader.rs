//! Reads fields one by one. Only this module reports what is wrong with one, and only here are data
//! fields read by their length.

use memchr::memchr;

use crate::data::{DataPairs, Role};
use crate::error::{Error, ErrorKind, Result};
use crate::frame::{SOH, body_length};

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

/// Reads fields one by one, data fields by their length.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    pairs: &'a DataPairs,
    /// Where the next field begins.
    pub(super) at: usize,
    /// The tag of the data field that must come next, and its length.
    due: Option<(u32, usize)>,
}

impl<'a> Reader<'a> {
    /// Reads from the start of a field on.
    pub(super) fn new(bytes: &'a [u8], pairs: &'a DataPairs, at: usize) -> Self {
        Self {
            bytes,
            pairs,
            at,
            due: None,
        }
    }

    /// Whether the next field may be any but a data field.
    pub(super) fn is_free(&self) -> bool {
        self.due.is_none()
    }

    /// The tag and the end of the next field.
    pub(super) fn next(&mut self) -> Result<(u32, usize)> {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or(&[]);
        if rest.first().is_some_and(|byte| !byte.is_ascii_digit()) {
            return Err(Error::new(ErrorKind::Tag, start));
        }
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
                let end = memchr(SOH, &rest[equals + 1..]);
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
        Ok((tag, end))
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
