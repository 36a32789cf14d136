//! What a log looks like: whether messages are found by their lengths or by lines, and whether what
//! stands between them is text.

use fixcore::frame::{START, begin_string_bytes};
use fixcore::{SOH, frame, separator};
use memchr::memmem;

/// This number of bytes behind BeginString tells what separates fields.
const SEPARATED_BYTES: usize = 8;
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

/// What a log looks like by its first message. Where more is needed to tell: how many of the last bytes
/// are needed too. The answer does not depend on how many bytes came at once.
pub(crate) fn shape_of(bytes: &[u8], ended: bool) -> Result<Shape, usize> {
    let unknown = |needed: usize| match ended {
        true => Ok(Shape::Stream),
        false => Err(needed),
    };
    let Some(at) = memmem::find(bytes, START) else {
        return unknown(START.len().min(bytes.len()));
    };
    let text = &bytes[at..];
    let begin = begin_string_bytes(text);
    let rest = &text[begin..];
    if rest.len() < SEPARATED_BYTES && !ended {
        return Err(text.len());
    }
    match separator::detect(text) {
        Some([SOH]) => {}
        Some(_) => return Ok(Shape::Lines),
        None => return Ok(Shape::Stream),
    }
    // Some logs of the byte 1 leave the last one out.
    let first = &text[..text.len().min(FIRST_BYTES_MAX)];
    match frame::end(first, SOH).map(|end| first.get(end)) {
        Some(Some(b'\r' | b'\n' | b' ')) => Ok(Shape::Lines),
        Some(Some(_)) => Ok(Shape::Stream),
        Some(None) | None if first.len() < FIRST_BYTES_MAX => unknown(text.len()),
        Some(None) | None => Ok(Shape::Stream),
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
        let soh = &b"in 8=FIX.4.4\x019=5\x0135=0\x0110=163\x01\n"[..];
        let bare = &b"in 8=FIX.4.4\x019=5\x0135=0\x0110=163\r\n"[..];
        for (log, shape) in [(soh, Shape::Stream), (bare, Shape::Lines)] {
            for end in 0..log.len() - 1 {
                let needed = shape_of(&log[..end], false).expect_err("more is needed");
                assert!(needed >= end.saturating_sub("in ".len()), "{end}: {needed}");
            }
            assert_eq!(shape_of(log, false), Ok(shape));
        }
        // What is told of a long message depends on its first bytes alone.
        for body in [
            FIRST_BYTES_MAX - 40,
            FIRST_BYTES_MAX - 1,
            2 * FIRST_BYTES_MAX,
        ] {
            let text = "x".repeat(body - "35=B\x0158=\x01".len());
            let head = format!("8=FIX.4.4\x019={body}\x0135=B\x0158={text}\x01");
            let log = format!("{head}10={:03}\r\n", frame::checksum(head.as_bytes()));
            let told = (0..log.len()).find_map(|end| shape_of(&log.as_bytes()[..end], false).ok());
            assert_eq!(Ok(told.expect("told")), shape_of(log.as_bytes(), false));
            let is_short = body < FIRST_BYTES_MAX - 1;
            assert_eq!(told == Some(Shape::Lines), is_short, "{body}");
        }
        assert_eq!(shape_of(b"8=FIX.4.4^A9=5^A35=0^A", false), Ok(Shape::Lines));
        assert_eq!(
            shape_of(b"8=FIX.4.4\\x019=5\\x0135=0", false),
            Ok(Shape::Lines)
        );
        assert_eq!(shape_of(b"nothing", false), Err(START.len()));
        assert_eq!(shape_of(b"nothing", true), Ok(Shape::Stream));
    }
}
