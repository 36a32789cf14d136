//! Messages within strings of JSON, also of JSON within JSON: their text has escapes, which BodyLength and CheckSum
//! do not count.

use fixcore::separator;
use memchr::memchr;

use super::{Respeller, Start, number};

/// JSON within JSON.
const LEVELS_MAX: usize = 2;
/// Bytes that one byte of a message may have in a text, and bytes beyond its body.
const ESCAPE_BYTES_MAX: usize = 8;
const FRAME_BYTES_MAX: usize = 128;
/// Where the body begins, at the latest.
const HEAD_BYTES_MAX: usize = 64;

/// A text without its escapes.
#[derive(Debug, Default)]
pub(super) struct Plain {
    text: Vec<u8>,
    /// Where each byte of it begins in the text with escapes, and where that ends.
    places: Vec<u32>,
}

impl Plain {
    /// Decodes the string of JSON that goes on with this text, up to its end, and up to what is no escape; at most so
    /// many bytes. Whether there was an escape.
    fn decode(&mut self, text: &[u8], most: usize) -> bool {
        self.text.clear();
        self.places.clear();
        let (mut at, mut has_escapes) = (0, false);
        while let Some(byte) = text.get(at) {
            let rest = &text[at..];
            if matches!(byte, b'"' | b'\n') || self.text.len() >= most {
                break;
            }
            let before = self.text.len();
            let taken = match byte {
                b'\\' => escape(rest, &mut self.text),
                byte => {
                    self.text.push(*byte);
                    Some(1)
                }
            };
            let Some(taken) = taken else {
                break;
            };
            has_escapes |= *byte == b'\\';
            self.places
                .extend(std::iter::repeat_n(at as u32, self.text.len() - before));
            at += taken;
        }
        self.places.push(at as u32);
        has_escapes
    }

    /// Where a byte of the plain text begins in the other one.
    fn place(&self, at: usize) -> Option<usize> {
        self.places.get(at).map(|at| *at as usize)
    }
}

/// Appends what an escape at the start of a text stands for; how many bytes it has.
fn escape(text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let byte = match text.get(1)? {
        byte @ (b'"' | b'\\' | b'/') => *byte,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'u' => return unicode(text, out),
        _ => return None,
    };
    out.push(byte);
    Some(2)
}

/// The same for `\uXXXX`, and for two of them that are one character.
fn unicode(text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
        let digits = str::from_utf8(digits).ok().filter(|_| is_hex)?;
        u32::from_str_radix(digits, 16).ok()
    };
    let first = unit(0)?;
    let (code, taken) = match first {
        0xd800..0xdc00 => {
            let second = unit(6).filter(|unit| (0xdc00..0xe000).contains(unit))?;
            (0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00), 12)
        }
        code => (code, 6),
    };
    let mut bytes = [0; 4];
    let letter = char::from_u32(code)?.encode_utf8(&mut bytes);
    out.extend_from_slice(letter.as_bytes());
    Some(taken)
}

/// What BodyLength states, whatever is before it.
fn stated_length(text: &[u8]) -> Option<usize> {
    let head = text.get(..HEAD_BYTES_MAX).unwrap_or(text);
    // Behind BeginString, which begins with `8=`.
    let at = 2 + memchr(b'=', head.get(2..)?)?;
    number(head.get(at + 1..)?).map(|(length, _)| length as usize)
}

impl Respeller {
    /// A message at the start of a line within a string of JSON, whose length is right without the escapes. Returns the
    /// place behind it and its last separator.
    #[cold]
    pub(crate) fn by_json(&mut self, line: &[u8], own: Option<&'static [u8]>) -> Option<usize> {
        self.by_levels(line, own, |respeller, plain, start| {
            let end = match start.separator {
                [_] => respeller.by_byte(plain, start),
                _ => respeller.by_length(plain, plain.len(), start),
            };
            let end = end.or_else(|| respeller.by_fields(plain, start))?;
            let last = plain.get(end..)?.starts_with(start.separator);
            Some(end + if last { start.separator.len() } else { 0 })
        })
    }

    /// The same for one whose length is wrong: up to the first CheckSum (10), where the escapes become the byte 1.
    #[cold]
    pub(crate) fn by_json_sum(&mut self, text: &[u8]) -> Option<usize> {
        self.by_levels(text, None, |respeller, plain, start| {
            match start.separator {
                [fixcore::SOH] => respeller.by_first_sum(plain, start.separator),
                _ => None,
            }
        })
    }

    /// Reads a text without its escapes, and without the escapes in that.
    fn by_levels(
        &mut self,
        text: &[u8],
        own: Option<&'static [u8]>,
        read: impl Fn(&mut Self, &[u8], Start) -> Option<usize>,
    ) -> Option<usize> {
        let most = ESCAPE_BYTES_MAX.saturating_mul(stated_length(text)? + FRAME_BYTES_MAX);
        let mut levels: Vec<Plain> = Vec::new();
        for _ in 0..LEVELS_MAX {
            let before = levels.last().map_or(text, |level| &level.text);
            let mut plain = Plain::default();
            if !plain.decode(before, most) {
                return None;
            }
            let start = Start::of(&plain.text, own);
            let end = start.and_then(|start| read(self, &plain.text, start));
            levels.push(plain);
            if let Some(end) = end {
                let mut levels = levels.iter().rev();
                return levels.try_fold(end, |end, level| level.place(end));
            }
        }
        None
    }
}

impl Start {
    /// How a text begins: with this separator, or one that is known.
    pub(super) fn of(text: &[u8], own: Option<&'static [u8]>) -> Option<Self> {
        let begin_bytes = fixcore::frame::begin_string_bytes(text);
        let behind = text.get(begin_bytes..)?;
        let separator = match own.filter(|own| behind.starts_with(own)) {
            Some(own) => own,
            None => separator::detect(text)?,
        };
        Some(Self {
            separator,
            begin_bytes,
        })
    }
}
