//! The start of a message: where BeginString and BodyLength end, and whether BodyLength is correct. It is read
//! before all other fields, so a message that was cut costs little.

use crate::frame::{SOH, TRAILER_BYTES};
use crate::scan::{Watch, read_digits};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
/// Shorter messages are not looked at here.
const BYTES_MIN: usize = 32;

/// What is known of the start of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Start {
    /// Where BeginString and BodyLength end; zeros if that is not known.
    pub(super) ends: [u32; 2],
    /// Whether no more must be known: BodyLength is correct and MsgType comes next, or the message is short.
    pub(super) is_enough: bool,
}

/// Some bytes of a message's head. The caller knows that they are there.
#[inline(always)]
fn some<const BYTES: usize>(head: &[u8; BYTES_MIN], at: usize) -> [u8; BYTES] {
    let some = head.get(at..).and_then(<[u8]>::first_chunk);
    some.copied().unwrap_or([0; BYTES])
}

/// How many bytes of a word come before its first separator; 8 if there is none.
#[inline(always)]
fn before_soh(word: u64) -> usize {
    let differs = word ^ ONES;
    // The lowest of these bits is exact.
    let zeros = differs.wrapping_sub(ONES) & !differs & HIGHS;
    zeros.trailing_zeros() as usize / 8
}

impl Start {
    /// Looks for `8=`, a BeginString of six to thirteen bytes, `9=`, a BodyLength of up to seven digits, and `35=`.
    #[inline]
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut start = Self {
            ends: [0; 2],
            is_enough: true,
        };
        let Some(head) = bytes.first_chunk() else {
            return start;
        };
        let begin = 8 + before_soh(u64::from_le_bytes(some(head, 8)));
        let digits = u64::from_le_bytes(some(head, begin + 3));
        // If there are none, the separator is not a digit.
        let count = before_soh(digits).max(1);
        let length = begin + 3 + count;
        let digits = (digits << (64 - 8 * count)).to_le_bytes();
        let stated = read_digits(digits, count).filter(|_| {
            let nine = u32::from_le_bytes(some(head, begin)) << 8;
            let nine_is_next = nine == u32::from_le_bytes([0, SOH, b'9', b'=']);
            // More than eight digits are not read here.
            nine_is_next && some(head, 0) == *b"8=" && count < 8
        });
        if stated.is_some() {
            start.ends = [begin as u32, length as u32];
        }
        let end = stated.map(|body| length + 1 + body as usize + TRAILER_BYTES);
        start.is_enough = end == Some(bytes.len()) && some(head, length) == [SOH, b'3', b'5', b'='];
        start
    }

    /// The ends of BeginString and BodyLength, if these are the first fields.
    #[inline]
    pub(super) fn fields(self, bytes: &[u8], watch: &Watch) -> Option<[u32; 2]> {
        let head = bytes.first_chunk()?;
        // A separator in the first eight bytes would end BeginString.
        let is_first = before_soh(u64::from_le_bytes(some(head, 0))) == 8;
        let is_plain = self.ends[0] > 0 && !watch.has(8) && !watch.has(9);
        (is_first && is_plain).then_some(self.ends)
    }
}
