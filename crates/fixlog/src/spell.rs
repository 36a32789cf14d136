//! Messages with the separator of their log in place of the byte 1.

use fixcore::separator::{SPELLINGS, TwoBytes, from_soh};
use fixcore::{DataPairs, Message, SOH};

use crate::line::{Line, digits};
use crate::respell::Respeller;

/// Fields up to this long are copied in one go.
const COPY_BYTES: usize = 32;
const SPELLING_BYTES_MAX: usize = 8;

/// Writes messages whose values were replaced.
#[derive(Debug)]
pub(crate) struct Speller(Respeller);

impl Speller {
    pub(crate) fn new(pairs: DataPairs) -> Self {
        Self(Respeller::new(pairs))
    }

    /// Appends `bytes`, which has the fields of `message` with other values of the same lengths.
    ///
    /// Where they cannot be read back with this separator, another one is used.
    pub(crate) fn message(
        &mut self,
        message: &Message<'_, '_>,
        bytes: &[u8],
        separator: &[u8],
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        spell(message, bytes, separator, out);
        // Letters and digits may have become a separator, if it has some.
        if let [first, _, ..] = separator
            && memchr::memchr(*first, bytes).is_some()
            && !self.is_read_back(bytes, out, start)
        {
            let absent = |name: &&&[u8]| memchr::memmem::find(bytes, name).is_none();
            let name = SPELLINGS.iter().find(absent).copied();
            out.truncate(start);
            from_soh(bytes, name.unwrap_or(&[SOH]), out);
        }
    }

    fn is_read_back(&mut self, bytes: &[u8], out: &[u8], start: usize) -> bool {
        let text = out.get(start..).unwrap_or(&[]);
        let Some(start) = self.0.start(text, None) else {
            return false;
        };
        let end = match self.0.by_length(text, text.len(), start) {
            Some(end) => Some(end),
            None => self.0.by_fields(text, start),
        };
        end.is_some() && self.0.message() == bytes
    }
}

/// Appends `bytes`, which has the fields of `message` with other values of the same lengths.
pub(crate) fn spell(message: &Message<'_, '_>, bytes: &[u8], separator: &[u8], out: &mut Vec<u8>) {
    if separator.len() == 1 || (separator.len() == 2 && TwoBytes::detect().is_some()) {
        return from_soh(bytes, separator, out);
    }
    let mut name = [0; SPELLING_BYTES_MAX];
    let slot = name.get_mut(..separator.len());
    // Data may have the byte 1 too.
    let is_plain = memchr::memchr_iter(SOH, bytes).count() == message.len();
    let (Some(slot), true) = (slot, is_plain) else {
        return from_soh(bytes, separator, out);
    };
    slot.copy_from_slice(separator);
    let start = out.len();
    let room = bytes.len() + message.len() * separator.len() + COPY_BYTES;
    out.resize(start + room, 0);
    let mut line = Line { out, at: start };
    for field in message.fields() {
        let length = digits(field.tag) + 1 + field.value.len();
        line.copy::<COPY_BYTES>(bytes, field.offset, length);
        line.put(&name);
        line.at -= SPELLING_BYTES_MAX - separator.len();
    }
    let end = line.at;
    out.truncate(end);
}

#[cfg(test)]
mod tests {
    use fixcore::{Decoder, Encoder};

    use super::*;

    #[test]
    fn every_spelling_is_written_as_a_plain_replacement_would() {
        let mut encoder = Encoder::new("FIX.4.4");
        let mut decoder = Decoder::new();
        for length in [1, 27, 28, 29, 30, 31, 32, 33, 500] {
            let text = vec![b'x'; length];
            for data in [&b"data"[..], b"da\x01ta"] {
                let message = encoder.start("B").bytes(58, &text).bytes(12_345, &text);
                let message = message.data(95, 96, data).finish().expect("a message");
                let bytes = message.to_vec();
                let message = decoder.parse(&bytes).expect("valid");
                for spelling in SPELLINGS.into_iter().chain([&[SOH][..]]) {
                    let (mut out, mut plain) = (b"before".to_vec(), b"before".to_vec());
                    let mut speller = Speller::new(DataPairs::standard());
                    speller.message(&message, &bytes, spelling, &mut out);
                    from_soh(&bytes, spelling, &mut plain);
                    assert_eq!(out, plain);
                }
            }
        }
    }

    #[test]
    fn a_value_that_would_be_read_as_two_gets_another_separator() {
        let (mut encoder, mut decoder) = (Encoder::new("FIX.4.4"), Decoder::new());
        let message = |text: &[u8], encoder: &mut Encoder| {
            let message = encoder.start("B").bytes(58, text).bytes(55, b"X");
            message.finish().expect("a message").to_vec()
        };
        let before = message(b"up ^B12=x", &mut encoder);
        let after = message(b"up ^A34=x", &mut encoder);
        let before = decoder.parse(&before).expect("valid");
        let mut out = Vec::new();
        let mut speller = Speller::new(DataPairs::standard());
        speller.message(&before, &after, b"^A", &mut out);
        assert!(out.starts_with(b"8=FIX.4.4|9="), "{}", out.escape_ascii());
        let mut found = Vec::new();
        crate::split(&out[..], crate::Separator::Auto, |_, what| {
            if let crate::Found::Message(bytes, _) = what {
                found.push(bytes.to_vec());
            }
        })
        .expect("a slice is read");
        assert_eq!(found, [after]);
        // No tag follows: it stays.
        let after = message(b"up ^Axy=x", &mut encoder);
        out.clear();
        speller.message(&before, &after, b"^A", &mut out);
        assert!(out.starts_with(b"8=FIX.4.4^A9="), "{}", out.escape_ascii());
    }
}
