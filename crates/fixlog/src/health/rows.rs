//! What is found about sessions: rows with the same names in tables and in lines of JSON.

use std::io::Write as _;
use std::path::PathBuf;

use crate::Lines;
use crate::orders::time;

/// Where something was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spot {
    /// SenderCompID (49) and TargetCompID (56) of the direction, or of who began.
    pub session: [Vec<u8>; 2],
    /// Which log, counted from 0.
    pub log: usize,
    /// The byte of the message in its log.
    pub offset: u64,
    /// Its line, counted from 1, where it is known.
    pub line: Option<u64>,
}

/// Numbers of one direction that were left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// The message that shows the gap.
    pub spot: Spot,
    /// The number that should have come.
    pub expected: u64,
    /// The number that came.
    pub got: u64,
    /// When the last message before the gap was sent.
    pub before_ns: Option<i64>,
    /// When the message was sent that shows it.
    pub start_ns: Option<i64>,
    /// When the last missing number came or was passed over.
    pub end_ns: Option<i64>,
    /// How many numbers were sent again (43=Y), passed over by a gap fill, and came late without 43=Y.
    pub filled: [u64; 3],
    /// Why it ended: `resent`, `gap fill`, `resent and gap fill`, `late`, `reset`, or `never`.
    pub how: &'static str,
}

/// A ResendRequest (35=2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The request.
    pub spot: Spot,
    /// BeginSeqNo (7).
    pub from: u64,
    /// EndSeqNo (16); 0 is all.
    pub to: u64,
    /// When it was sent.
    pub start_ns: Option<i64>,
    /// When the first answer was sent, by the clock of the other side.
    pub end_ns: Option<i64>,
    /// The first answer: `resent`, `gap fill` or `never`.
    pub how: &'static str,
}

/// Three or more ResendRequests in a row for the same number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Storm {
    /// The first request.
    pub spot: Spot,
    /// The number that they ask for.
    pub from: u64,
    /// How many.
    pub requests: u64,
    /// When the first was sent.
    pub start_ns: Option<i64>,
    /// When the last was sent.
    pub end_ns: Option<i64>,
}

/// A connection of a session, from its Logon to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Connection {
    /// The Logon, or the first message if it was before the log.
    pub spot: Spot,
    /// When the Logon was sent.
    pub start_ns: Option<i64>,
    /// When the answer was sent, by the clock of the other side.
    pub answered_ns: Option<i64>,
    /// When the last message was sent.
    pub end_ns: Option<i64>,
    /// How long the session had been away before, by the messages' SendingTime.
    pub down_ns: Option<u64>,
    /// How many messages it had, in both directions.
    pub messages: u64,
    /// How it ended: `logout`, `logout not confirmed`, `no logout` (another Logon came without one), `logon not
    /// answered`, `logon refused`, or `end of log`.
    pub how: &'static str,
    /// Who sent the first Logout.
    pub by: Vec<u8>,
    /// Text (58) of the Logout.
    pub text: Vec<u8>,
}

/// A TestRequest (35=1) that no Heartbeat with its TestReqID (112) answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Test {
    /// The request.
    pub spot: Spot,
    /// When it was sent.
    pub start_ns: Option<i64>,
    /// TestReqID (112).
    pub id: Vec<u8>,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// Numbers that were left out.
    Gap(Gap),
    /// A ResendRequest.
    Request(Request),
    /// Many of them.
    Storm(Storm),
    /// A connection.
    Connection(Connection),
    /// A TestRequest without an answer.
    Test(Test),
}

