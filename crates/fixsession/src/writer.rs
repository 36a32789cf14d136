//! Writes messages of a session: 8, 9, 35, then the other header fields by ascending tag, as QuickFIX
//! writes them, then the body as it is.
//!
//! `fixcore::Encoder` writes field by field and refuses empty values; here a body is given as bytes,
//! and an empty TestReqID (112) must be answered with an empty one.

use fixcore::frame::checksum_field;
use fixcore::{DataPairs, SOH, Scanner};
use memchr::memchr;

use crate::id::SessionId;

/// A field of a body that cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadField {
    /// Where it begins in the body.
    pub(crate) offset: usize,
}

/// What the session itself writes into a header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) msg_type: &'a [u8],
    pub(crate) number: u64,
    /// SendingTime (52).
    pub(crate) time: &'a [u8],
    /// OrigSendingTime (122), with which PossDupFlag (43) is `Y`.
    pub(crate) first_time: Option<&'a [u8]>,
    /// LastMsgSeqNumProcessed (369).
    pub(crate) processed: Option<u64>,
}

/// A header field: its rank, and its bytes in the text of the session or in the body.
#[derive(Debug, Clone, Copy)]
struct Place {
    rank: u32,
    of_body: bool,
    start: usize,
    end: usize,
}

/// Writes messages, and reuses its buffers.
#[derive(Debug)]
pub(crate) struct Writer {
    begin_string: Vec<u8>,
    /// The fields that are the same in every message, with their ranks.
    names: Vec<(u32, Vec<u8>)>,
    scanner: Scanner,
    pairs: DataPairs,
    places: Vec<Place>,
    text: Vec<u8>,
    /// Parts of the body that stay there.
    parts: Vec<(usize, usize)>,
}

impl Writer {
    pub(crate) fn new(id: &SessionId) -> Self {
        let names = [
            (49, &id.sender),
            (50, &id.sender_sub),
            (56, &id.target),
            (57, &id.target_sub),
            (142, &id.sender_location),
            (143, &id.target_location),
        ];
        let names = names.into_iter().filter(|(_, name)| !name.is_empty());
        Self {
            begin_string: id.begin_string.clone().into_bytes(),
            names: names
                .map(|(tag, name)| (tag, format!("{tag}={name}\x01").into_bytes()))
                .collect(),
            scanner: Scanner::new(),
            pairs: DataPairs::standard(),
            places: Vec::new(),
            text: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Writes a message in place of what `out` has.
    pub(crate) fn write(
        &mut self,
        head: &Head<'_>,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), BadField> {
        self.places.clear();
        self.text.clear();
        self.parts.clear();
        self.sort_body(body)?;
        for at in 0..self.names.len() {
            let Some((tag, field)) = self.names.get(at) else {
                break;
            };
            // What the application says of its own desk comes before what the session says.
            if self.places.iter().all(|place| place.rank != *tag) {
                let start = self.text.len();
                self.text.extend_from_slice(field);
                self.place(*tag, start);
            }
        }
        self.number(34, head.number);
        self.field(52, head.time);
        if let Some(time) = head.first_time {
            self.field(43, b"Y");
            self.field(122, time);
        }
        if let Some(processed) = head.processed {
            self.number(369, processed);
        }
        self.places.sort_by_key(|place| place.rank);
        self.put_together(head.msg_type, body, out);
        Ok(())
    }

    fn place(&mut self, rank: u32, start: usize) {
        let end = self.text.len();
        self.places.push(Place {
            rank,
            of_body: false,
            start,
            end,
        });
    }

    fn field(&mut self, tag: u32, value: &[u8]) {
        let start = self.text.len();
        push_number(&mut self.text, u64::from(tag));
        self.text.push(b'=');
        self.text.extend_from_slice(value);
        self.text.push(SOH);
        self.place(tag, start);
    }

    fn number(&mut self, tag: u32, value: u64) {
        let start = self.text.len();
        push_number(&mut self.text, u64::from(tag));
        self.text.push(b'=');
        push_number(&mut self.text, value);
        self.text.push(SOH);
        self.place(tag, start);
    }

    /// Finds header fields in a body, and leaves out those that only a session writes.
    fn sort_body(&mut self, body: &[u8]) -> Result<(), BadField> {
        let (mut at, mut kept, mut due) = (0, 0, None);
        while at < body.len() {
            let bad = BadField { offset: at };
            let rest = body.get(at..).unwrap_or(&[]);
            let (tag, value) = tag(rest).ok_or(bad)?;
            let end = match due.take() {
                Some((data, length)) if data == tag => Some(value + length),
                _ => memchr(SOH, rest.get(value..).unwrap_or(&[])).map(|length| value + length),
            };
            let end = end.filter(|end| rest.get(*end) == Some(&SOH)).ok_or(bad)?;
            let pairs = self.pairs.pairs();
            if let Ok(pair) = pairs.binary_search_by_key(&tag, |pair| pair.0) {
                let length = rest.get(value..end).and_then(fixcore::value::unsigned);
                let length = length.and_then(|length| usize::try_from(length).ok());
                due = length.and_then(|length| Some((pairs.get(pair)?.1, length)));
            }
            let next = at + end + 1;
            match Kind::of(tag) {
                Kind::Body => {}
                kind => {
                    if kept < at {
                        self.parts.push((kept, at));
                    }
                    kept = next;
                    if let Kind::Header(rank) = kind {
                        self.places.push(Place {
                            rank,
                            of_body: true,
                            start: at,
                            end: next,
                        });
                    }
                }
            }
            at = next;
        }
        if kept < body.len() {
            self.parts.push((kept, body.len()));
        }
        Ok(())
    }

    fn put_together(&self, msg_type: &[u8], body: &[u8], out: &mut Vec<u8>) {
        let header = self.places.iter().map(|place| place.end - place.start);
        let parts = self.parts.iter().map(|part| part.1 - part.0);
        let length = 3 + msg_type.len() + 1 + header.chain(parts).sum::<usize>();
        out.clear();
        out.extend_from_slice(b"8=");
        out.extend_from_slice(&self.begin_string);
        out.extend_from_slice(b"\x019=");
        push_number(out, length as u64);
        out.extend_from_slice(b"\x0135=");
        out.extend_from_slice(msg_type);
        out.push(SOH);
        for place in &self.places {
            let text = match place.of_body {
                true => body,
                false => &self.text,
            };
            out.extend_from_slice(text.get(place.start..place.end).unwrap_or(&[]));
        }
        for (start, end) in &self.parts {
            out.extend_from_slice(body.get(*start..*end).unwrap_or(&[]));
        }
        let sum = self.scanner.sum(out);
        out.extend_from_slice(&checksum_field(sum));
    }
}

/// Where a field belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// In the header, at this rank.
    Header(u32),
    /// Only a session writes it.
    Session,
    Body,
}

impl Kind {
    fn of(tag: u32) -> Self {
        match tag {
            8 | 9 | 10 | 34 | 35 | 43 | 49 | 52 | 56 | 122 | 369 => Self::Session,
            // The entries of NoHops keep their order behind it.
            627..=630 => Self::Header(627),
            50
            | 57
            | 90
            | 91
            | 97
            | 115
            | 116
            | 128
            | 129
            | 142..=145
            | 212
            | 213
            | 347
            | 370
            | 1128
            | 1129
            | 1156 => Self::Header(tag),
            _ => Self::Body,
        }
    }
}

/// Whether only a session writes this field.
pub(crate) fn is_of_session(tag: u32) -> bool {
    Kind::of(tag) == Kind::Session
}

/// The tag at the start of a field, and where its value begins.
fn tag(field: &[u8]) -> Option<(u32, usize)> {
    let head = field.get(..10).unwrap_or(field);
    let equals = head.iter().position(|byte| *byte == b'=')?;
    let tag = fixcore::value::unsigned(head.get(..equals)?)?;
    let tag = u32::try_from(tag).ok().filter(|tag| *tag > 0)?;
    Some((tag, equals + 1))
}

/// Appends an unsigned number.
pub(crate) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        if let Some(digit) = digits.get_mut(at) {
            *digit = b'0' + (number % 10) as u8;
        }
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(at..).unwrap_or(&[]));
}

