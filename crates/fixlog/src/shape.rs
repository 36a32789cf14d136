//! What a log looks like: whether messages are found by their lengths or by lines, and whether what
//! stands between them is text.

use fixcore::frame::{START, begin_string_bytes};
use fixcore::{SOH, frame, separator};
use memchr::memmem;

/// This number of bytes tells whether a message begins.
const HEAD_BYTES_MAX: usize = 64;
/// The first message is looked at whole when it is not longer.
const FIRST_BYTES_MAX: usize = 32 << 10;

/// How messages are found.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// By their lengths.
    #[default]
    Stream,
    /// By lines.
    Lines,
}

/// Whether what stands between messages may be text: lines of a log, prefixes, or nothing.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    // What most messages are followed by.
    if matches!(bytes, [] | [b'\n']) {
        return true;
    }
    let plain = |all: bool, byte: &u8| all & ((b' '..=b'~').contains(byte) | is_space(*byte));
    if bytes.iter().fold(true, plain) {
        return true;
    }
    // A block may begin or end within a character.
    let cut = bytes
        .iter()
        .take(3)
        .take_while(|byte| **byte & 0xc0 == 0x80);
    let rest = bytes.get(cut.count()..).unwrap_or(&[]);
    let (text, is_whole) = match std::str::from_utf8(rest) {
        Ok(text) => (text, true),
        Err(error) => {
            let text = rest.get(..error.valid_up_to()).unwrap_or(&[]);
            let text = std::str::from_utf8(text).unwrap_or_default();
            (text, error.error_len().is_none())
        }
    };
    is_whole && text.chars().all(|c| !c.is_control() || is_space(c as u8))
}

/// White space and the beginning of a colour.
fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b)
}

/// What a log looks like by its first message; `None` where more is needed to tell.
pub(crate) fn shape_of(bytes: &[u8], ended: bool) -> Option<Shape> {
    let unknown = ended.then_some(Shape::Stream);
    let Some(at) = memmem::find(bytes, START) else {
        return unknown;
    };
    let text = &bytes[at..];
    let begin = begin_string_bytes(text);
    let rest = &text[begin..];
    if rest.len() < 8 && text.len() < HEAD_BYTES_MAX && !ended {
        return None;
    }
    match separator::detect(text) {
        Some([SOH]) => {}
        Some(_) => return Some(Shape::Lines),
        None => return Some(Shape::Stream),
    }
    // Some logs of the byte 1 leave the last one out.
    match frame::end(text, SOH) {
        Some(end) if matches!(text.get(end), Some(b'\r' | b'\n' | b' ')) => Some(Shape::Lines),
        None if !ended && text.len() < FIRST_BYTES_MAX => None,
        _ => Some(Shape::Stream),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_from_noise() {
        for text in ["", "\n", "in: \x1b[31m", "Gr\u{fc}\u{df}e \u{20ac}\r\n"] {
            assert!(is_text(text.as_bytes()), "{text}");
            // Blocks end anywhere.
            for at in 0..text.len() {
                assert!(is_text(&text.as_bytes()[at..]) && is_text(&text.as_bytes()[..at]));
            }
        }
        for noise in [&b"\0"[..], b"a\x01b", b"text\xff", b"\x7f"] {
            assert!(!is_text(noise), "{}", noise.escape_ascii());
        }
    }

    #[test]
    fn a_log_is_told_by_its_first_message_and_not_before() {
        let whole = b"in 8=FIX.4.4\x019=5\x0135=0\x0110=163\x01\n";
        for end in 0..whole.len() - 2 {
            assert_eq!(shape_of(&whole[..end], false), None, "{end}");
        }
        assert_eq!(shape_of(whole, false), Some(Shape::Stream));
        let bare = b"8=FIX.4.4\x019=5\x0135=0\x0110=163\r\n";
        assert_eq!(shape_of(bare, false), Some(Shape::Lines));
        assert_eq!(
            shape_of(b"8=FIX.4.4^A9=5^A35=0^A", false),
            Some(Shape::Lines)
        );
        assert_eq!(
            shape_of(b"8=FIX.4.4\\x019=5\\x0135=0", false),
            Some(Shape::Lines)
        );
        assert_eq!(shape_of(b"nothing", false), None);
        assert_eq!(shape_of(b"nothing", true), Some(Shape::Stream));
    }
}
