//! What a log looks like: whether messages are found by their lengths or by lines.

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

/// What a log looks like by its first message; `None` where more is needed to tell. The answer does not
/// depend on how many bytes came at once.
pub(crate) fn shape_of(bytes: &[u8], ended: bool) -> Option<Shape> {
    let unknown = ended.then_some(Shape::Stream);
    let Some(at) = memmem::find(bytes, START) else {
        return unknown;
    };
    let text = &bytes[at..];
    let begin = begin_string_bytes(text);
    let rest = &text[begin..];
    if rest.len() < SEPARATED_BYTES && !ended {
        return None;
    }
    match separator::detect(text) {
        Some([SOH]) => {}
        Some(_) => return Some(Shape::Lines),
        None => return Some(Shape::Stream),
    }
    // Some logs of the byte 1 leave the last one out.
    let first = &text[..text.len().min(FIRST_BYTES_MAX)];
    match frame::end(first, SOH).map(|end| first.get(end)) {
        Some(Some(b'\r' | b'\n' | b' ')) => Some(Shape::Lines),
        Some(Some(_)) => Some(Shape::Stream),
        Some(None) | None if first.len() < FIRST_BYTES_MAX => unknown,
        Some(None) | None => Some(Shape::Stream),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_told_by_its_first_message_and_not_before() {
        let soh = &b"in 8=FIX.4.4\x019=5\x0135=0\x0110=163\x01\n"[..];
        let bare = &b"in 8=FIX.4.4\x019=5\x0135=0\x0110=163\r\n"[..];
        for (log, shape) in [(soh, Shape::Stream), (bare, Shape::Lines)] {
            for end in 0..log.len() - 1 {
                assert_eq!(shape_of(&log[..end], false), None, "{end}");
            }
            assert_eq!(shape_of(log, false), Some(shape));
        }
        // The shape that a long message has depends on its first bytes alone.
        for body in [
            FIRST_BYTES_MAX - 40,
            FIRST_BYTES_MAX - 1,
            2 * FIRST_BYTES_MAX,
        ] {
            let text = "x".repeat(body - "35=B\x0158=\x01".len());
            let head = format!("8=FIX.4.4\x019={body}\x0135=B\x0158={text}\x01");
            let log = format!("{head}10={:03}\r\n", frame::checksum(head.as_bytes()));
            let told = (0..log.len()).find_map(|end| shape_of(&log.as_bytes()[..end], false));
            assert_eq!(told, shape_of(log.as_bytes(), false));
            let is_short = body < FIRST_BYTES_MAX - 1;
            assert_eq!(told == Some(Shape::Lines), is_short, "{body}");
        }
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
