//! What may be wrong with a message.

use rand_xoshiro::SplitMix64;

use super::random::below;
use crate::frame;

/// What is wrong with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Another number in CheckSum (10).
    CheckSum,
    /// Another number in BodyLength (9).
    BodyLength,
    /// A letter in a tag.
    Tag,
    /// A tag that begins with 0.
    LeadingZero,
    /// A field without a value.
    Empty,
    /// The end is missing.
    Truncated,
    /// No CheckSum (10) at the end.
    NoCheckSum,
    /// A field before MsgType (35).
    Order,
    /// A number of bytes that a data field does not have. Messages without data fields get a wrong CheckSum.
    DataLength,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::CheckSum,
        Self::BodyLength,
        Self::Tag,
        Self::LeadingZero,
        Self::Empty,
        Self::Truncated,
        Self::NoCheckSum,
        Self::Order,
        Self::DataLength,
    ];

    /// A message with this fault and no other. `starts` says where the fields of the body begin; there is at least
    /// one. `data` says which of them states the length of a data field.
    pub(super) fn message(
        self,
        begin_string: &str,
        mut body: Vec<u8>,
        (starts, data): (&[usize], Option<usize>),
        random: &mut SplitMix64,
    ) -> Vec<u8> {
        // Behind a data field, what begins with the byte 1 may be data.
        let text = match (self, data) {
            (Self::Empty, Some(data)) => starts.partition_point(|start| *start < data),
            _ => starts.len(),
        };
        let start = starts
            .get(below(random, text as u64) as usize)
            .map_or(0, |start| *start);
        let value = |body: &[u8], start: usize| {
            let rest = body.iter().skip(start);
            start + rest.take_while(|byte| **byte != b'=').count() + 1
        };
        let mut sum_off = 0;
        match self {
            Self::Order => drop(body.splice(..0, *b"1=x\x01")),
            Self::Tag => body[start] = b'x',
            Self::LeadingZero => body[start] = b'0',
            Self::Empty => {
                let from = value(&body, start);
                let rest = body.iter().skip(from);
                let length = rest.take_while(|byte| **byte != frame::SOH).count();
                body.drain(from..from + length);
            }
            Self::DataLength => match data {
                Some(start) => {
                    let at = value(&body, start);
                    match wrong_digit(&body, at) {
                        Some(digit) => body[at] = digit,
                        None => sum_off = 1,
                    }
                }
                None => sum_off = 1,
            },
            Self::CheckSum => sum_off = 1 + below(random, 255) as u8,
            Self::BodyLength | Self::Truncated | Self::NoCheckSum => {}
        }
        let mut out = Vec::new();
        frame::write(begin_string.as_bytes(), &body, &mut out);
        let sum = frame::checksum(&out[..out.len() - frame::TRAILER_BYTES]);
        match self {
            Self::BodyLength => {
                // The last digit of BodyLength.
                let at = out.iter().position(|byte| *byte == frame::SOH).unwrap_or(0);
                let length = out.iter().skip(at + 1).position(|byte| *byte == frame::SOH);
                let digit = at + length.unwrap_or(0);
                out[digit] = if out[digit] == b'9' {
                    b'0'
                } else {
                    out[digit] + 1
                };
                frame::update_checksum(&mut out);
            }
            Self::Truncated => {
                let left = 1 + below(random, out.len() as u64 - 1) as usize;
                out.truncate(left);
            }
            Self::NoCheckSum => out.truncate(out.len() - frame::TRAILER_BYTES),
            _ if sum_off > 0 => {
                let end = out.len() - frame::TRAILER_BYTES;
                out.truncate(end);
                out.extend_from_slice(&frame::checksum_field(sum.wrapping_add(sum_off)));
            }
            _ => {}
        }
        out
    }
}

/// The first digit of a length, at this place, that makes it wrong: the data does not end with a field that
/// follows it, as it would by chance.
fn wrong_digit(body: &[u8], at: usize) -> Option<u8> {
    let length = body.get(at..)?;
    let digits = length.iter().position(|byte| *byte == frame::SOH)?;
    let length = length.get(..digits)?;
    let tag = body.get(at + digits + 1..)?;
    let data = tag.get(tag.iter().position(|byte| *byte == b'=')? + 1..)?;
    let rest = length.get(1..)?;
    (b'1'..=b'9').find(|first| {
        let digits = [*first].into_iter().chain(rest.iter().copied());
        let bytes = digits.fold(0_usize, |bytes, digit| {
            bytes * 10 + usize::from(digit.wrapping_sub(b'0'))
        });
        length.first() != Some(first) && data.get(bytes) != Some(&frame::SOH)
    })
}
