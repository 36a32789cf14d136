//! Messages and what is wrong with some, as lines of JSON and as text for people.

use std::io::Write as _;

use fixcore::dict::{Dictionary, FieldType};
use fixcore::{Message, SOH};

/// Values are copied this many bytes at once where there is room on both sides, tags as many.
const VALUE_BYTES: usize = 32;
const TAG_BYTES: usize = 16;
/// What a field has around its tag and value beyond `=` and the byte 1, which it had.
const AROUND_BYTES: usize = 4;
/// The rest of a line, with an offset of 20 digits, and room for the last copies.
const LINE_BYTES: usize = 128;

/// Appends a message: where it is, its type, and its fields in order, as pairs for tags repeat.
pub(super) fn message(out: &mut Vec<u8>, offset: u64, message: &Message<'_, '_>) {
    let bytes = message.bytes();
    let plain = |all: bool, byte: &u8| all & (is_plain(*byte) | (*byte == SOH));
    if !bytes.iter().fold(true, plain) {
        return message_slowly(out, offset, message);
    }
    let start = out.len();
    let room = bytes.len() + message.msg_type().len() + AROUND_BYTES * message.len() + LINE_BYTES;
    out.resize(start + room, 0);
    let mut line = Line { out, at: start };
    line.put(b"{\"offset\":");
    line.number(offset);
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

/// A line being written into room that was made for it.
struct Line<'o> {
    out: &'o mut Vec<u8>,
    at: usize,
}

impl Line<'_> {
    #[inline]
    fn put<const N: usize>(&mut self, text: &[u8; N]) {
        if let Some(slot) = self.out.get_mut(self.at..self.at + N) {
            slot.copy_from_slice(text);
        }
        self.at += N;
    }

    /// Bytes of a slice, most of them as `N` at once, of which those behind are written over.
    #[inline]
    fn copy<const N: usize>(&mut self, from: &[u8], start: usize, bytes: usize) {
        let whole = if bytes <= N { N } else { bytes };
        let slot = self.out.get_mut(self.at..self.at + whole);
        match (slot, from.get(start..start + whole)) {
            (Some(slot), Some(source)) if whole == N => {
                slot[..N].copy_from_slice(&source[..N]);
            }
            _ => self.copy_exactly(from.get(start..start + bytes).unwrap_or(&[])),
        }
        self.at += bytes;
    }

    #[inline(never)]
    fn copy_exactly(&mut self, bytes: &[u8]) {
        if let Some(slot) = self.out.get_mut(self.at..self.at + bytes.len()) {
            slot.copy_from_slice(bytes);
        }
    }

    fn number(&mut self, mut number: u64) {
        let mut digits = [b'0'; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.copy_exactly(&digits[at..]);
        self.at += digits.len() - at;
    }
}

/// How many digits a tag has.
#[inline]
pub(super) fn digits(tag: u32) -> usize {
    match tag {
        0..10 => 1,
        10..100 => 2,
        100..1000 => 3,
        tag => tag.ilog10() as usize + 1,
    }
}

/// Whether a byte stands for itself in a string of JSON.
#[inline]
fn is_plain(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte) & (byte != b'"') & (byte != b'\\')
}

#[cold]
fn message_slowly(out: &mut Vec<u8>, offset: u64, message: &Message<'_, '_>) {
    // Writing into memory does not fail.
    let _ = write!(out, "{{\"offset\":{offset},\"msg_type\":");
    string(out, message.msg_type());
    out.extend_from_slice(b",\"fields\":[");
    for (at, field) in message.fields().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(out, "{comma}[{},", field.tag);
        string(out, field.value);
        out.push(b']');
    }
    out.extend_from_slice(b"]}\n");
}

/// Appends a message of a store: its number, where it is, and its bytes.
pub(super) fn stored(out: &mut Vec<u8>, path: &str, offset: u64, number: u64, bytes: &[u8]) {
    let _ = write!(out, "{{\"number\":{number},\"file\":");
    string(out, path.as_bytes());
    let _ = write!(out, ",\"offset\":{offset},\"message\":");
    string(out, bytes);
    out.extend_from_slice(b"}\n");
}

/// Appends what is wrong at a place of a file.
pub(super) fn wrong(out: &mut Vec<u8>, path: &str, offset: u64, tag: Option<u32>, text: &str) {
    out.extend_from_slice(b"{\"file\":");
    string(out, path.as_bytes());
    let _ = write!(out, ",\"offset\":{offset},");
    if let Some(tag) = tag {
        let _ = write!(out, "\"tag\":{tag},");
    }
    out.extend_from_slice(b"\"error\":");
    string(out, text.as_bytes());
    out.extend_from_slice(b"}\n");
}

/// Appends a string; bytes that are no UTF-8 as the characters of their numbers.
pub(super) fn string(out: &mut Vec<u8>, value: &[u8]) {
    out.push(b'"');
    if value.iter().all(|byte| is_plain(*byte)) {
        out.extend_from_slice(value);
    } else {
        let latin = || value.iter().map(|byte| char::from(*byte)).collect();
        let text = std::str::from_utf8(value).map_or_else(|_| latin(), str::to_owned);
        for c in text.chars() {
            match c {
                '"' | '\\' => out.extend_from_slice(&[b'\\', c as u8]),
                ' '..='~' => out.push(c as u8),
                c if u32::from(c) < 0xa0 => drop(write!(out, "\\u{:04x}", u32::from(c))),
                c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }
    out.push(b'"');
}

/// Appends a message with the names of its fields and values, a field a line.
pub(super) fn named(
    out: &mut Vec<u8>,
    offset: u64,
    message: &Message<'_, '_>,
    dictionaries: [Option<&Dictionary>; 2],
) {
    let msg_type = message.msg_type();
    let known = |find: &dyn Fn(&Dictionary) -> Option<String>| {
        dictionaries.into_iter().flatten().find_map(find)
    };
    let name = known(&|dictionary| {
        dictionary
            .message(msg_type)
            .map(|found| found.name().to_owned())
    });
    let name = name.unwrap_or_else(|| "?".to_owned());
    let _ = writeln!(out, "{name} ({}) at {offset}", msg_type.escape_ascii());
    for field in message.fields() {
        let field_type = |dictionary: &&'_ Dictionary| dictionary.field(field.tag).is_some();
        let found = dictionaries.into_iter().flatten().find(field_type);
        let found = found.and_then(|dictionary| dictionary.field(field.tag));
        let name = found.map_or("?", FieldType::name);
        let value = field.value.escape_ascii();
        let _ = write!(out, "{:>7} {name} = {value}", field.tag);
        match found.and_then(|found| found.value_name(field.value)) {
            Some(meaning) => drop(writeln!(out, " ({meaning})")),
            None => out.push(b'\n'),
        }
    }
}

#[cfg(test)]
mod tests {
    use fixcore::workload::Sample;
    use fixcore::{Decoder, Encoder};

    use super::*;

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
            super::message(&mut quick, offset, &message);
            message_slowly(&mut slow, offset, &message);
        }
        assert_eq!(
            String::from_utf8(quick).expect("text"),
            String::from_utf8(slow).expect("text")
        );
    }
}
