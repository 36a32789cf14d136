//! What was found as rows, with the same names in tables and in lines of JSON.

use std::io::Write as _;
use std::path::PathBuf;

use super::rows::{Direction, Finding, Rejects, Spot};
use crate::Lines;
use crate::orders::time;
use crate::parties::title;

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

fn count(number: Option<u64>) -> Value {
    number.map_or(Value::Null, Value::Count)
}

/// From one time to another; none if the other is before.
fn span(start: Option<i64>, end: Option<i64>) -> Value {
    let span = start.zip(end).map(|(start, end)| end.saturating_sub(start));
    let span = span.and_then(|span| u64::try_from(span).ok());
    span.map_or(Value::Null, Value::Span)
}

fn name(spot: &Spot) -> Value {
    Value::Text(title(&spot.session, &spot.subs).into_bytes())
}

impl Direction {
    /// Sender and target as text: `A → B`, or `A/DESK → B` with SubIDs.
    #[must_use]
    pub fn title(&self) -> String {
        title(&self.session, &self.subs)
    }
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
            Self::Silence(_) => "silence",
            Self::Duplicate(_) => "duplicate",
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
            Self::Silence(silence) => &silence.spot,
            Self::Duplicate(one) => &one.spot,
        }
    }

    /// Its values, without the place.
    #[must_use]
    pub fn row(&self) -> Row {
        let mut row = vec![("session", name(self.spot()))];
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
                ("took_ns", one.took_ns.map_or(Value::Null, Value::Span)),
                ("how", text(one.how)),
                ("by", Value::Text(one.by.clone())),
                ("end", moment(one.end_ns)),
                (
                    "down_before_ns",
                    one.down_ns.map_or(Value::Null, Value::Span),
                ),
                ("messages", Value::Count(one.messages)),
                ("logon_answered", moment(one.answered_ns)),
                ("heartbeat_s", count(one.heartbeat_s[0])),
                ("answer_heartbeat_s", count(one.heartbeat_s[1])),
                ("resets", Value::Count(one.resets)),
                ("text", Value::Text(one.text.clone())),
            ]),
            Self::Test(test) => row.extend([
                ("start", moment(test.start_ns)),
                ("id", Value::Text(test.id.clone())),
            ]),
            Self::Silence(silence) => row.extend([
                ("start", moment(silence.start_ns)),
                ("took_ns", Value::Span(silence.took_ns)),
                ("how", text(silence.how)),
                ("end", moment(silence.end_ns)),
                ("heartbeat_s", Value::Count(silence.heartbeat_s)),
            ]),
            Self::Duplicate(one) => row.extend([
                ("number", Value::Count(one.number)),
                ("start", moment(one.start_ns)),
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
            ("session", name(&self.spot)),
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
    for (key, text) in ["sender_sub", "target_sub"].into_iter().zip(&spot.subs) {
        if !text.is_empty() {
            let _ = write!(out, ",\"{key}\":");
            lines.string(out, text);
        }
    }
    out.extend_from_slice(b",\"begin_string\":");
    lines.string(out, &spot.begin);
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
