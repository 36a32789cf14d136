//! Reads messages that are not valid but whose sender expects an answer: with empty values, and with
//! tags of 0 or below. Only sessions need them, so this is a plain loop.

use super::reader::tag as positive_tag;
use super::{Decoder, Message};
use crate::data::Role;
use crate::error::{Error, ErrorKind, Result};
use crate::frame::{SOH, TRAILER_BYTES, body_length, checksum, stated_checksum};

/// A tag has at most this many bytes: a sign and nine digits.
const TAG_BYTES_MAX: usize = 10;

/// A message as [`Decoder::parse_lenient`] reads it.
#[derive(Debug)]
pub struct LenientMessage<'d, 'm> {
    /// The message. Fields may have empty values, and tags of 0 or below are 0.
    pub message: Message<'d, 'm>,
    /// The first tag of 0 or below.
    pub invalid_tag: Option<i64>,
}

impl LenientMessage<'_, '_> {
    /// What is wrong with BodyLength (9) and CheckSum (10): each of them, where one alone is what
    /// [`Decoder::parse`] names.
    ///
    /// ```
    /// let bytes = b"8=FIX.4.4\x019=6\x0135=0\x0110=256\x01";
    /// let mut decoder = fixcore::Decoder::new();
    /// let found = decoder.parse_lenient(bytes, false)?.frame_faults();
    /// let found: Vec<_> = found.iter().map(|error| error.without_place().to_string()).collect();
    /// assert_eq!(found, [
    ///     "BodyLength (9): stated 6, computed 5",
    ///     "CheckSum (10): stated 256, computed 164",
    /// ]);
    /// # Ok::<(), fixcore::Error>(())
    /// ```
    #[must_use]
    pub fn frame_faults(&self) -> Vec<Error> {
        let (bytes, mut found) = (self.message.bytes(), Vec::new());
        let last = self.message.fields().last().filter(|last| last.tag == 10);
        let Some((last, length)) = last.zip(self.message.field(1)) else {
            return vec![Error::new(ErrorKind::Trailer, bytes.len()).tag_is(10)];
        };
        let value_at = |offset: usize, tag: &[u8]| offset + tag.len();
        let body = length.offset + b"9=".len() + length.value.len() + 1;
        let computed = last.offset.checked_sub(body);
        if body_length(length.value).is_none() || body_length(length.value) != computed {
            let at = value_at(length.offset, b"9=");
            found.push(Error::body_length(at, length.value, computed));
        }
        let sum = checksum(bytes.get(..last.offset).unwrap_or(bytes));
        let stated = last.value.try_into().ok().and_then(stated_checksum);
        if stated != Some(sum) {
            let at = value_at(last.offset, b"10=");
            found.push(Error::check_sum(at, last.value, sum));
        }
        found
    }
}

impl Decoder {
    /// Parses exactly one message like [`parse`](Self::parse), but accepts empty values, tags of 0 and
    /// below, and data fields without a length field before them: what a session answers by a Reject, or
    /// accepts by its settings.
    ///
    /// `checks_frame` says whether BodyLength (9) and CheckSum (10) must be correct.
    ///
    /// ```
    /// let body = b"8=FIX.4.4\x019=10\x0135=0\x01112=\x0110=238\x01";
    /// let mut decoder = fixcore::Decoder::new();
    /// assert!(decoder.parse(body).is_err());
    /// let lenient = decoder.parse_lenient(body, false)?;
    /// assert_eq!(lenient.message.get(112), Some(&b""[..]));
    /// # Ok::<(), fixcore::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first thing that is wrong, with its tag and place.
    pub fn parse_lenient<'d, 'm>(
        &'d mut self,
        bytes: &'m [u8],
        checks_frame: bool,
    ) -> Result<LenientMessage<'d, 'm>> {
        if bytes.len() >= crate::MESSAGE_BYTES_MAX {
            return Err(Error::new(ErrorKind::TooLong, 0));
        }
        let invalid_tag = self.read_lenient(bytes)?;
        if checks_frame {
            self.check_frame(bytes)?;
        }
        self.parsed.renew();
        Ok(LenientMessage {
            message: Message {
                front: self.parsed.index.front(),
                ends: self.parsed.index.ends(),
                parsed: &self.parsed,
                bytes,
            },
            invalid_tag,
        })
    }

