//! A session as its client sees it: numbers, orders that are out, and answers that are compared with them.

use std::collections::VecDeque;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fixcore::frame::{self, SOH, TRAILER_BYTES};
use fixcore::{Decoder, Timestamp};

use crate::Error;

const BEGIN_STRING: &[u8] = b"FIX.4.4";
/// Digits of a ClOrdID (11).
const ID_DIGITS: usize = 10;
/// Bytes of a message that an error shows.
const SHOWN_BYTES: usize = 300;

/// An order that is out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    id: u64,
    pub(super) due: Instant,
    pub(super) sent: Instant,
}

/// What a message is to its session.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    /// The answer to an order, and whether it is what was sent.
    Order(Asked, bool),
    /// A Heartbeat, say.
    Other,
    LoggedOn,
    LoggedOut,
}

/// One session.
#[derive(Debug)]
pub(super) struct Conversation {
    /// `49=C1`, with its separator.
    sender: String,
    next_out: u64,
    next_in: u64,
    next_id: u64,
    asked: VecDeque<Asked>,
    /// What came, and where the first message begins that was not taken.
    pub(super) input: Vec<u8>,
    start: usize,
    pub(super) has_ended: bool,
    decoder: Decoder,
    body: Vec<u8>,
    /// A message, ready to be sent.
    pub(super) message: Vec<u8>,
}

impl Conversation {
    /// Session `at`, from 0.
    pub(super) fn new(at: usize) -> Self {
        Self {
            sender: format!("49=C{}\x01", at + 1),
            next_out: 1,
            next_in: 1,
            next_id: 0,
            asked: VecDeque::new(),
            input: Vec::new(),
            start: 0,
            has_ended: false,
            decoder: Decoder::new(),
            body: Vec::new(),
            message: Vec::new(),
        }
    }

    /// Begins again with number 1.
    pub(super) fn restart(&mut self) {
        (self.next_out, self.next_in, self.start) = (1, 1, 0);
        self.input.clear();
    }

    /// Makes a message with the next number.
    pub(super) fn write(&mut self, msg_type: &str, body: &[u8]) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let ns = now.map_or(0, |now| i64::try_from(now.as_nanos()).unwrap_or(i64::MAX));
        self.body.clear();
        self.body.extend_from_slice(b"35=");
        self.body.extend_from_slice(msg_type.as_bytes());
        self.body.extend_from_slice(b"\x0134=");
        push_number(&mut self.body, self.next_out, 1);
        self.body.push(SOH);
        self.body.extend_from_slice(self.sender.as_bytes());
        self.body.extend_from_slice(b"52=");
        self.body.extend_from_slice(&Timestamp(ns).to_millis());
        self.body.extend_from_slice(b"\x0156=SERVER\x01");
        self.body.extend_from_slice(body);
        self.message.clear();
        frame::write(BEGIN_STRING, &self.body, &mut self.message);
        self.next_out += 1;
    }

    pub(super) fn write_logon(&mut self) {
        self.write("A", b"98=0\x01108=300\x01141=Y\x01");
    }

    /// Makes the next order, which counts as sent now.
    pub(super) fn write_order(&mut self, due: Option<Instant>) {
        let id = self.next_id;
        self.next_id += 1;
        self.write("D", &order(id));
        let sent = Instant::now();
        let due = due.unwrap_or(sent);
        self.asked.push_back(Asked { id, due, sent });
    }

    /// Orders without an answer.
    pub(super) fn waiting(&self) -> usize {
        self.asked.len()
    }

    /// The next message that is complete.
    pub(super) fn next(&mut self) -> Result<Option<Answer>, Error> {
        let rest = self.input.get(self.start..).unwrap_or(&[]);
        let end = frame::end(rest, SOH).map(|end| end + 1);
        let Some(bytes) = end.and_then(|end| rest.get(..end)) else {
            self.input.drain(..self.start);
            self.start = 0;
            return Ok(None);
        };
        self.start += bytes.len();
        let unexpected = || {
            let shown: String = String::from_utf8_lossy(bytes)
                .chars()
                .take(SHOWN_BYTES)
                .collect();
            let shown = shown.replace('\x01', "|");
            Error::new(format!("an engine answers with {shown}"))
        };
        let message = self.decoder.parse(bytes).map_err(|_| unexpected())?;
        let number = message.get_u64(34).ok().flatten();
        let in_order = number == Some(self.next_in);
        self.next_in += 1;
        match message.msg_type() {
            b"D" => {
                let asked = self.asked.pop_front().ok_or_else(unexpected)?;
                let right = in_order && ends_with(bytes, &order(asked.id));
                Ok(Some(Answer::Order(asked, right)))
            }
            b"A" if in_order => Ok(Some(Answer::LoggedOn)),
            b"5" => Ok(Some(Answer::LoggedOut)),
            b"0" | b"1" if in_order => Ok(Some(Answer::Other)),
            _ => Err(unexpected()),
        }
    }

    /// Takes all that came: how many are the answers to the first orders, sent again in order.
    pub(super) fn take_sent_again(&mut self, first: u64, count: u64) -> u64 {
        let input = std::mem::take(&mut self.input);
        let start = std::mem::take(&mut self.start);
        self.sent_again(input.get(start..).unwrap_or(&[]), first, count)
    }

    fn sent_again(&mut self, mut bytes: &[u8], first: u64, count: u64) -> u64 {
        let mut right = 0;
        for at in 0..count {
            let Some(end) = frame::end(bytes, SOH).map(|end| end + 1) else {
                break;
            };
            let Some((message, rest)) = bytes.split_at_checked(end) else {
                break;
            };
            bytes = rest;
            let Ok(parsed) = self.decoder.parse(message) else {
                continue;
            };
            let is_next = parsed.get_u64(34).ok().flatten() == Some(first + at);
            let is_again = parsed.get(43) == Some(b"Y") && parsed.get(122).is_some();
            right += u64::from(is_next && is_again && ends_with(message, &order(at)));
        }
        right
    }
}

