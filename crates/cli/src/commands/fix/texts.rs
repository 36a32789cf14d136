//! What a log looks like, and the messages of a block of it, whatever stands around them and between
//! their fields.

use fixcore::frame::{START, begin_string_bytes};
use fixcore::{ErrorKind, SOH, frame, separator};
use memchr::{memchr, memmem};

use crate::commands::fix::blocks::{Block, Mark};

/// The begin of a message is told by so many bytes.
const HEAD_BYTES_MAX: usize = 64;
/// The first message is looked at whole when it is not longer.
const FIRST_BYTES_MAX: usize = 32 << 10;
/// How messages are found.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// By their lengths.
    #[default]
    Stream,
    /// By lines.
    Lines,
}

/// What was found at a place of a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found<'b> {
    /// A message as far as its length goes, with the byte 1 between fields, and what the log has in
    /// place of that.
    Message(&'b [u8], &'static [u8]),
    /// What begins as a message and is none.
    Bad(ErrorKind),
    /// So many bytes in no message that are no text.
    Noise(u64),
    /// So many bytes of a block that are in no message, noise among them.
    Between(u64),
}

/// Whether what stands between messages may be text: lines of a log, prefixes, or nothing.
pub(super) fn is_text(bytes: &[u8]) -> bool {
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
pub(super) fn shape_of(bytes: &[u8], ended: bool) -> Option<Shape> {
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

/// Reads blocks.
pub(super) struct Texts {
    start: memmem::Finder<'static>,
    /// A message with the byte 1 in place of its separators.
    message: Vec<u8>,
}

impl Texts {
    pub(super) fn new() -> Self {
        Self {
            start: memmem::Finder::new(START),
            message: Vec::new(),
        }
    }

    /// Gives out what there is in a block, in order, with its place in the file.
    pub(super) fn each(&mut self, block: &Block, visit: &mut dyn FnMut(u64, Found<'_>)) {
        let bytes = block.bytes();
        for mark in &block.marks {
            match *mark {
                Mark::Bad { offset, why } => visit(offset, Found::Bad(why)),
                Mark::Noise { offset, bytes } => visit(offset, Found::Noise(bytes)),
                Mark::Message { at, bytes: length } => {
                    let at = at as usize;
                    if let Some(message) = bytes.get(at..at + length as usize) {
                        visit(block.offset + at as u64, Found::Message(message, &[SOH]));
                    }
                }
            }
        }
        let mut between = block.between_bytes;
        if block.shape == Shape::Lines {
            between += self.lines(bytes, block.offset, visit);
        }
        visit(block.offset, Found::Between(between));
    }

    /// Gives out messages of lines; how many bytes are in none.
    fn lines(&mut self, bytes: &[u8], offset: u64, visit: &mut dyn FnMut(u64, Found<'_>)) -> u64 {
        let (mut from, mut between_bytes) = (0, 0);
        while let Some(at) = self.start.find(&bytes[from..]) {
            let start = from + at;
            between_bytes += between(&bytes[from..start], offset + from as u64, visit);
            let text = &bytes[start..];
            let offset = offset + start as u64;
            let separator = separator::detect(text);
            if let Some(name @ [separator]) = separator
                && let Some(end) = self.short_cut(text, *separator)
            {
                visit(offset, Found::Message(&self.message, name));
                // Some logs leave the last separator out.
                from = start + end + usize::from(text.get(end) == Some(separator));
                continue;
            }
            let line = memchr(b'\n', text).map_or(text, |end| &text[..end]);
            let next = self.start.find(&line[START.len().min(line.len())..]);
            let end = next.map_or(line.len(), |next| START.len() + next);
            let text = &line[..end];
            let unified = separator::to_soh(text, separator.unwrap_or(&[SOH]), &mut self.message);
            let found = match (unified, separator) {
                (Some(_), _) => Found::Message(&self.message, separator.unwrap_or(&[SOH])),
                (None, None) if !text[begin_string_bytes(text)..].trim_ascii().is_empty() => {
                    Found::Bad(ErrorKind::HeaderOrder)
                }
                (None, _) => Found::Bad(ErrorKind::Truncated),
            };
            visit(offset, found);
            from = start + unified.unwrap_or(end);
        }
        between_bytes + between(&bytes[from..], offset + from as u64, visit)
    }

    /// A message whose length is right and whose separator is a byte; where it ends.
    #[inline]
    fn short_cut(&mut self, text: &[u8], separator: u8) -> Option<usize> {
        let end = frame::end(text, separator)?;
        let behind = text.get(end).copied().unwrap_or(b'\n');
        if behind != separator && !behind.is_ascii_whitespace() {
            return None;
        }
        self.message.clear();
        self.message.extend_from_slice(&text[..end]);
        self.message.push(SOH);
        if separator != SOH {
            for byte in &mut self.message {
                *byte = if *byte == separator { SOH } else { *byte };
            }
        }
        Some(end)
    }
}

/// Gives out the lines that are noise of what stands between messages; how many bytes there are.
#[inline]
fn between(bytes: &[u8], offset: u64, visit: &mut dyn FnMut(u64, Found<'_>)) -> u64 {
    if !is_text(bytes) {
        let mut at = offset;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !is_text(line) {
                visit(at, Found::Noise(line.trim_ascii_end().len() as u64));
            }
            at += line.len() as u64;
        }
    }
    bytes.len() as u64
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
