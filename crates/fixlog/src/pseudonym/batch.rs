//! Messages with pseudonyms as their log spells them, several at a time: short values of several messages
//! are enciphered together.

use fixcore::{DataPairs, Message, SOH, frame};
use memchr::{memchr, memchr_iter};

use super::pseudonyms::{Pseudonyms, Scratch, short_value};
use crate::line::digits;
use crate::spell::{Speller, spell};

/// Short values that wait to be enciphered. Many more would leave the cache before they are.
const SHORTS: usize = 64;

/// The messages of one thread.
#[derive(Debug)]
pub(crate) struct Batch {
    scratch: Scratch,
    speller: Speller,
    pending: Vec<Pending>,
}

/// A message with values that wait, and without its CheckSum.
#[derive(Debug)]
struct Pending {
    start: usize,
    end: usize,
    fields: usize,
    separator: &'static [u8],
}

impl Batch {
    pub(crate) fn new(pairs: DataPairs) -> Self {
        Self {
            scratch: Scratch::default(),
            speller: Speller::new(pairs),
            pending: Vec::new(),
        }
    }

    /// Appends a message with pseudonyms, and the end of a line. It is complete after
    /// [`finish`](Self::finish); until then, `out` may only be appended to, and by this. `text` begins with
    /// the message as its log has it.
    pub(crate) fn message(
        &mut self,
        pseudonyms: &Pseudonyms,
        message: &Message<'_, '_>,
        (text, separator): (&[u8], &'static [u8]),
        out: &mut Vec<u8>,
    ) {
        let bytes = message.bytes();
        // Letters and digits may become a separator next to its first byte, and data may have the byte 1.
        let is_simple = match separator {
            [SOH] => true,
            [first, others @ ..] => {
                memchr_iter(SOH, bytes).count() == message.len()
                    && (others.is_empty() || memchr(*first, bytes).is_none())
            }
            [] => false,
        };
        if !is_simple {
            self.finish(pseudonyms, out);
            let hidden = pseudonyms.message(message, &mut self.scratch);
            self.speller.message(message, hidden, separator, out);
            out.push(b'\n');
            return;
        }
        pseudonyms.use_with(&mut self.scratch);
        let start = out.len();
        match as_logged(message, text, separator) {
            Some(text) => {
                out.extend_from_slice(text);
                out.extend_from_slice(separator);
            }
            None => spell(message, bytes, separator, out),
        }
        let end = out.len();
        out.push(b'\n');
        let longer = separator.len() - 1;
        for (before, field) in message.fields().enumerate() {
            if pseudonyms.hides(message, before, &field, &mut self.scratch) {
                let own = field.offset + digits(field.tag) + 1;
                let length = field.value.len();
                let value = short_value(bytes, own, length);
                let at = start + own + before * longer;
                pseudonyms.place(out, at, length, value, &mut self.scratch);
            }
        }
        self.pending.push(Pending {
            start,
            end,
            fields: message.len(),
            separator,
        });
        if self.scratch.waiting() >= SHORTS {
            self.finish(pseudonyms, out);
        }
    }

    /// The unknown tags with values that stayed as they were, since this was asked last, and how many.
    pub(crate) fn take_left(&mut self) -> std::collections::BTreeMap<u32, u64> {
        self.scratch.take_left()
    }

    /// Completes the messages that were appended.
    pub(crate) fn finish(&mut self, pseudonyms: &Pseudonyms, out: &mut [u8]) {
        pseudonyms.finish(out, &mut self.scratch);
        for pending in self.pending.drain(..) {
            let text = out.get_mut(pending.start..pending.end);
            text.and_then(|text| complete(text, pending.fields, pending.separator));
        }
    }
}

/// The message as its log has it up to the last separator, where that has two bytes or more and is in no
/// value, if all of the message is there in the usual form.
fn as_logged<'t>(message: &Message<'_, '_>, text: &'t [u8], separator: &[u8]) -> Option<&'t [u8]> {
    let longer = separator.len().checked_sub(1).filter(|more| *more > 0)?;
    let (_, before) = message.bytes().split_last()?;
    let text = text.get(..before.len() + (message.len() - 1) * longer)?;
    // CheckSum may be written otherwise, and the byte 1 may be among the other separators.
    let is_same = text.last_chunk::<6>()? == before.last_chunk()? && memchr(SOH, text).is_none();
    is_same.then_some(text)
}

/// Computes the CheckSum of a message as its log spells it, which ends with a separator.
fn complete(text: &mut [u8], fields: usize, separator: &[u8]) -> Option<()> {
    let trailer = text.len().checked_sub(b"10=000".len() + separator.len())?;
    let (before, field) = text.split_at_mut_checked(trailer)?;
    // A separator counts as the byte 1.
    let each = frame::checksum(separator).wrapping_sub(SOH);
    let separators = each.wrapping_mul((fields - 1) as u8);
    let right = frame::checksum_field(frame::checksum(before).wrapping_sub(separators));
    let digits = b"10=".len()..b"10=000".len();
    field
        .get_mut(digits.clone())?
        .copy_from_slice(right.get(digits)?);
    Some(())
}

