//! The frame of a message: BodyLength (9) before its body and CheckSum (10) after it.
//!
//! For programs that find, change or rewrite messages as bytes. Messages in a stream are found by a
//! [`Framer`](crate::Framer), checked by a [`Decoder`](crate::Decoder) and written by an
//! [`Encoder`](crate::Encoder), all of which stand on this module. Logs that replace the separator are
//! read by [`separator`](crate::separator).

use memchr::{memchr, memmem};

/// The byte that ends each field: the separator.
#[doc(alias = "separator")]
#[doc(alias = "delimiter")]
pub const SOH: u8 = 1;

/// Messages are shorter than this: positions are numbers of 32 bits, with room to add to them.
pub const MESSAGE_BYTES_MAX: usize = 1 << 28;

/// The first bytes of every message.
pub const START: &[u8] = b"8=FIX";

/// The length of `10=163` with the separator after it.
pub const TRAILER_BYTES: usize = 7;

/// Digits of the longest BodyLength that is read.
const LENGTH_DIGITS_MAX: usize = 9;

/// BeginString ends within this many bytes.
const BEGIN_BYTES_MAX: usize = 64;

/// The sum of all bytes, modulo 256: the value of CheckSum (10) for the bytes before it.
///
/// ```
/// assert_eq!(fixcore::frame::checksum(b"8=FIX.4.4\x019=5\x0135=0\x01"), 163);
/// ```
#[doc(alias = "CheckSum")]
#[inline]
#[must_use]
pub fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// CheckSum (10) as a field: its tag, three digits and the separator.
///
/// ```
/// assert_eq!(&fixcore::frame::checksum_field(7), b"10=007\x01");
/// ```
#[must_use]
pub fn checksum_field(sum: u8) -> [u8; TRAILER_BYTES] {
    let [field @ .., _] = trailer(sum);
    field
}

/// Computes CheckSum (10) again after the bytes of a message were changed in place.
///
/// Returns `false`, and changes nothing, if the message does not end with `10=`, three digits and the
/// separator.
///
/// ```
/// let mut message = *b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01";
/// message[17] = b'1';
/// assert!(fixcore::frame::update_checksum(&mut message));
/// assert!(message.ends_with(b"10=164\x01"));
/// ```
#[doc(alias = "CheckSum")]
pub fn update_checksum(message: &mut [u8]) -> bool {
    let Some((before, field)) = message.split_last_chunk_mut::<TRAILER_BYTES>() else {
        return false;
    };
    let is_field = matches!(field, [b'1', b'0', b'=', digits @ .., SOH] if digits.iter().all(u8::is_ascii_digit));
    if is_field {
        *field = checksum_field(checksum(before));
    }
    is_field
}

/// Appends a message: `8=` with this BeginString, BodyLength (9), the body, CheckSum (10).
///
/// The body is the fields from MsgType (35) on, each with the separator after it. Nothing of it is
/// checked.
///
/// ```
/// let mut message = Vec::new();
/// fixcore::frame::write(b"FIX.4.4", b"35=0\x01", &mut message);
/// assert_eq!(message, b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01");
/// ```
#[doc(alias = "BodyLength")]
pub fn write(begin_string: &[u8], body: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(b"8=");
    out.extend_from_slice(begin_string);
    out.extend_from_slice(b"\x019=");
    out.extend_from_slice(body.len().to_string().as_bytes());
    out.push(SOH);
    out.extend_from_slice(body);
    let sum = out.get(start..).map_or(0, checksum);
    out.extend_from_slice(&checksum_field(sum));
}

/// How many bytes `8=` and BeginString have at the start of a text: up to the first byte that
/// BeginString cannot contain.
///
/// ```
/// assert_eq!(fixcore::frame::begin_string_bytes(b"8=FIX.4.4|9=5|35=0|"), 9);
/// ```
#[must_use]
pub fn begin_string_bytes(text: &[u8]) -> usize {
    let in_begin = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'=');
    let head = text.get(..BEGIN_BYTES_MAX).unwrap_or(text);
    let found = head.iter().position(|byte| !in_begin(byte));
    found.unwrap_or(head.len())
}

/// Where a message begins, as far as a text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// At this byte.
    At(usize),
    /// Not before this byte: more of the text may show one there.
    NotBefore(usize),
}

/// Finds the next message at or behind `from`: BeginString (8) that begins with `FIX`, and a digit of BodyLength
/// (9). To find where a message goes on after one that is garbled; a value like `58=FIX is down` is none.
///
/// ```
/// use fixcore::frame::{Head, next_head};
///
/// let text = b"8=FIX.4.4\x019=900\x0158=8=FIX\x018=FIX.4.4\x019=5\x0135=0\x01";
/// assert_eq!(next_head(text, 0), Head::At(0));
/// assert_eq!(next_head(text, 1), Head::At(25));
/// assert_eq!(next_head(&text[..36], 1), Head::NotBefore(25));
/// ```
#[must_use]
pub fn next_head(text: &[u8], from: usize) -> Head {
    let mut from = from;
    while let Some(found) = memmem::find(text.get(from..).unwrap_or(&[]), START) {
        let at = from + found;
        let begin = at + begin_string_bytes(text.get(at..).unwrap_or(&[]));
        match text.get(begin..).unwrap_or(&[]) {
            [SOH, b'9', b'=', b'0'..=b'9', ..] => return Head::At(at),
            [] if begin - at < BEGIN_BYTES_MAX => return Head::NotBefore(at),
            [SOH] | [SOH, b'9'] | [SOH, b'9', b'='] => return Head::NotBefore(at),
            _ => from = at + START.len(),
        }
    }
    Head::NotBefore(from.max(text.len().saturating_sub(START.len() - 1)))
}

