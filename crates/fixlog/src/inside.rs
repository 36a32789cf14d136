//! Messages inside what a damaged one covers: a message that was cut off, and whose length ends where a later one does,
//! covers all between them. How such bytes are read again is in `messages`.

use fixcore::frame::{Head, START, begin_string_bytes, next_head};
use fixcore::{Decoder, Message, Result};
use memchr::memmem;

/// Bytes of the longest usual BeginString, `FIXT.1.1`.
const BEGIN_STRING_BYTES: usize = 8;

/// Where the next message begins behind the first byte of a damaged one.
#[must_use]
pub fn next_inside(message: &[u8]) -> Option<usize> {
    match next_head(message, 1) {
        Head::At(at) => Some(at),
        Head::NotBefore(_) => None,
    }
}

/// Whether a valid message may be two: BodyLength (9) is there again, or BeginString is no usual one. All tags are looked
/// at at once.
#[inline]
pub(crate) fn may_be_two(message: &Message<'_, '_>) -> bool {
    let behind = message.tags().get(3..).unwrap_or(&[]);
    let again = behind.iter().fold(false, |found, tag| found | (*tag == 9));
    again || message.begin_string().len() > BEGIN_STRING_BYTES
}

/// Where a second message begins in a valid one: CheckSum (10) of a cut message is right by chance once in 256. What
/// stands in data is no field.
#[cold]
pub(crate) fn second(message: &Message<'_, '_>) -> Option<usize> {
    if let Some(at) = memmem::rfind(message.begin_string(), START) {
        return Some(b"8=".len() + at);
    }
    let mut before = None;
    for field in message.fields().skip(2) {
        if let (9, Some(start)) = (field.tag, before) {
            let text = message.bytes().get(start..field.offset)?;
            let begin = memmem::rfind(text, START)?;
            let text = text.get(begin..)?;
            let is_begin = begin_string_bytes(text) + 1 == text.len();
            return is_begin.then_some(start + begin);
        }
        before = Some(field.offset);
    }
    None
}

/// Whether a message has 8, 9 or 35 again: with another fault, it is two messages.
pub(crate) fn is_two(message: &Message<'_, '_>) -> bool {
    let behind = message.tags().get(3..).unwrap_or(&[]);
    behind.iter().any(|tag| matches!(tag, 8 | 9 | 35)) || second(message).is_some()
}

/// Parses a message of a log as [`Decoder::parse`] does, but none in which another one begins.
///
/// # Errors
/// The first thing that is wrong with the message, or with what stands before the other one.
pub fn parse<'d, 'm>(decoder: &'d mut Decoder, bytes: &'m [u8]) -> Result<Message<'d, 'm>> {
    let bytes = up_to_second(decoder, bytes);
    decoder.parse(bytes)
}

/// A message up to the second that begins in it although its length and CheckSum are right; else all of it.
pub(crate) fn up_to_second<'m>(decoder: &mut Decoder, bytes: &'m [u8]) -> &'m [u8] {
    let may_have = memmem::find(bytes.get(1..).unwrap_or(&[]), START).is_some();
    let message = may_have.then(|| decoder.parse(bytes).ok()).flatten();
    let begin = message.as_ref().and_then(second);
    begin.and_then(|at| bytes.get(..at)).unwrap_or(bytes)
}

#[cfg(test)]
mod tests;
