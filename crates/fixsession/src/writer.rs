//! Writes messages of a session: 8, 9, 35, then the other header fields by ascending tag, as QuickFIX
//! writes them, then the body as it is.
//!
//! `fixcore::Encoder` writes field by field and refuses empty values; here a body is given as bytes,
//! and an empty TestReqID (112) must be answered with an empty one.

use fixcore::frame::checksum_field;
use fixcore::{SOH, Scanner};
use memchr::memchr;

use crate::id::SessionId;
use crate::tags::{Kind, Tags};

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

/// Values this short are searched byte by byte.
const SHORT_BYTES: usize = 16;
/// Writes messages, and reuses its buffers.
#[derive(Debug)]
pub(crate) struct Writer {
    begin_string: Vec<u8>,
    /// The fields that are the same in every message, with their ranks, in ascending order.
    names: Vec<(u32, Vec<u8>)>,
    /// The same, end to end: before SendingTime (52), before OrigSendingTime (122), and the others.
    runs: [Vec<u8>; 3],
    scanner: Scanner,
    tags: &'static Tags,
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
        let names: Vec<(u32, Vec<u8>)> = names
            .map(|(tag, name)| (tag, format!("{tag}={name}\x01").into_bytes()))
            .collect();
        let run = |from: u32, to: u32| {
            let run = names.iter().filter(|name| (from..to).contains(&name.0));
            run.flat_map(|name| name.1.iter().copied()).collect()
        };
        Self {
            begin_string: id.begin_string.clone().into_bytes(),
            runs: [run(0, 52), run(52, 122), run(122, u32::MAX)],
            names,
            scanner: Scanner::new(),
            tags: Tags::get(),
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
        if self.places.is_empty() {
            self.in_order(head, body, out);
            return Ok(());
        }
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

    /// Writes a message whose body has no header fields: those of the session in ascending order.
    fn in_order(&self, head: &Head<'_>, body: &[u8], out: &mut Vec<u8>) {
        let [low, middle, high] = &self.runs;
        let field = |tag: usize, value: usize| tag + 1 + value + 1;
        let again = head.first_time.map_or(0, |time| 5 + field(3, time.len()));
        let processed = head.processed.map_or(0, |number| field(3, digits(number)));
        let length = field(2, head.msg_type.len())
            + field(2, digits(head.number))
            + field(2, head.time.len())
            + (low.len() + middle.len() + high.len() + again + processed)
            + self.parts.iter().map(|part| part.1 - part.0).sum::<usize>();
        self.start(head.msg_type, length, out);
        push_number_field(out, 34, head.number);
        if head.first_time.is_some() {
            out.extend_from_slice(b"43=Y\x01");
        }
        out.extend_from_slice(low);
        out.extend_from_slice(b"52=");
        out.extend_from_slice(head.time);
        out.push(SOH);
        out.extend_from_slice(middle);
        if let Some(time) = head.first_time {
            push_field(out, 122, time);
        }
        out.extend_from_slice(high);
        if let Some(processed) = head.processed {
            push_number_field(out, 369, processed);
        }
        self.end(body, out);
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
                _ => soh(rest, value),
            };
            let end = end.filter(|end| rest.get(*end) == Some(&SOH)).ok_or(bad)?;
            let next = at + end + 1;
            if !self.tags.is_special(tag) {
                at = next;
                continue;
            }
            if let Some(data) = self.tags.data_of(tag) {
                let length = rest.get(value..end).and_then(fixcore::value::unsigned);
                let length = length.and_then(|length| usize::try_from(length).ok());
                due = length.map(|length| (data, length));
            }
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
        self.start(msg_type, length, out);
        for place in &self.places {
            let text = match place.of_body {
                true => body,
                false => &self.text,
            };
            out.extend_from_slice(text.get(place.start..place.end).unwrap_or(&[]));
        }
        self.end(body, out);
    }

    /// Writes the first three fields.
    fn start(&self, msg_type: &[u8], length: usize, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(b"8=");
        out.extend_from_slice(&self.begin_string);
        out.extend_from_slice(b"\x019=");
        push_number(out, length as u64);
        out.extend_from_slice(b"\x0135=");
        out.extend_from_slice(msg_type);
        out.push(SOH);
    }

    /// Writes what stays of the body, and the CheckSum.
    fn end(&self, body: &[u8], out: &mut Vec<u8>) {
        for (start, end) in &self.parts {
            out.extend_from_slice(body.get(*start..*end).unwrap_or(&[]));
        }
        let sum = self.scanner.sum(out);
        out.extend_from_slice(&checksum_field(sum));
    }
}

/// The tag at the start of a field, and where its value begins.
#[inline]
fn tag(field: &[u8]) -> Option<(u32, usize)> {
    let mut tag = 0_u32;
    for (at, byte) in field.iter().take(10).enumerate() {
        match byte {
            // At most nine digits come before the tenth byte.
            b'0'..=b'9' => tag = tag.wrapping_mul(10).wrapping_add(u32::from(byte - b'0')),
            b'=' if tag > 0 => return Some((tag, at + 1)),
            _ => return None,
        }
    }
    None
}

/// Where the value ends that begins here.
#[inline]
fn soh(field: &[u8], value: usize) -> Option<usize> {
    let rest = field.get(value..)?;
    let near = rest.get(..SHORT_BYTES).unwrap_or(rest);
    let length = near.iter().position(|byte| *byte == SOH);
    length
        .or_else(|| memchr(SOH, rest))
        .map(|length| value + length)
}

/// How many digits a number has.
fn digits(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
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
    fn both_ways_to_write_a_header_give_the_same() {
        let mut id = SessionId::new("FIX.4.4", "ME", "YOU");
        for at in 0..8_u32 {
            let set = |bit: u32| if at & bit == 0 { "" } else { "X" }.to_owned();
            (id.sender_sub, id.target_sub, id.target_location) = (set(1), set(2), set(4));
            for (first_time, processed) in [(None, None), (Some(&b"then"[..]), Some(99))] {
                let mut writer = Writer::new(&id);
                let head = Head {
                    msg_type: b"AE",
                    number: 10_u64.pow(at),
                    time: b"now",
                    first_time,
                    processed,
                };
                let write = |writer: &mut Writer, body: &str| {
                    let mut out = Vec::new();
                    let body = body.replace('|', "\x01");
                    writer.write(&head, body.as_bytes(), &mut out).unwrap();
                    fixcore::Decoder::new().parse(&out).unwrap();
                    String::from_utf8(out).unwrap().replace('\x01', "|")
                };
                let plain = write(&mut writer, "11=a|34=9|95=3|96=a|b|5001=c|");
                // The same with a field of the header behind all others, and then without it.
                let sorted = write(&mut writer, "11=a|95=3|96=a|b|5001=c|1156=7|");
                let without = sorted.replace("|1156=7|", "|");
                let tail = |text: &str| text[text.find("35=").unwrap()..text.len() - 7].to_owned();
                assert_eq!(tail(&plain), tail(&without));
            }
        }
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