/// Appends a field.
pub(crate) fn push_field(out: &mut Vec<u8>, tag: u32, value: &[u8]) {
    push_number(out, u64::from(tag));
    out.push(b'=');
    out.extend_from_slice(value);
    out.push(SOH);
}

/// Appends a field with a number.
pub(crate) fn push_number_field(out: &mut Vec<u8>, tag: u32, value: u64) {
    push_number(out, u64::from(tag));
    out.push(b'=');
    push_number(out, value);
    out.push(SOH);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(id: &SessionId, first_time: Option<&[u8]>, body: &str) -> String {
        let head = Head {
            msg_type: b"D",
            number: 7,
            time: b"T",
            first_time,
            processed: None,
        };
        let mut out = Vec::new();
        let body = body.replace('|', "\x01");
        Writer::new(id)
            .write(&head, body.as_bytes(), &mut out)
            .unwrap();
        fixcore::Decoder::new().parse(&out).unwrap();
        String::from_utf8(out).unwrap().replace('\x01', "|")
    }

    #[test]
    fn header_fields_are_in_ascending_order_wherever_they_come_from() {
        let mut id = SessionId::new("FIX.4.4", "ME", "YOU");
        let text = written(&id, None, "97=Y|11=x|115=DESK|43=Y|122=old|38=5|");
        assert!(
            text.contains("|35=D|34=7|49=ME|52=T|56=YOU|97=Y|115=DESK|11=x|38=5|10="),
            "{text}"
        );
        id.sender_sub = "SUB".to_owned();
        id.target_location = "LOC".to_owned();
        let text = written(&id, Some(b"then"), "11=x|");
        assert!(
            text.contains("|34=7|43=Y|49=ME|50=SUB|52=T|56=YOU|122=then|143=LOC|11=x|10="),
            "{text}"
        );
        let text = written(&id, None, "50=OTHER|95=5|96=a|43=|11=x|");
        assert!(text.contains("|50=OTHER|52=T|"), "{text}");
        assert!(text.contains("|95=5|96=a|43=|11=x|"), "{text}");
    }

    #[test]
    fn a_body_that_is_no_fields_is_refused_with_its_place() {
        let mut writer = Writer::new(&SessionId::new("FIX.4.4", "ME", "YOU"));
        let head = Head {
            msg_type: b"0",
            number: 1,
            time: b"T",
            first_time: None,
            processed: None,
        };
        for (body, offset) in [
            (&b"11=x"[..], 0),
            (b"11=x\x01=y\x01", 5),
            (b"11=x\x010=y\x01", 5),
            (b"95=9\x0196=ab\x01", 5),
        ] {
            let refused = writer.write(&head, body, &mut Vec::new());
            assert_eq!(refused, Err(BadField { offset }), "{}", body.escape_ascii());
        }
        assert_eq!(writer.write(&head, b"112=\x01", &mut Vec::new()), Ok(()));
    }
}