/// The fields of an order, by ascending tag, as engines return them.
fn order(id: u64) -> Vec<u8> {
    let mut body = Vec::with_capacity(96);
    body.extend_from_slice(b"11=");
    push_number(&mut body, id, ID_DIGITS);
    body.extend_from_slice(
        b"\x0121=1\x0138=100\x0140=2\x0144=101.25\x0154=1\x0155=MSFT\x0159=0\x0160=20260105-10:00:00.000\x01",
    );
    body
}

/// Appends a number with at least `digits` digits.
fn push_number(out: &mut Vec<u8>, mut number: u64, digits: usize) {
    let start = out.len();
    while number > 0 || out.len() < start + digits {
        out.push(b'0' + (number % 10) as u8);
        number /= 10;
    }
    if let Some(digits) = out.get_mut(start..) {
        digits.reverse();
    }
}

/// Whether this is the last that a message has, but for its CheckSum.
fn ends_with(message: &[u8], body: &[u8]) -> bool {
    let end = message.len().saturating_sub(TRAILER_BYTES);
    message
        .get(..end)
        .is_some_and(|message| message.ends_with(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_compared_with_what_was_sent() {
        let mut ours = Conversation::new(6);
        ours.write_order(None);
        let text = String::from_utf8_lossy(&ours.message).replace('\x01', "|");
        assert!(text.contains("|35=D|34=1|49=C7|52=2"), "{text}");
        assert!(
            text.contains("|56=SERVER|11=0000000000|21=1|38=100|"),
            "{text}"
        );
        let echo = ours.message.clone();
        let (head, tail) = echo.split_at(40);
        ours.input.extend_from_slice(head);
        assert!(ours.next().unwrap().is_none());
        ours.input.extend_from_slice(tail);
        assert!(matches!(ours.next().unwrap(), Some(Answer::Order(_, true))));
        // The same again has the number and the id of the one before.
        ours.write_order(None);
        ours.input.extend_from_slice(&echo);
        assert!(matches!(
            ours.next().unwrap(),
            Some(Answer::Order(_, false))
        ));
        ours.write("3", b"45=2\x0158=no\x01");
        let reject = ours.message.clone();
        ours.input.extend_from_slice(&reject);
        let error = ours.next().unwrap_err().to_string();
        assert!(error.contains("|58=no|"), "{error}");
    }

    #[test]
    fn messages_sent_again_have_the_flag_and_their_numbers() {
        let mut server = Conversation::new(0);
        let mut all = Vec::new();
        for at in 0..3 {
            let body = [b"43=Y\x01122=20260105-10:00:00\x01".to_vec(), order(at)].concat();
            server.write("D", &body);
            all.extend_from_slice(&server.message);
        }
        let mut client = Conversation::new(0);
        assert_eq!(client.sent_again(&all, 1, 3), 3);
        assert_eq!(client.sent_again(&all, 2, 3), 0);
        assert_eq!(client.sent_again(&all[..all.len() - 1], 1, 3), 2);
    }
}
