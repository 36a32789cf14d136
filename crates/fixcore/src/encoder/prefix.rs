//! The head of a message before its body: BeginString and BodyLength.

use super::text::digits;
use crate::frame::SOH;

/// The room before the body, for BeginString and BodyLength.
pub(super) const ROOM_BYTES: usize = 64;
/// The room for `8=…` and `9=`; eight digits and a separator fit after them.
const PREFIX_BYTES_MAX: usize = 32;
/// Bodies are shorter than this: at most eight digits.
pub(super) const BODY_BYTES_MAX: usize = 100_000_000;

/// `8=…`, a separator and `9=`, right-aligned in an array.
#[derive(Debug, Clone)]
pub(super) struct Prefix {
    pub(super) bytes: [u8; PREFIX_BYTES_MAX],
    length: usize,
}

impl Prefix {
    /// A BeginString that is too long is cut off.
    pub(super) fn new(begin_string: &str) -> Self {
        let begin = begin_string.as_bytes();
        let begin = &begin[..begin.len().min(PREFIX_BYTES_MAX - 5)];
        let text = [b"8=", begin, &[SOH], b"9="].concat();
        let mut bytes = [0; PREFIX_BYTES_MAX];
        bytes[PREFIX_BYTES_MAX - text.len()..].copy_from_slice(&text);
        Self {
            bytes,
            length: text.len(),
        }
    }

    /// Writes the head before a body. Returns where it begins, and the sum of its digits.
    #[inline]
    pub(super) fn write(&self, buffer: &mut [u8], body_bytes: usize) -> Option<(usize, u32)> {
        let number = digits(body_bytes as u32);
        let room = buffer.first_chunk_mut::<ROOM_BYTES>()?;
        let end = ROOM_BYTES - 1 - number.length;
        room[ROOM_BYTES - 9..ROOM_BYTES - 1].copy_from_slice(&number.right().to_le_bytes());
        room[ROOM_BYTES - 1] = SOH;
        room.get_mut(end.checked_sub(PREFIX_BYTES_MAX)?..end)?
            .copy_from_slice(&self.bytes);
        Some((end - self.length, number.sum()))
    }
}
