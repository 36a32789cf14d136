//! What a log looks like: whether messages are found by their lengths or by lines.

use fixcore::frame::{START, begin_string_bytes};
use fixcore::{SOH, frame, separator};
use memchr::memmem;

use crate::respell::is_end;

/// Digits of the longest tag and of the longest length.
const TAG_DIGITS_MAX: usize = 9;
/// The first message is looked at whole when it is not longer.
pub(crate) const FIRST_BYTES_MAX: usize = 32 << 10;

/// How messages are found.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// By their lengths.
    #[default]
    Stream,
    /// By lines.
    Lines,
}

/// What a log looks like by its first message; `None` where more is needed to tell. Text that only begins
/// like a message, and a message that is cut off, tell nothing: the next one does. The answer does not
/// depend on how many bytes came at once.
///
/// Where `lengths_differ`, lengths do not say where messages end, and lines do as long as messages end with them.
pub(crate) fn shape_of(bytes: &[u8], ended: bool, lengths_differ: bool) -> Option<Shape> {
    let unknown = ended.then_some(Shape::Stream);
    let Some(at) = memmem::find(bytes, START) else {
        return unknown;
    };
    let text = &bytes[at..];
    let first = &text[..text.len().min(FIRST_BYTES_MAX)];
    let is_whole = ended || first.len() == FIRST_BYTES_MAX;
    let mut rest = first;
    loop {
        match told(rest, is_whole, lengths_differ) {
            Told::Shape(shape) => return Some(shape),
            Told::More => return None,
            Told::Nothing => {}
        }
        let behind = rest.get(START.len()..).unwrap_or(&[]);
        match memmem::find(behind, START) {
            Some(next) => rest = &behind[next..],
            None if lengths_differ => return is_whole.then_some(Shape::Lines),
            None => return is_whole.then_some(Shape::Stream),
        }
    }
}

/// What the start of a message tells about the shape of its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Shape(Shape),
    /// It is no message, or is cut off.
    Nothing,
    /// Not all of it has come.
    More,
}

/// What the message at the start of a text tells. Nothing comes after a text that `is_whole`.
pub(crate) fn told(text: &[u8], is_whole: bool, lengths_differ: bool) -> Told {
    match header(text, is_whole) {
        Header::Soh => {}
        Header::Text => return Told::Shape(Shape::Lines),
        Header::No => return Told::Nothing,
        Header::More => return Told::More,
    }
    // Some logs of the byte 1 leave the last one out.
    let end = frame::end(text, SOH);
    match end.map(|end| text.get(end)) {
        Some(Some(byte)) if is_end(byte) => Told::Shape(Shape::Lines),
        Some(Some(_)) if lengths_differ => match end.and_then(|end| text.get(end + 1)) {
            Some(b'\n' | b'\r') => Told::Shape(Shape::Lines),
            None if !is_whole => Told::More,
            _ => Told::Shape(Shape::Stream),
        },
        Some(Some(_)) => Told::Shape(Shape::Stream),
        Some(None) | None if is_short(text) => match is_whole {
            true if lengths_differ => Told::Nothing,
            true => Told::Shape(Shape::Stream),
            false => Told::More,
        },
        Some(None) | None => Told::Nothing,
    }
}

/// Whether the message at the start of a text may end behind it.
fn is_short(text: &[u8]) -> bool {
    let begin = begin_string_bytes(text) + 1;
    let Some(length) = text.get(begin..).and_then(|rest| rest.strip_prefix(b"9=")) else {
        return text.len() < begin + b"9=".len();
    };
    let digits = length.iter().take_while(|byte| byte.is_ascii_digit());
    let digits = digits.take(TAG_DIGITS_MAX).count();
    let stated = str::from_utf8(&length[..digits]).unwrap_or_default();
    match (length.get(digits), stated.parse::<usize>()) {
        (None, _) => true,
        (Some(&SOH), Ok(body)) => length.len() < digits + 1 + body + frame::TRAILER_BYTES,
        _ => false,
    }
}

/// How the fields of a message are separated, by its first two fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// By the byte 1.
    Soh,
    /// By something that logs write in its place.
    Text,
    /// It is no message.
    No,
    /// Not all of it has come.
    More,
}

/// Whether a text begins with BeginString, a separator and a tag.
pub(crate) fn header(text: &[u8], is_whole: bool) -> Header {
    if !text.starts_with(START) {
        return Header::No;
    }
    let more = match is_whole {
        true => Header::No,
        false => Header::More,
    };
    let rest = &text[begin_string_bytes(text)..];
    let Some(separator) = separator::detect(text) else {
        // The longest separator may have come in part.
        let begun = |name: &[u8]| name.starts_with(rest);
        return match separator::SPELLINGS.into_iter().any(begun) {
            true => more,
            false => Header::No,
        };
    };
    let tag = &rest[separator.len()..];
    let digits = tag.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match tag.get(digits) {
        Some(b'=') if (1..=TAG_DIGITS_MAX).contains(&digits) => match separator {
            [SOH] => Header::Soh,
            _ => Header::Text,
        },
        None if digits <= TAG_DIGITS_MAX => more,
        _ => Header::No,
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
                assert_eq!(shape_of(&log[..end], false, false), None, "{end}");
            }
            assert_eq!(shape_of(log, false, false), Some(shape));
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
            let told =
                (0..log.len()).find_map(|end| shape_of(&log.as_bytes()[..end], false, false));
            assert_eq!(told, shape_of(log.as_bytes(), false, false));
            let is_short = body < FIRST_BYTES_MAX - 1;
            assert_eq!(told == Some(Shape::Lines), is_short, "{body}");
        }
        assert_eq!(
            shape_of(b"8=FIX.4.4^A9=5^A35=0^A", false, false),
            Some(Shape::Lines)
        );
        assert_eq!(
            shape_of(b"8=FIX.4.4\\x019=5\\x0135=0", false, false),
            Some(Shape::Lines)
        );
        assert_eq!(shape_of(b"nothing", false, false), None);
        assert_eq!(shape_of(b"nothing", true, false), Some(Shape::Stream));
    }

    #[test]
    fn where_lengths_differ_lines_say_where_messages_end() {
        let soh = &b"in 8=FIX.4.4\x019=5\x0135=0\x0110=163\x01\r\n"[..];
        for end in 0..soh.len() - 1 {
            assert_eq!(shape_of(&soh[..end], false, true), None, "{end}");
        }
        assert_eq!(
            shape_of(&soh[..soh.len() - 1], false, true),
            Some(Shape::Lines)
        );
        let wrong = &b"8=FIX.4.4\x019=99\x0135=0\x0110=163\x01\n"[..];
        assert_eq!(shape_of(wrong, true, true), Some(Shape::Lines));
        // Without lines, lengths are all there is.
        let line = &b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01"[..];
        let two = [line, line].concat();
        assert_eq!(shape_of(&two, false, true), Some(Shape::Stream));
    }
}
