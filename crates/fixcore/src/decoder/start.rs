//! The start of a message: where BeginString and BodyLength end, and whether BodyLength is correct. It is read
//! before all other fields, so a message that was cut costs little.

use crate::frame::{SOH, TRAILER_BYTES, bytes_before};
use crate::scan::{Watch, last_digits};

/// What is looked at: in shorter messages as much as there is.
const HEAD_BYTES: usize = 32;
/// No message is shorter.
const BYTES_MIN: usize = 16;

/// What is known of the start of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Start {
    /// Where BeginString and BodyLength end; zeros if that is not known.
    pub(super) ends: [u32; 2],
    /// What BodyLength states, if that is known.
    pub(super) body: u32,
    /// Whether no more must be known: BodyLength is correct and MsgType comes next, or the message is too short.
    pub(super) is_enough: bool,
}

/// Some bytes of a message's head; zeros if they are not all there.
#[inline(always)]
fn some<const BYTES: usize>(head: &[u8], at: usize) -> [u8; BYTES] {
    let some = head.get(at..).and_then(<[u8]>::first_chunk);
    some.copied().unwrap_or([0; BYTES])
}

impl Start {
    /// Looks for `8=`, a BeginString of six to thirteen bytes, `9=`, a BodyLength of up to seven digits, and `35=`.
    #[inline]
    pub(super) fn of(bytes: &[u8]) -> Self {
        match bytes.first_chunk::<HEAD_BYTES>() {
            Some(head) => Self::within(head, bytes.len()),
            None if bytes.len() >= BYTES_MIN => Self::within(bytes, bytes.len()),
            None => Self {
                is_enough: true,
                ..Self::default()
            },
        }
    }

    #[inline(always)]
    fn within(head: &[u8], bytes: usize) -> Self {
        let mut start = Self::default();
        let begin = 8 + bytes_before(u64::from_le_bytes(some(head, 8)), SOH);
        let digits = u64::from_le_bytes(some(head, begin + 3));
        // If there are none, the separator is not a digit.
        let count = bytes_before(digits, SOH).max(1);
        let length = begin + 3 + count;
        let digits = digits << (64 - 8 * count);
        let nine = u32::from_le_bytes(some(head, begin)) << 8;
        let nine_is_next = nine == u32::from_le_bytes([0, SOH, b'9', b'=']);
        // More than seven digits are not read here.
        let is_form = nine_is_next && some(head, 0) == *b"8=" && count < 8;
        let stated = last_digits(digits, count as u32).filter(|_| is_form);
        if let Some(body) = stated {
            (start.ends, start.body) = ([begin as u32, length as u32], body);
        }
        let end = stated.map(|body| length + 1 + body as usize + TRAILER_BYTES);
        start.is_enough = end == Some(bytes) && some(head, length) == [SOH, b'3', b'5', b'='];
        start
    }

    /// The ends of BeginString and BodyLength, if these are the first fields.
    #[inline]
    pub(super) fn fields(self, bytes: &[u8], watch: &Watch) -> Option<[u32; 2]> {
        // A separator in the first eight bytes would end BeginString.
        let is_first = bytes_before(u64::from_le_bytes(some(bytes, 0)), SOH) == 8;
        let is_plain = self.ends[0] > 0 && !watch.has(8) && !watch.has(9);
        (is_first && is_plain).then_some(self.ends)
    }
}
