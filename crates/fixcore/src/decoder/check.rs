//! Checks a message by its fields: the frame, and which of several things that are wrong comes first.

use memchr::memrchr;

use super::parsed::value_start;
use super::start::Start;
use crate::error::{Error, ErrorKind, Result};
use crate::frame::{
    SOH, TRAILER_BYTES, body_length, byte_sum, checksum, is_trailer, stated_checksum, trailer,
};
use crate::scan::{Index, Scanner, read_digits};

/// Whether tags 8, 9, 35 and 10 are in their places and state correct values. `start` is what was
/// found there before the fields were read, and it was enough.
#[inline]
pub(super) fn frame_is_right(bytes: &[u8], index: &Index, start: Start) -> bool {
    let (Some([8, 9, 35, .., 10]), Some([begin, length, .., before, _])) =
        (index.tags.get(..index.len), index.ends.get(..index.len))
    else {
        return false;
    };
    let (Some(end), Some(body)) = (bytes.last_chunk(), bytes.len().checked_sub(TRAILER_BYTES))
    else {
        return false;
    };
    let length_is_right = start.ends == [*begin, *length] || {
        let (begin, length) = (*begin as usize, *length as usize);
        length_at(bytes, begin + 3, length) == Some(body.wrapping_sub(length + 1))
    };
    // A data field may have a separator before its last bytes, too.
    *before as usize + 1 == body && *end == right_end(*end, index.sum) && length_is_right
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

/// The place of a field.
struct Place {
    tag: u32,
    start: usize,
    value: usize,
    end: usize,
}

/// A field of the index.
fn place(index: &Index, at: usize) -> Option<Place> {
    let (tag, end) = (*index.tags().get(at)?, *index.ends().get(at)?);
    let start = match at.checked_sub(1) {
        Some(before) => index.ends().get(before)? + 1,
        None => 0,
    };
    Some(Place {
        tag,
        start: start as usize,
        value: value_start(start, tag),
        end: end as usize,
    })
}

/// What is wrong with the first fields of the index, as far as they are there.
pub(super) fn check_start(bytes: &[u8], index: &Index) -> Result<()> {
    for (at, wanted) in [8, 9, 35].into_iter().enumerate() {
        let Some(field) = place(index, at) else {
            break;
        };
        if field.tag != wanted {
            return Err(Error::new(ErrorKind::HeaderOrder, field.start).tag_is(field.tag));
        }
        if at == 1 {
            let stated = bytes.get(field.value..field.end).unwrap_or(&[]);
            check_length(bytes, field.value, field.end, body_length(stated))?;
        }
    }
    Ok(())
}

/// The first of the errors of a message's frame and, after all fields of the index, this one.
pub(super) fn first_error(
    bytes: &[u8],
    scanner: Scanner,
    index: &Index,
    start: Start,
    error: Error,
) -> Error {
    match check_unknown(bytes, index, start) {
        Ok(()) => frame_error(bytes, scanner, index, error),
        Err(first) => first,
    }
}

/// What is wrong with the frame of a message that has all fields of the index and no more.
pub(super) fn check(bytes: &[u8], scanner: Scanner, index: &Index, start: Start) -> Result<()> {
    check_unknown(bytes, index, start)?;
    let Some(last) = index.len.checked_sub(1).and_then(|at| place(index, at)) else {
        return Err(Error::new(ErrorKind::Truncated, bytes.len()));
    };
    check_trailer(bytes, scanner, index, &last)
}

/// Checks the first fields, if what was found there was not enough.
fn check_unknown(bytes: &[u8], index: &Index, start: Start) -> Result<()> {
    match index.ends().first_chunk() == Some(&start.ends) {
        true => Ok(()),
        false => check_start(bytes, index),
    }
}

/// Compares BodyLength, whose value is between two places and states this, with the bytes.
#[inline(always)]
pub(super) fn check_length(
    bytes: &[u8],
    value: usize,
    end: usize,
    length: Option<usize>,
) -> Result<()> {
    let stated = bytes.get(value..end).unwrap_or(&[]);
    let trailer = trailer_start(bytes);
    let wrong = || {
        let body = trailer.and_then(|trailer| trailer.checked_sub(end + 1));
        Err(Error::body_length(value, stated, body))
    };
    let Some(length) = length else {
        return wrong();
    };
    let end = end + 1 + length;
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
fn trailer_start(bytes: &[u8]) -> Option<usize> {
    if let Some((before, last)) = bytes.split_last_chunk::<TRAILER_BYTES>()
        && before.last() == Some(&SOH)
        && is_trailer(last)
    {
        return Some(before.len());
    }
    let (&SOH, fields) = bytes.split_last()? else {
        return None;
    };
    let start = memrchr(SOH, fields)? + 1;
    fields.get(start..)?.starts_with(b"10=").then_some(start)
}

/// Reports an empty BodyLength or CheckSum like any other wrong value of these.
fn frame_error(bytes: &[u8], scanner: Scanner, index: &Index, error: Error) -> Error {
    if error.kind() != ErrorKind::EmptyValue {
        return error;
    }
    let (value, last) = (error.offset(), trailer_start(bytes));
    match error.tag() {
        Some(9) if index.len == 1 => {
            let body = last.and_then(|last| last.checked_sub(value + 1));
            Error::body_length(value, &[], body)
        }
        Some(10) if last == value.checked_sub(b"10=".len()) => {
            let before = last.and_then(|last| bytes.get(..last)).unwrap_or(bytes);
            Error::check_sum(value, &[], scanner.sum(before))
        }
        _ => error,
    }
}

fn check_trailer(bytes: &[u8], scanner: Scanner, index: &Index, last: &Place) -> Result<()> {
    if index.len < 4 {
        return Err(Error::new(ErrorKind::HeaderOrder, last.start));
    }
    if last.tag != 10 {
        return Err(Error::new(ErrorKind::Trailer, last.start).tag_is(last.tag));
    }
    let stated = bytes.get(last.value..last.end).unwrap_or(&[]);
    let field = bytes.get(last.start..).unwrap_or(&[]);
    let of_field = match field.len() {
        TRAILER_BYTES => checksum(field),
        _ => scanner.sum(field),
    };
    let computed = index.sum.wrapping_sub(of_field);
    match stated.try_into().ok().and_then(stated_checksum) == Some(computed) {
        true => Ok(()),
        false => Err(Error::check_sum(last.value, stated, computed)),
    }
}