/// One direction of a session, added up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Direction {
    /// SenderCompID (49) and TargetCompID (56).
    pub session: [Vec<u8>; 2],
    /// The log, counted from 0, in which it was first.
    pub log: usize,
    /// How many messages.
    pub messages: u64,
    /// How often numbers were left out.
    pub gaps: u64,
    /// How many numbers never came.
    pub missing: u64,
    /// How many came again without 43=Y.
    pub duplicates: u64,
    /// How many say that they are sent again (43=Y).
    pub resent: u64,
    /// How many ResendRequests it has.
    pub requests: u64,
    /// How many storms of them.
    pub storms: u64,
    /// How many Heartbeats that answer no TestRequest.
    pub heartbeats: u64,
    /// How often nothing was sent for more than 1.2 times HeartBtInt (108).
    pub overdue: u64,
    /// The longest time between two messages of a connection, by SendingTime.
    pub silence_ns: u64,
    /// How many TestRequests it has.
    pub tests: u64,
    /// How many of them were not answered.
    pub unanswered: u64,
    /// The times from SendingTime (52) to what the log has before messages.
    pub skew: Option<Skew>,
}

/// The times from SendingTime (52) to what a log has before messages, less the zone of the log. They are negative
/// where the clocks differ by more than a message took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skew {
    /// How many.
    pub messages: u64,
    /// The least, in nanoseconds.
    pub least_ns: i64,
    /// The largest, in nanoseconds.
    pub largest_ns: i64,
    /// All of them together, in nanoseconds.
    pub sum_ns: i128,
}

/// Rejects with the same reason and text, but for digits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejects {
    /// MsgType (35): `3`, `j`, `8` or `9`.
    pub msg_type: u8,
    /// SessionRejectReason (373), BusinessRejectReason (380), OrdRejReason (103) or CxlRejReason (102).
    pub tag: u32,
    /// Its value; empty if the message has none.
    pub reason: Vec<u8>,
    /// How many.
    pub count: u64,
    /// Text (58) of the first.
    pub text: Vec<u8>,
    /// The first.
    pub spot: Spot,
    /// When the first was sent.
    pub start_ns: Option<i64>,
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// None.
    Null,
    /// A number.
    Count(u64),
    /// Nanoseconds.
    Span(u64),
    /// A text.
    Text(Vec<u8>),
}

/// A row of a table: names of columns, and values.
pub type Row = Vec<(&'static str, Value)>;

fn moment(ns: Option<i64>) -> Value {
    ns.map_or(Value::Null, |ns| Value::Text(time(ns).into_bytes()))
}

/// From one time to another; none if the other is before.
fn span(start: Option<i64>, end: Option<i64>) -> Value {
    let span = start.zip(end).map(|(start, end)| end.saturating_sub(start));
    let span = span.and_then(|span| u64::try_from(span).ok());
    span.map_or(Value::Null, Value::Span)
}

fn name(session: &[Vec<u8>; 2]) -> Value {
    let [sender, target] = session;
    let text = format!("{} → {}", sender.escape_ascii(), target.escape_ascii());
    Value::Text(text.into_bytes())
}

impl Finding {
    /// The name of its kind, as `--list` has it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Gap(_) => "gap",
            Self::Request(_) => "resend request",
            Self::Storm(_) => "storm",
            Self::Connection(_) => "connection",
            Self::Test(_) => "unanswered test request",
        }
    }

    /// Where it is.
    #[must_use]
    pub fn spot(&self) -> &Spot {
        match self {
            Self::Gap(gap) => &gap.spot,
            Self::Request(request) => &request.spot,
            Self::Storm(storm) => &storm.spot,
            Self::Connection(connection) => &connection.spot,
            Self::Test(test) => &test.spot,
        }
    }

    /// Its values, without the place.
    #[must_use]
    pub fn row(&self) -> Row {
        let mut row = vec![("session", name(&self.spot().session))];
        match self {
            Self::Gap(gap) => row.extend([
                ("expected", Value::Count(gap.expected)),
                ("got", Value::Count(gap.got)),
                ("how", text(gap.how)),
                ("start", moment(gap.start_ns)),
                ("took_ns", span(gap.start_ns, gap.end_ns)),
                ("end", moment(gap.end_ns)),
                ("before", moment(gap.before_ns)),
                ("resent", Value::Count(gap.filled[0])),
                ("gap_filled", Value::Count(gap.filled[1])),
                ("late", Value::Count(gap.filled[2])),
            ]),
            Self::Request(request) => row.extend([
                ("from", Value::Count(request.from)),
                ("to", Value::Count(request.to)),
                ("how", text(request.how)),
                ("start", moment(request.start_ns)),
                ("took_ns", span(request.start_ns, request.end_ns)),
                ("end", moment(request.end_ns)),
            ]),
            Self::Storm(storm) => row.extend([
                ("from", Value::Count(storm.from)),
                ("requests", Value::Count(storm.requests)),
                ("start", moment(storm.start_ns)),
                ("took_ns", span(storm.start_ns, storm.end_ns)),
                ("end", moment(storm.end_ns)),
            ]),
            Self::Connection(one) => row.extend([
                ("start", moment(one.start_ns)),
                ("took_ns", span(one.start_ns, one.end_ns)),
                ("how", text(one.how)),
                ("by", Value::Text(one.by.clone())),
                ("end", moment(one.end_ns)),
                (
                    "down_before_ns",
                    one.down_ns.map_or(Value::Null, Value::Span),
                ),
                ("messages", Value::Count(one.messages)),
                ("logon_answered", moment(one.answered_ns)),
                ("text", Value::Text(one.text.clone())),
            ]),
            Self::Test(test) => row.extend([
                ("start", moment(test.start_ns)),
                ("id", Value::Text(test.id.clone())),
            ]),
        }
        row
    }

    /// Appends it as a line of JSON.
    pub fn json(&self, lines: Lines, out: &mut Vec<u8>, names: &[PathBuf]) {
        json(lines, out, (self.kind(), self.spot(), names), &self.row());
    }
}

