//! Messages and what is wrong with some, as lines of JSON and as text for people.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::Path;

use fixcore::{Field, Message, SOH};

use crate::line::{Line, digits, is_plain};
use crate::{Fault, Origin, Place};

/// Values are copied this many bytes at once where there is room on both sides, tags as many.
const VALUE_BYTES: usize = 32;
const TAG_BYTES: usize = 16;
/// What a field has around its tag and value beyond `=` and the byte 1, which it had.
const AROUND_BYTES: usize = 4;
/// The rest of a line, with an offset of 20 digits, and room for the last copies.
const LINE_BYTES: usize = 128;
/// An offset and a line with their names.
const PLACE_BYTES: usize = 64;

/// Writes messages and faults as lines of JSON, and messages as text.
///
/// ```
/// use fixcore::Decoder;
/// use fixlog::{Lines, Place};
///
/// let mut decoder = Decoder::new();
/// let message = decoder.parse(b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01")?;
/// let mut out = Vec::new();
/// let place = Place { offset: 7, line: Some(1), path: None, origin: None };
/// Lines::new().message(&mut out, place, &message);
/// let json = r#"{"offset":7,"line":1,"msg_type":"0","fields":[[8,"FIX.4.4"],[9,"5"],[35,"0"],[10,"163"]]}"#;
/// assert_eq!(out.strip_suffix(b"\n"), Some(json.as_bytes()));
/// # Ok::<(), fixcore::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Lines {
    escaped: fn(char) -> bool,
}

impl Default for Lines {
    fn default() -> Self {
        Self::new()
    }
}

impl Lines {
    /// Lines in which control characters are escapes, and every other character stands for itself.
    #[must_use]
    pub fn new() -> Self {
        Self {
            escaped: char::is_control,
        }
    }

    /// Writes these characters as escapes too, for example those that a terminal would obey.
    #[must_use]
    pub fn escape(mut self, escaped: fn(char) -> bool) -> Self {
        self.escaped = escaped;
        self
    }

    /// Appends a message: its place, its type, and its fields in order, as pairs because tags repeat.
    pub fn message(self, out: &mut Vec<u8>, place: Place<'_>, message: &Message<'_, '_>) {
        self.begin(out, place);
        let bytes = message.bytes();
        let plain = |all: bool, byte: &u8| all & (is_plain(*byte) | (*byte == SOH));
        // More separators than fields: some stand in values of data.
        let separators = memchr::memchr_iter(SOH, bytes).count();
        if separators != message.len() || !bytes.iter().fold(true, plain) {
            return self.message_slowly(out, message);
        }
        let start = out.len();
        let room =
            bytes.len() + message.msg_type().len() + AROUND_BYTES * message.len() + LINE_BYTES;
        out.resize(start + room, 0);
        let mut line = Line { out, at: start };
        line.put(b",\"msg_type\":\"");
        let msg_type = message.msg_type();
        line.copy::<VALUE_BYTES>(msg_type, 0, msg_type.len());
        line.put(b"\",\"fields\":");
        let mut before = b'[';
        for field in message.fields() {
            line.put(&[before, b'[']);
            before = b',';
            let digits = digits(field.tag);
            line.copy::<TAG_BYTES>(bytes, field.offset, digits);
            line.put(b",\"");
            line.copy::<VALUE_BYTES>(bytes, field.offset + digits + 1, field.value.len());
            line.put(b"\"]");
        }
        line.put(b"]}\n");
        let end = line.at;
        out.truncate(end);
    }

    /// Begins a line: the log if it is to be told, byte and line.
    pub(crate) fn begin(self, out: &mut Vec<u8>, place: Place<'_>) {
        out.push(b'{');
        if let Some(path) = place.path {
            out.extend_from_slice(b"\"file\":");
            self.string(out, path.as_os_str().as_encoded_bytes());
            out.push(b',');
        }
        let start = out.len();
        out.resize(start + PLACE_BYTES, 0);
        let mut line = Line { out, at: start };
        line.put(b"\"offset\":");
        line.number(place.offset);
        if let Some(number) = place.line {
            match place.origin {
                None => line.put(b",\"line\":"),
                Some(_) => line.put(b",\"packet\":"),
            }
            line.number(number);
        }
        let end = line.at;
        out.truncate(end);
        if let Some(origin) = place.origin {
            self.origin(out, origin);
        }
    }

