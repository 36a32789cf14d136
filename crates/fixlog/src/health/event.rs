//! What one block of a log says about its sessions, gathered by any thread, in the order of the block.

use fixcore::value::unsigned;
use fixcore::{Message, Timestamp};
use twox_hash::XxHash3_128;

use crate::arrival::{Logged, arrival};
use crate::sessions::Sessions;
use crate::statistics::Header;

/// Bytes of a text or an id that are kept.
const TEXT_BYTES_MAX: usize = 256;

/// What a message is to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// With the hash of TestReqID (112) if it has one.
    Heartbeat(Option<u128>),
    TestRequest(u128),
    /// BeginSeqNo (7) and EndSeqNo (16).
    Request(u64, u64),
    /// NewSeqNo (36) of a gap fill.
    Fill(u64),
    /// NewSeqNo of a reset.
    Reset(u64),
    /// HeartBtInt (108) in seconds, and whether numbers begin anew.
    Logon(Option<u64>, bool),
    Logout,
    /// The type of the reject, and the tag of its reason.
    Reject(u8, u32),
    /// A Reject (35=3) of a Logon.
    LogonReject,
}

/// A message.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) kind: Kind,
    /// Whether it was sent before (43=Y).
    pub(super) is_resent: bool,
    /// MsgSeqNum (34).
    pub(super) number: Option<u64>,
    /// SendingTime (52).
    pub(super) sent_ns: Option<i64>,
    /// The time that the log has before it.
    pub(super) logged: Option<Logged>,
    /// Of a capture, the number of the TCP connection.
    pub(super) stream: Option<u64>,
    pub(super) offset: u64,
    pub(super) line: Option<u64>,
    /// The place in the names of the part.
    pub(super) names: u32,
    /// Where in the text its texts are: reason and Text (58), or an id.
    texts: [(u32, u32); 2],
}

impl Event {
    /// The time that the log has before it, in whatever zone.
    pub(super) fn logged_ns(&self) -> Option<i64> {
        self.logged.map(|logged| logged.ns)
    }
}

/// The messages of one block: the input of [`Health`](super::Health).
#[derive(Debug, Default)]
pub struct HealthPart {
    pub(super) events: Vec<Event>,
    pub(super) names: Sessions<5>,
    text: Vec<u8>,
    /// Of the messages that come next: when they arrived, and on which TCP connection.
    came: (Option<i64>, Option<u64>),
    /// Messages behind something like a time that was not read.
    pub(super) untimed: u64,
}

impl HealthPart {
    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.events.clear();
        self.names.clear();
        self.text.clear();
        self.came = (None, None);
        self.untimed = 0;
    }

    /// Says of the messages that come next when they arrived, in nanoseconds since 1970 in UTC, and the number of
    /// the TCP connection that they came on. It is for captures: a later connection has a greater number.
    pub fn came(&mut self, arrived_ns: Option<i64>, connection: Option<u64>) {
        self.came = (arrived_ns, connection);
    }

    /// Adds a message at a byte and line of the log, with what its line has before it. A message without
    /// CompIDs is of no session.
    pub fn message(
        &mut self,
        (offset, line): (u64, Option<u64>),
        prefix: &[u8],
        message: &Message<'_, '_>,
    ) {
        let header = Header::of(message);
        let (Some(sender), Some(target)) = (header.sender, header.target) else {
            return;
        };
        let number = |tag| message.get(tag).and_then(unsigned);
        let id = || message.get(112).map(XxHash3_128::oneshot);
        let is_rejected = || message.get(39) == Some(b"8");
        let kind = match message.msg_type() {
            b"0" => Kind::Heartbeat(id()),
            b"1" => Kind::TestRequest(id().unwrap_or(0)),
            b"2" => Kind::Request(number(7).unwrap_or(0), number(16).unwrap_or(0)),
            b"4" => match (message.get(123), number(36)) {
                (Some(b"Y"), next) => Kind::Fill(next.unwrap_or(0)),
                (_, next) => Kind::Reset(next.unwrap_or(0)),
            },
            b"A" => Kind::Logon(number(108), message.get(141) == Some(b"Y")),
            b"5" => Kind::Logout,
            b"3" if message.get(372) == Some(b"A") => Kind::LogonReject,
            b"3" => Kind::Reject(b'3', 373),
            b"j" => Kind::Reject(b'j', 380),
            b"8" if is_rejected() => Kind::Reject(b'8', 103),
            b"9" => Kind::Reject(b'9', 102),
            _ => Kind::Plain,
        };
        let texts = match kind {
            Kind::LogonReject => [self.keep(message.get(373)), self.keep(message.get(58))],
            Kind::Reject(_, tag) => [self.keep(message.get(tag)), self.keep(message.get(58))],
            Kind::TestRequest(_) => [self.keep(message.get(112)), (0, 0)],
            Kind::Logout => [(0, 0), self.keep(message.get(58))],
            _ => [(0, 0); 2],
        };
        let sent_ns = header.sent.and_then(Timestamp::parse).map(|time| time.0);
        let logged = match (self.came.0, prefix) {
            (Some(ns), _) => Some(Logged { ns, is_utc: true }),
            (None, []) => None,
            (None, prefix) => sent_ns.and_then(|sent| arrival(prefix, sent)),
        };
        self.untimed += u64::from(logged.is_none() && sent_ns.is_some() && is_like_a_time(prefix));
        let begin = message.get(8).unwrap_or_default();
        let [sub, target_sub] = header.subs.map(Option::unwrap_or_default);
        let names = [begin, sender, target, sub, target_sub];
        let names = self.names.place(names) as u32;
        self.events.push(Event {
            kind,
            is_resent: header.is_resent,
            number: header.number.and_then(unsigned),
            sent_ns,
            logged,
            stream: self.came.1,
            offset,
            line,
            names,
            texts,
        });
    }

    fn keep(&mut self, value: Option<&[u8]>) -> (u32, u32) {
        let value = value.unwrap_or_default();
        let start = self.text.len() as u32;
        self.text
            .extend_from_slice(&value[..value.len().min(TEXT_BYTES_MAX)]);
        (start, self.text.len() as u32)
    }

    /// The texts of an event.
    pub(super) fn texts(&self, event: &Event) -> [&[u8]; 2] {
        event.texts.map(|(start, end)| {
            let text = self.text.get(start as usize..end as usize);
            text.unwrap_or_default()
        })
    }
}

/// Whether what stands before a message has as many digits as a time of the day.
fn is_like_a_time(prefix: &[u8]) -> bool {
    const DIGITS: usize = 6;
    prefix.iter().filter(|byte| byte.is_ascii_digit()).count() >= DIGITS
}
