//! Escapes bytes on their way to a terminal. All output to a terminal passes through here.
//!
//! Content of files goes through a [`Screen`]: text stays text, and control characters that a terminal
//! would obey become escapes. perfkit's own coloured text goes through [`painted`].

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use super::plain::is_unfit;

/// Whether the user asked for unchanged content (`-f`).
static RAW: AtomicBool = AtomicBool::new(false);

/// Sets for the whole process whether content goes to a terminal unchanged.
pub(crate) fn set_raw(raw: bool) {
    RAW.store(raw, Ordering::Relaxed);
}

/// Whether content goes to a terminal unchanged.
pub(crate) fn is_raw() -> bool {
    RAW.load(Ordering::Relaxed)
}

/// The most bytes of one character in UTF-8.
const CHAR_BYTES_MAX: usize = 4;

/// Escapes content for a terminal, in chunks of any size. Line ends (`\n`, `\r\n`) and tabs stay; other
/// control and format characters become escapes such as `\u{1b}`, bytes that are not UTF-8 become `\xff`.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// The start of a character, or a `\r` that may belong to a line end.
    waiting: Vec<u8>,
}

impl Screen {
    /// Appends to `out` what to print for `bytes`. The last few bytes may wait for the next chunk.
    pub(crate) fn show(&mut self, bytes: &[u8], out: &mut String) {
        if self.waiting.is_empty() {
            let rest = show(bytes, out);
            self.waiting.extend_from_slice(rest);
            return;
        }
        let mut whole = std::mem::take(&mut self.waiting);
        whole.extend_from_slice(bytes);
        let rest = show(&whole, out);
        self.waiting.extend_from_slice(rest);
    }

    /// Appends the bytes that were waiting for the next chunk.
    pub(crate) fn end(&mut self, out: &mut String) {
        let waiting = std::mem::take(&mut self.waiting);
        match waiting.as_slice() {
            b"\r" => out.push_str("\\r"),
            bytes => bytes.iter().for_each(|byte| hexadecimal(*byte, out)),
        }
    }
}

/// Appends what to print, and returns the rest that may be the start of a character or line end.
fn show<'a>(mut bytes: &'a [u8], out: &mut String) -> &'a [u8] {
    out.reserve(bytes.len());
    loop {
        let (text, wrong) = match std::str::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let (valid, _) = bytes.split_at(error.valid_up_to());
                (
                    // It was found to be.
                    std::str::from_utf8(valid).unwrap_or_default(),
                    Some(error.error_len()),
                )
            }
        };
        let ends = wrong.is_none();
        let text = match text.strip_suffix('\r').filter(|_| ends) {
            Some(text) => {
                show_text(text, out);
                return b"\r";
            }
            None => text,
        };
        show_text(text, out);
        bytes = &bytes[text.len()..];
        match wrong {
            None => return &[],
            Some(None) if bytes.len() < CHAR_BYTES_MAX => return bytes,
            Some(bad) => {
                let (bad, rest) = bytes.split_at(bad.unwrap_or(1));
                bad.iter().for_each(|byte| hexadecimal(*byte, out));
                bytes = rest;
            }
        }
    }
}

fn show_text(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(is_unfit) {
        let (plain, from) = rest.split_at(at);
        out.push_str(plain);
        let mut letters = from.chars();
        match letters.next() {
            Some(kept @ ('\n' | '\t')) => out.push(kept),
            Some('\r') if letters.as_str().starts_with('\n') => out.push('\r'),
            Some(letter) => out.extend(letter.escape_default()),
            None => {}
        }
        rest = letters.as_str();
    }
    out.push_str(rest);
}

fn hexadecimal(byte: u8, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "\\x{byte:02x}");
}

/// Escapes everything in perfkit's own text except colours and line ends. Names and arguments are escaped
/// before they are put into such text; this catches any that were not.
pub(crate) fn painted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (plain, from) = rest.split_at(at);
        show_text(plain, &mut out);
        match style(from) {
            Some(bytes) => {
                let (style, after) = from.split_at(bytes);
                out.push_str(style);
                rest = after;
            }
            None => {
                out.push_str("\\u{1b}");
                rest = &from[1..];
            }
        }
    }
    show_text(rest, &mut out);
    out
}

/// The length of the colour or weight sequence that `text` starts with, if any.
fn style(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|letter: char| !letter.is_ascii_digit() && letter != ';')?;
    let known = |number: &str| matches!(number.parse(), Ok(0..=4 | 22..=24 | 31..=39 | 91..=97));
    let is_style = parameters[end..].starts_with('m')
        && parameters[..end]
            .split(';')
            .all(|number| number.is_empty() || known(number));
    is_style.then_some("\u{1b}[".len() + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[&[u8]]) -> String {
        let (mut screen, mut out) = (Screen::default(), String::new());
        pieces.iter().for_each(|piece| screen.show(piece, &mut out));
        screen.end(&mut out);
        out
    }

    #[test]
    fn text_stays_and_the_rest_is_shown_in_any_cut() {
        let content = "naïve\ttext\r\n日本 \u{1b}[2J\r\u{9b}1m\u{202e}\u{7f}\0 👩‍🚀\r\n".as_bytes();
        let content = [content, b"\xff\xc3(\xf0\x9f\x92 \xe2\x82"].concat();
        let whole = "naïve\ttext\r\n日本 \\u{1b}[2J\\r\\u{9b}1m\\u{202e}\\u{7f}\\u{0} 👩‍🚀\r\n\
                     \\xff\\xc3(\\xf0\\x9f\\x92 \\xe2\\x82";
        assert_eq!(shown(&[&content]), whole);
        for at in 0..=content.len() {
            let (a, b) = content.split_at(at);
            assert_eq!(shown(&[a, b]), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = content.chunks(1).collect();
        assert_eq!(shown(&bytes), whole);
        assert_eq!(shown(&[b"a\r"]), "a\\r");
    }

    #[test]
    fn colours_work_and_nothing_else_does() {
        let own = "\u{1b}[1m\u{1b}[31mno\u{1b}[0m\n\tb";
        assert_eq!(painted(own), own);
        for (text, shown) in [
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("\u{1b}[8mhidden", "\\u{1b}[8mhidden"),
            ("\u{1b}[", "\\u{1b}["),
            ("\u{1b}]0;t\u{7}", "\\u{1b}]0;t\\u{7}"),
            ("\u{9b}31m\u{202e}", "\\u{9b}31m\\u{202e}"),
        ] {
            assert_eq!(painted(text), shown);
        }
    }
}
