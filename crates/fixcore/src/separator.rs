//! Logs that write something else in place of the separator: how they spell it, and messages from one
//! spelling to the other.
//!
//! FIX ends each field with the byte 1 (SOH). Text logs replace it by `|`, `^A`, `\x01` and the like.
//! Everything else in this crate expects the byte 1.

use std::ops::Range;

use memchr::memchr_iter;

use crate::frame::SOH;
use crate::frame::begin_string_bytes;

/// What logs write in place of the byte 1.
pub const SPELLINGS: [&[u8]; 9] = [
    b"|", b"^A", b"\\x01", b"\\u0001", b"\\001", b"<SOH>", b";", b"~", b"\t",
];

/// Fields up to this long are copied in one go.
const COPY_BYTES: usize = 32;

/// What separates the fields of the message at the start of a text: the byte 1 or one of
/// [`SPELLINGS`]. `None` if neither follows BeginString.
///
/// ```
/// use fixcore::separator::detect;
///
/// assert_eq!(detect(b"8=FIX.4.4^A9=5^A35=0^A10=163^A"), Some(&b"^A"[..]));
/// assert_eq!(detect(b"8=FIX.4.4 9=5"), None);
/// ```
#[must_use]
pub fn detect(text: &[u8]) -> Option<&'static [u8]> {
    let rest = text.get(begin_string_bytes(text)..)?;
    match rest.first()? {
        &SOH => Some(&[SOH]),
        _ => SPELLINGS.into_iter().find(|name| rest.starts_with(name)),
    }
}

/// Writes the message at the start of a text with the byte 1 as separator, and nothing of what follows
/// the message. What `out` held before is dropped.
///
/// The message ends with its first CheckSum (10), with or without a separator after it. Returns how
/// many bytes of the text the message has; `None` if the text ends before CheckSum.
///
/// ```
/// use fixcore::separator::to_soh;
///
/// let mut message = Vec::new();
/// assert_eq!(to_soh(b"8=FIX.4.4|9=5|35=0|10=163| ok", b"|", &mut message), Some(26));
/// assert_eq!(message, b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01");
/// ```
pub fn to_soh(text: &[u8], separator: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    out.clear();
    let (first, others) = separator.split_first()?;
    // Never longer than the text, but for the last separator, and for copies of one size.
    out.resize(text.len() + 1 + COPY_BYTES, 0);
    let (mut from, mut end) = (0, 0);
    let mut taken = None;
    for at in memchr_iter(*first, text) {
        let behind = text.get(at + 1..)?;
        if at < from || !behind.starts_with(others) {
            continue;
        }
        let next = at + separator.len();
        if text.get(from..at)?.starts_with(b"10=") {
            taken = Some((at, next));
            break;
        }
        end = copy(text, from..at, out, end);
        *out.get_mut(end)? = SOH;
        (from, end) = (next, end + 1);
    }
    out.truncate(end);
    let (at, taken) = taken.unwrap_or((text.len(), text.len()));
    let sum = text.get(from..at)?.strip_prefix(b"10=")?;
    out.extend_from_slice(b"10=");
    out.extend_from_slice(sum.trim_ascii());
    out.push(SOH);
    Some(taken)
}

/// Copies a part of a text to a place, as a copy of one size where there is room; the place behind it.
#[inline]
fn copy(text: &[u8], part: Range<usize>, out: &mut [u8], at: usize) -> usize {
    let length = part.len();
    let whole = (
        text.get(part.start..part.start + COPY_BYTES),
        out.get_mut(at..at + COPY_BYTES),
    );
    match whole {
        (Some(from), Some(to)) if length <= COPY_BYTES => to.copy_from_slice(from),
        _ => {
            if let (Some(from), Some(to)) = (text.get(part), out.get_mut(at..at + length)) {
                to.copy_from_slice(from);
            }
        }
    }
    at + length
}

/// Appends a message with another separator in place of each byte 1.
///
/// ```
/// let mut line = Vec::new();
/// fixcore::separator::from_soh(b"8=FIX.4.4\x019=5\x01", b"^A", &mut line);
/// assert_eq!(line, b"8=FIX.4.4^A9=5^A");
/// ```
pub fn from_soh(message: &[u8], separator: &[u8], out: &mut Vec<u8>) {
    match separator {
        [SOH] => out.extend_from_slice(message),
        [byte] => {
            let start = out.len();
            out.extend_from_slice(message);
            for other in out.get_mut(start..).unwrap_or_default() {
                *other = if *other == SOH { *byte } else { *other };
            }
        }
        name => {
            let mut from = 0;
            for at in memchr_iter(SOH, message) {
                out.extend_from_slice(message.get(from..at).unwrap_or_default());
                out.extend_from_slice(name);
                from = at + 1;
            }
            out.extend_from_slice(message.get(from..).unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_comes_back_as_it_was() {
        let message = b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01";
        for spelling in SPELLINGS {
            let (mut text, mut back) = (Vec::new(), b"old".to_vec());
            from_soh(message, spelling, &mut text);
            assert_eq!(detect(&text), Some(spelling));
            assert_eq!(to_soh(&text, spelling, &mut back), Some(text.len()));
            assert_eq!(back, message);
            // Without the last separator, and cut off.
            let bare = &text[..text.len() - spelling.len()];
            assert_eq!(to_soh(bare, spelling, &mut back), Some(bare.len()));
            assert_eq!(back, message);
            assert_eq!(to_soh(&text[..12], spelling, &mut back), None);
        }
        assert_eq!(to_soh(message, b"", &mut Vec::new()), None);
    }
}
