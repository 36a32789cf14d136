//! Messages and what is wrong with some, as lines of JSON and as text for people.

use std::io::Write as _;

use fixcore::Message;
use fixcore::dict::{Dictionary, FieldType};

/// Appends a message: where it is, its type, and its fields in order, as pairs for tags repeat.
pub(super) fn message(out: &mut Vec<u8>, offset: u64, message: &Message<'_, '_>) {
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
fn string(out: &mut Vec<u8>, value: &[u8]) {
    out.push(b'"');
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if value.iter().all(plain) {
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
