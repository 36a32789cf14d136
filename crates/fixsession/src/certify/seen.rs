//! A message of the engine, as fields.

use fixcore::frame::{self, SOH};

/// A message that came, with a right frame.
#[derive(Debug)]
pub(super) struct Seen {
    bytes: Vec<u8>,
    /// Where the tag, the value and the end of each field are.
    fields: Vec<(usize, usize, usize)>,
}

impl Seen {
    /// Splits a message into fields, and checks its length and sum.
    pub(super) fn read(bytes: Vec<u8>) -> Result<Self, String> {
        let end = frame::end(&bytes, SOH).map(|end| end + 1);
        if end != Some(bytes.len()) {
            return Err("BodyLength (9) is wrong".to_owned());
        }
        let before = bytes.len().saturating_sub(frame::TRAILER_BYTES);
        let (message, trailer) = bytes.split_at(before);
        let sum = frame::checksum(message);
        if trailer != frame::checksum_field(sum) {
            let stated = String::from_utf8_lossy(trailer.get(3..6).unwrap_or(&[])).into_owned();
            return Err(format!("CheckSum (10): stated {stated}, computed {sum:03}"));
        }
        let mut fields = Vec::new();
        let mut start = 0;
        for field in bytes.split(|byte| *byte == SOH) {
            let end = start + field.len();
            if field.is_empty() {
                break;
            }
            let Some(equals) = field.iter().position(|byte| *byte == b'=') else {
                let text = String::from_utf8_lossy(field).into_owned();
                return Err(format!("a field without '=': {text}"));
            };
            fields.push((start, start + equals, end));
            start = end + 1;
        }
        Ok(Self { bytes, fields })
    }

    /// The value of the first field with this tag.
    pub(super) fn get(&self, tag: &str) -> Option<&[u8]> {
        let is_it = |field: &&(usize, usize, usize)| {
            self.bytes.get(field.0..field.1) == Some(tag.as_bytes())
        };
        let (_, equals, end) = self.fields.iter().find(is_it)?;
        self.bytes.get(equals + 1..*end)
    }

    /// A value as text, `-` where there is none.
    pub(super) fn text(&self, tag: &str) -> String {
        let value = self.get(tag).map(String::from_utf8_lossy);
        value.map_or_else(|| "-".to_owned(), std::borrow::Cow::into_owned)
    }

    pub(super) fn number(&self) -> Option<u64> {
        fixcore::value::unsigned(self.get("34")?)
    }

    pub(super) fn is(&self, msg_type: &str) -> bool {
        self.get("35") == Some(msg_type.as_bytes())
    }

    pub(super) fn is_poss_dup(&self) -> bool {
        self.get("43") == Some(b"Y")
    }
}