    /// Where in a capture something stands: the stream, the byte in it, and when it arrived.
    #[cold]
    fn origin(self, out: &mut Vec<u8>, origin: &Origin) {
        if !origin.stream.is_empty() {
            out.extend_from_slice(b",\"stream\":");
            self.string(out, origin.stream.as_bytes());
            // Writing into memory does not fail.
            let _ = write!(out, ",\"stream_offset\":{}", origin.stream_offset);
        }
        if let Some(ns) = origin.time_ns {
            let _ = write!(out, ",\"arrived\":\"{}\"", crate::stamp::time(ns));
        }
    }

    #[cold]
    fn message_slowly(self, out: &mut Vec<u8>, message: &Message<'_, '_>) {
        out.extend_from_slice(b",\"msg_type\":");
        self.string(out, message.msg_type());
        self.pairs(out, message.fields());
    }

    /// Ends a line with fields.
    pub(crate) fn pairs<'m>(self, out: &mut Vec<u8>, fields: impl Iterator<Item = Field<'m>>) {
        out.extend_from_slice(b",\"fields\":[");
        for (at, field) in fields.enumerate() {
            let comma = if at == 0 { "" } else { "," };
            // Writing into memory does not fail.
            let _ = write!(out, "{comma}[{},", field.tag);
            self.string(out, field.value);
            out.push(b']');
        }
        out.extend_from_slice(b"]}\n");
    }

    /// Appends a message of a store: its number, its file and byte offset there, and its bytes.
    pub fn stored(self, out: &mut Vec<u8>, path: &Path, offset: u64, number: u64, bytes: &[u8]) {
        let _ = write!(out, "{{\"number\":{number},\"file\":");
        self.string(out, path.as_os_str().as_encoded_bytes());
        let _ = write!(out, ",\"offset\":{offset},\"message\":");
        self.string(out, bytes);
        out.extend_from_slice(b"}\n");
    }

    /// Appends the fault of the message at a place.
    pub fn fault(self, out: &mut Vec<u8>, place: Place<'_>, fault: &Fault) {
        self.begin_fault(out, place, fault.tag);
        // Words of a fault are printable ASCII without quotes, but for those of a dictionary.
        let start = out.len();
        let _ = writeln!(out, "\"{fault}\"}}");
        let words = out.get(start + 1..out.len() - 3).unwrap_or(&[]);
        if !words.iter().all(|byte| is_plain(*byte)) {
            out.truncate(start);
            self.string(out, fault.to_string().as_bytes());
            out.extend_from_slice(b"}\n");
        }
    }

    /// Appends a fault at a place.
    pub fn wrong(self, out: &mut Vec<u8>, place: Place<'_>, tag: Option<u32>, text: &str) {
        self.begin_fault(out, place, tag);
        self.string(out, text.as_bytes());
        out.extend_from_slice(b"}\n");
    }

    /// The beginning of a line about a fault.
    fn begin_fault(self, out: &mut Vec<u8>, place: Place<'_>, tag: Option<u32>) {
        self.begin(out, place);
        if let Some(tag) = tag {
            let _ = write!(out, ",\"tag\":{tag}");
        }
        out.extend_from_slice(b",\"error\":");
    }

    /// Appends bytes: as a string where they are UTF-8, else as `{"hex":"…"}`, which no string looks like.
    pub fn string(self, out: &mut Vec<u8>, value: &[u8]) {
        if value.iter().all(|byte| is_plain(*byte)) {
            out.push(b'"');
            out.extend_from_slice(value);
            out.push(b'"');
            return;
        }
        match std::str::from_utf8(value) {
            Ok(text) => self.escaped(out, text),
            Err(_) => {
                out.extend_from_slice(b"{\"hex\":\"");
                for byte in value {
                    // Writing into memory does not fail.
                    let _ = write!(out, "{byte:02x}");
                }
                out.extend_from_slice(b"\"}");
            }
        }
    }

    fn escaped(self, out: &mut Vec<u8>, text: &str) {
        out.push(b'"');
        for c in text.chars() {
            match c {
                '"' | '\\' => out.extend_from_slice(&[b'\\', c as u8]),
                ' '..='~' => out.push(c as u8),
                c if self.is_escaped(c) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let _ = write!(out, "\\u{unit:04x}");
                    }
                }
                c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        out.push(b'"');
    }

    fn is_escaped(self, c: char) -> bool {
        c.is_control() || (self.escaped)(c)
    }

    /// A name of a dictionary, with escapes.
    pub(crate) fn visible(self, text: &str) -> Cow<'_, str> {
        if !text.contains(|c| self.is_escaped(c)) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len() + 16);
        for c in text.chars() {
            match self.is_escaped(c) {
                true => out.extend(c.escape_default()),
                false => out.push(c),
            }
        }
        Cow::Owned(out)
    }
}

#[cfg(test)]
mod tests {
    use fixcore::workload::Sample;
    use fixcore::{Decoder, Encoder};

    use super::*;