    fn read_lenient(&mut self, bytes: &[u8]) -> Result<Option<i64>> {
        let index = &mut self.parsed.index;
        // A field without a value has three bytes; the index has room for fields of four.
        index.start(2 * bytes.len());
        let (mut at, mut invalid_tag, mut due) = (0, None, None);
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or(&[]);
            let head = rest.get(..=TAG_BYTES_MAX).unwrap_or(rest);
            let equals = head.iter().position(|byte| *byte == b'=');
            let equals = equals.ok_or(Error::new(ErrorKind::Tag, at))?;
            let tag = match positive_tag(&head[..equals]) {
                Some(tag) => tag,
                None => {
                    let invalid = nonpositive_tag(&head[..equals]);
                    let invalid = invalid.ok_or(Error::new(ErrorKind::Tag, at))?;
                    invalid_tag.get_or_insert(invalid);
                    0
                }
            };
            let wanted = [8, 9, 35].get(index.len);
            if wanted.is_some_and(|wanted| *wanted != tag) {
                return Err(Error::new(ErrorKind::HeaderOrder, at).tag_is(tag));
            }
            let value = at + equals + 1;
            let end = match due.take().filter(|(data, _)| *data == tag) {
                Some((_, length)) => value + length,
                None => {
                    let end = rest[equals + 1..].iter().position(|byte| *byte == SOH);
                    value + end.ok_or(Error::new(ErrorKind::Unterminated, value).tag_is(tag))?
                }
            };
            match bytes.get(end) {
                Some(&SOH) => {}
                _ => return Err(Error::new(ErrorKind::DataLength, value).tag_is(tag)),
            }
            if let Role::LengthOf(data) = self.pairs.role(tag) {
                due = body_length(&bytes[value..end]).map(|length| (data, length));
            }
            if let (Some(tags), Some(ends)) =
                (index.tags.get_mut(index.len), index.ends.get_mut(index.len))
            {
                (*tags, *ends) = (tag, end as u32);
            }
            index.len += 1;
            at = end + 1;
        }
        match index.len {
            0..4 => Err(Error::new(ErrorKind::HeaderOrder, 0)),
            _ => Ok(invalid_tag),
        }
    }

    /// Whether BodyLength and CheckSum are correct.
    fn check_frame(&self, bytes: &[u8]) -> Result<()> {
        let index = &self.parsed.index;
        let (Some(10), [begin, length, ..]) = (index.tags().last(), index.ends()) else {
            return Err(Error::new(ErrorKind::Trailer, bytes.len()).tag_is(10));
        };
        let (start, body) = (*begin as usize + 3, *length as usize + 1);
        let stated = bytes.get(start..body - 1).unwrap_or(&[]);
        let trailer = bytes.len().saturating_sub(TRAILER_BYTES);
        let computed = trailer.checked_sub(body);
        if body_length(stated).is_none() || body_length(stated) != computed {
            return Err(Error::body_length(start, stated, computed));
        }
        let sum = checksum(bytes.get(..trailer).unwrap_or(bytes));
        match bytes.get(trailer..) {
            Some(&[b'1', b'0', b'=', a, b, c, SOH]) if stated_checksum([a, b, c]) == Some(sum) => {
                Ok(())
            }
            _ => Err(Error::check_sum(trailer + 3, &[], sum)),
        }
    }
}

/// A tag of 0, or a minus sign and digits without a leading zero.
fn nonpositive_tag(text: &[u8]) -> Option<i64> {
    match text {
        b"0" => Some(0),
        [b'-', digits @ ..] => positive_tag(digits).map(|tag| -i64::from(tag)),
        _ => None,
    }
}