/// Where the message at the start of a text ends according to its BodyLength (9): the place after
/// the last digit of CheckSum (10). Fields may be separated by any byte.
///
/// Whether a separator follows is the caller's to check: some logs leave the last one out. `None` if
/// the text is shorter than the length says, or states no length, or has no CheckSum there.
///
/// ```
/// let text = b"8=FIX.4.4|9=5|35=0|10=163\n";
/// assert_eq!(fixcore::frame::end(text, b'|'), Some(25));
/// ```
#[inline]
#[must_use]
pub fn end(text: &[u8], separator: u8) -> Option<usize> {
    let mut at = memchr(separator, text)? + 1;
    if text.get(at..at + 2) != Some(b"9=") {
        return None;
    }
    at += 2;
    let mut body = 0_usize;
    for _ in 0..LENGTH_DIGITS_MAX {
        match text.get(at) {
            Some(digit @ b'0'..=b'9') => body = body * 10 + usize::from(digit - b'0'),
            _ => break,
        }
        at += 1;
    }
    let end = at + 1 + body + TRAILER_BYTES - 1;
    let is_separator = |at: usize| text.get(at) == Some(&separator);
    match text.get(end - 6..end) {
        Some([b'1', b'0', b'=', digits @ ..])
            if is_separator(at)
                && is_separator(end - TRAILER_BYTES)
                && digits.iter().all(u8::is_ascii_digit) =>
        {
            Some(end)
        }
        _ => None,
    }
}

/// The value of BodyLength (9): one to nine digits, leading zeros allowed.
#[inline]
pub(crate) fn body_length(value: &[u8]) -> Option<usize> {
    if value.is_empty() || value.len() > LENGTH_DIGITS_MAX {
        return None;
    }
    let mut length = 0;
    for digit in value {
        length = length * 10 + usize::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
    }
    Some(length)
}

/// The value of CheckSum (10): three digits that are a byte.
#[inline]
pub(crate) fn stated_checksum(value: [u8; 3]) -> Option<u8> {
    let mut sum = 0_u16;
    for digit in value {
        sum = sum * 10 + u16::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
    }
    u8::try_from(sum).ok()
}

/// Whether these bytes are CheckSum (10) with three bytes, whatever it states, and nothing else.
#[inline]
pub(crate) fn is_trailer(bytes: &[u8]) -> bool {
    matches!(bytes, [b'1', b'0', b'=', value @ .., SOH] if value.len() == 3 && !value.contains(&SOH))
}

/// The highest bits of the bytes of a word that are `is`; those above the lowest one may be wrong.
#[inline(always)]
pub(crate) fn marked(word: u64, is: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let differs = word ^ (ONES * u64::from(is));
    differs.wrapping_sub(ONES) & !differs & (ONES << 7)
}

/// How many bytes of a little-endian word come before the first that is `is`; 8 if there is none.
#[inline(always)]
pub(crate) fn bytes_before(word: u64, is: u8) -> usize {
    marked(word, is).trailing_zeros() as usize / 8
}

/// The sum of eight bytes, which is below 65,536.
#[inline]
pub(crate) fn byte_sum(word: u64) -> u32 {
    let pairs = (word & 0x00ff_00ff_00ff_00ff) + (word >> 8 & 0x00ff_00ff_00ff_00ff);
    (pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u32
}

/// The end of a message for each sum: three digits and the byte 1.
static TRAILERS: [[u8; 4]; 256] = {
    let mut all = [[0, 0, 0, 1]; 256];
    let mut sum = 0;
    while sum < 256 {
        all[sum][0] = b'0' + (sum / 100) as u8;
        all[sum][1] = b'0' + (sum / 10 % 10) as u8;
        all[sum][2] = b'0' + (sum % 10) as u8;
        sum += 1;
    }
    all
};

/// `10=`, three digits, the separator, and a zero byte that fills a register.
#[inline]
pub(crate) fn trailer(sum: u8) -> [u8; 8] {
    let digits = u32::from_le_bytes(TRAILERS[usize::from(sum)]);
    let tag = u32::from_le_bytes([b'1', b'0', b'=', 0]);
    (u64::from(tag) | u64::from(digits) << 24).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &[u8] = b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01";

    #[test]
    fn the_end_is_found_only_where_the_length_says_and_never_read_past() {
        for separator in [SOH, b'|', b';'] {
            let text: Vec<u8> = MESSAGE
                .iter()
                .map(|byte| if *byte == SOH { separator } else { *byte })
                .collect();
            assert_eq!(end(&text, separator), Some(text.len() - 1));
            for cut in 0..text.len() - 1 {
                assert_eq!(end(&text[..cut], separator), None, "{cut}");
            }
            for other in 0..text.len() {
                let mut bad = text.clone();
                bad[other] = b'x';
                assert!(end(&bad, separator).is_none_or(|end| end == text.len() - 1));
            }
        }
        assert_eq!(end(b"8=FIX.4.4\x019=999999999\x0135=0\x01", SOH), None);
        assert_eq!(end(b"8=FIX.4.4\x019=\x01", SOH), None);
        assert_eq!(end(b"", SOH), None);
    }

    #[test]
    fn a_checksum_is_updated_only_in_a_message_that_ends_with_one() {
        for sum in 0..=255_u8 {
            let field = checksum_field(sum);
            assert_eq!(field.to_vec(), format!("10={sum:03}\x01").into_bytes());
            assert_eq!(stated_checksum([field[3], field[4], field[5]]), Some(sum));
        }
        for bad in [
            &b""[..],
            b"10=1\x01",
            b"35=0\x0110=16x\x01",
            b"35=0\x0110=163|",
        ] {
            let mut bytes = bad.to_vec();
            assert!(!update_checksum(&mut bytes));
            assert_eq!(bytes, bad);
        }
    }
}