impl Rejects {
    /// Its values, without the place.
    #[must_use]
    pub fn row(&self) -> Row {
        let known = crate::value_name_of(self.tag, &self.reason);
        vec![
            ("type", Value::Text(vec![self.msg_type])),
            ("tag", Value::Count(self.tag.into())),
            ("reason", Value::Text(self.reason.clone())),
            ("name", known.map_or(Value::Null, text)),
            ("count", Value::Count(self.count)),
            ("text", Value::Text(self.text.clone())),
            ("first", moment(self.start_ns)),
            ("session", name(&self.spot.session)),
        ]
    }

    /// Appends it as a line of JSON.
    pub fn json(&self, lines: Lines, out: &mut Vec<u8>, names: &[PathBuf]) {
        json(lines, out, ("reject", &self.spot, names), &self.row());
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.as_bytes().to_vec())
}

fn json(
    lines: Lines,
    out: &mut Vec<u8>,
    (kind, spot, names): (&str, &Spot, &[PathBuf]),
    row: &Row,
) {
    // Writing into memory does not fail.
    let _ = write!(out, "{{\"what\":\"{kind}\"");
    if let Some(path) = names.get(spot.log) {
        out.extend_from_slice(b",\"file\":");
        lines.string(out, path.as_os_str().as_encoded_bytes());
    }
    let _ = write!(out, ",\"offset\":{}", spot.offset);
    if let Some(line) = spot.line {
        let _ = write!(out, ",\"line\":{line}");
    }
    for (key, text) in ["sender", "target"].into_iter().zip(&spot.session) {
        let _ = write!(out, ",\"{key}\":");
        lines.string(out, text);
    }
    for (key, value) in row.iter().filter(|(key, _)| *key != "session") {
        let _ = write!(out, ",\"{key}\":");
        let _ = match value {
            Value::Null => write!(out, "null"),
            Value::Count(number) | Value::Span(number) => write!(out, "{number}"),
            Value::Text(text) => {
                lines.string(out, text);
                Ok(())
            }
        };
    }
    out.extend_from_slice(b"}\n");
}