    /// What a line of JSON has for bytes, as another reader sees it.
    fn bytes_of(value: &serde_json::Value) -> Vec<u8> {
        if let Some(text) = value.as_str() {
            return text.as_bytes().to_vec();
        }
        let digits = value["hex"].as_str().expect("text or hex");
        let bytes: Result<_, _> = (0..digits.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&digits[at..at + 2], 16))
            .collect();
        let bytes: Vec<u8> = bytes.expect("hex");
        assert!(std::str::from_utf8(&bytes).is_err(), "that is text");
        bytes
    }

    /// Bytes that are apt to break a string: some of these, and any.
    fn hostile(random: &mut u64) -> Vec<u8> {
        const PARTS: [&[u8]; 12] = [
            b"a",
            b"\"",
            b"\\",
            b"\x01",
            b"\x00",
            b"\x1b[2J",
            b"\x7f",
            b"\n",
            "\u{e9}".as_bytes(),
            "\u{2028}".as_bytes(),
            b"\xff",
            b"\xf0\x9f",
        ];
        let mut below = |most: u64| {
            *random ^= *random << 13;
            *random ^= *random >> 7;
            *random ^= *random << 17;
            (*random % most) as usize
        };
        let mut value = vec![b'v'];
        for _ in 0..below(40) {
            match below(4) {
                0 => value.push(below(256) as u8),
                1 => value.extend_from_slice(PARTS[below(12)]),
                _ => value.push(b'a' + below(26) as u8),
            }
        }
        value
    }

    #[test]
    fn lines_say_the_bytes_of_messages_whatever_they_are() {
        let mut random = 0x2545_f491_4f6c_dd1d;
        let (mut encoder, mut decoder) = (Encoder::new("FIX.4.4"), Decoder::new());
        for case in 0..3000 {
            let data = hostile(&mut random);
            let mut text = hostile(&mut random);
            text.retain(|byte| *byte != SOH);
            let started = encoder.start("D").bytes(58, &text);
            let message = started.data(95, 96, &data);
            let bytes = message.finish().expect("a message").to_vec();
            let message = decoder.parse(&bytes).expect("valid");
            let mut line = Vec::new();
            let path = Path::new("a\"b");
            let place = Place {
                path: Some(path),
                offset: case,
                line: Some(case + 1),
                origin: None,
            };
            Lines::new().message(&mut line, place, &message);
            let read: serde_json::Value = serde_json::from_slice(&line).expect("JSON");
            assert_eq!(
                (&read["file"], &read["offset"], &read["line"]),
                (&"a\"b".into(), &case.into(), &(case + 1).into())
            );
            let fields = read["fields"].as_array().expect("fields");
            let fields: Vec<_> = fields
                .iter()
                .map(|field| (field[0].as_u64(), bytes_of(&field[1])))
                .collect();
            let expected: Vec<_> = message
                .fields()
                .map(|field| (Some(u64::from(field.tag)), field.value.to_vec()))
                .collect();
            assert_eq!(fields, expected, "{}", bytes.escape_ascii());
            line.clear();
            Lines::new().stored(&mut line, path, 7, 9, &bytes);
            let read: serde_json::Value = serde_json::from_slice(&line).expect("JSON");
            assert_eq!(bytes_of(&read["message"]), bytes);
            assert_eq!(
                (&read["file"], &read["number"]),
                (&"a\"b".into(), &9.into())
            );
        }
    }

    #[test]
    fn the_quick_way_writes_what_the_slow_one_does() {
        let mut messages: Vec<_> = Sample::ALL.into_iter().map(Sample::bytes).collect();
        let mut encoder = Encoder::new("FIX.4.4");
        for length in [1, 15, 16, 17, 31, 32, 33, 300] {
            let text = vec![b'a' + (length % 26) as u8; length];
            let message = encoder.start("AB").bytes(58, &text).bytes(99_999, &text);
            messages.push(message.finish().expect("a message").to_vec());
        }
        let mut decoder = Decoder::new();
        let (mut quick, mut slow) = (Vec::new(), Vec::new());
        for (bytes, offset) in messages
            .iter()
            .zip([0, 9, 10, 12_345, u64::MAX].into_iter().cycle())
        {
            let message = decoder.parse(bytes).expect("valid");
            let place = Place {
                path: None,
                offset,
                line: Some(offset),
                origin: None,
            };
            Lines::new().message(&mut quick, place, &message);
            Lines::new().begin(&mut slow, place);
            Lines::new().message_slowly(&mut slow, &message);
        }
        assert_eq!(
            String::from_utf8(quick).expect("text"),
            String::from_utf8(slow).expect("text")
        );
    }
}