#[cfg(test)]
mod tests {
    use fixcore::separator::SPELLINGS;
    use fixcore::workload::{Log, Mix};
    use fixcore::{Decoder, Encoder};

    use super::*;

    /// Logs of messages with values of all lengths, new ones and known ones.
    fn messages() -> Vec<Vec<u8>> {
        let mut log = Log::new(Mix::default(), 3, 0.0, 5);
        let mut encoder = Encoder::new("FIX.4.4");
        let mut messages = Vec::new();
        for number in 0..400_usize {
            let mut bytes = Vec::new();
            log.message(&mut bytes).expect("a message");
            messages.push(bytes);
            let text = "Say ^B12=no to Zq9| and 8=FIX, ".repeat(number % 9);
            let mut message = encoder.start("B").bytes(148, b"head");
            if number % 3 > 0 {
                message = message.bytes(58, format!("x{text}").as_bytes());
            }
            if number % 5 == 0 {
                message = message.data(95, 96, b"a\x01\xffb|^A1=c");
            }
            message = message.unsigned(5001, number as u64);
            messages.push(message.finish().expect("a message").to_vec());
        }
        messages
    }

    /// The text of a log from a message on: with and without the last separator, and none.
    fn text_of(message: &Message<'_, '_>, separator: &[u8], number: usize) -> Vec<u8> {
        let mut text = Vec::new();
        spell(message, message.bytes(), separator, &mut text);
        match number % 3 {
            0 => text.truncate(text.len() - separator.len()),
            1 => text.extend_from_slice(b"\nnext"),
            _ => text.clear(),
        }
        text
    }

    #[test]
    fn a_batch_writes_what_messages_one_by_one_have() {
        let pseudonyms = Pseudonyms::new(b"sixteen bytes ok").expect("it is long enough");
        let messages = messages();
        let mut decoder = Decoder::new();
        for spelling in SPELLINGS.into_iter().chain([&[SOH][..]]) {
            let mut batch = Batch::new(DataPairs::standard());
            let (mut scratch, mut speller) =
                (Scratch::default(), Speller::new(DataPairs::standard()));
            let (mut out, mut expected) = (Vec::new(), Vec::new());
            for (number, bytes) in messages.iter().enumerate() {
                let message = decoder.parse(bytes).expect("valid");
                let text = text_of(&message, spelling, number);
                batch.message(&pseudonyms, &message, (&text, spelling), &mut out);
                let hidden = pseudonyms.message(&message, &mut scratch);
                speller.message(&message, hidden, spelling, &mut expected);
                expected.push(b'\n');
            }
            batch.finish(&pseudonyms, &mut out);
            assert!(out == expected, "{}", spelling.escape_ascii());
        }
    }

    /// What is written is a log: as many messages of the same fields, all valid, of the same lengths.
    #[test]
    fn what_is_written_is_read_back_with_the_same_structure() {
        let pseudonyms = Pseudonyms::new(b"sixteen bytes ok").expect("it is long enough");
        let messages = messages();
        let (mut decoder, mut other) = (Decoder::new(), Decoder::new());
        for spelling in SPELLINGS.into_iter().chain([&[SOH][..]]) {
            let mut batch = Batch::new(DataPairs::standard());
            let mut out = Vec::new();
            for (number, bytes) in messages.iter().enumerate() {
                let message = decoder.parse(bytes).expect("valid");
                let text = text_of(&message, spelling, number);
                batch.message(&pseudonyms, &message, (&text, spelling), &mut out);
            }
            batch.finish(&pseudonyms, &mut out);
            let mut read = 0;
            crate::split(
                &out[..],
                crate::Separator::Auto,
                |offset, what| match what {
                    crate::Found::Message(bytes, _) => {
                        let before = decoder.parse(&messages[read]).expect("valid");
                        let what = || format!("{offset}: {}", bytes.escape_ascii());
                        let Ok(after) = other.parse(bytes) else {
                            panic!("{}", what());
                        };
                        let shape = |message: &Message<'_, '_>| {
                            let fields = message.fields();
                            let fields = fields.map(|field| (field.tag, field.value.len()));
                            fields.collect::<Vec<_>>()
                        };
                        assert_eq!(shape(&after), shape(&before), "{}", what());
                        read += 1;
                    }
                    crate::Found::Bad(why) => panic!("{offset}: {why}"),
                    _ => {}
                },
            )
            .expect("a slice is read");
            assert_eq!(read, messages.len(), "{}", spelling.escape_ascii());
        }
    }
}
