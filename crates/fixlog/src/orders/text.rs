//! Lives of orders as lines of JSON, and as timelines for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use super::life::{Life, State, Step};
use super::reason::Reason;
use crate::Lines;
use crate::stamp::time;

/// The fields of a step and their keys in JSON.
const KEYS: [(u32, &str); 13] = [
    (11, "id"),
    (41, "orig_id"),
    (37, "order_id"),
    (17, "exec_id"),
    (38, "quantity"),
    (44, "price"),
    (32, "last_quantity"),
    (31, "last_price"),
    (14, "filled"),
    (151, "left"),
    (19, "ref_exec_id"),
    (66, "list_id"),
    (58, "text"),
];
/// What an order has at first and now, after replaces, and the keys of both.
const FIELDS: [(u32, &str, &str); 4] = [
    (55, "symbol", "first_symbol"),
    (54, "side", "first_side"),
    (38, "quantity", "first_quantity"),
    (44, "price", "first_price"),
];

/// Writes lives of orders.
#[derive(Debug, Clone, Copy)]
pub struct LifeLines<'n> {
    lines: Lines,
    names: &'n [PathBuf],
}

impl<'n> LifeLines<'n> {
    /// Lines with the escapes of `lines`, about logs of these names.
    #[must_use]
    pub fn new(lines: Lines, names: &'n [PathBuf]) -> Self {
        Self { lines, names }
    }

    /// Appends an order as a line of JSON: its id, state and parties, what is known of it, and its messages.
    /// Numbers of FIX are strings, with the digits that they have in the log.
    pub fn json(&self, out: &mut Vec<u8>, life: &Life, parties: &[Vec<u8>]) {
        self.object(out, life, parties);
        out.push(b'\n');
    }

    /// Appends one order over several sessions as a line of JSON: its id and state on the first one, the party that it
    /// reached, and what it was on each session.
    pub fn chain(&self, out: &mut Vec<u8>, lives: &[&Life], parties: &[Vec<u8>]) {
        let (Some(first), Some(last)) = (lives.first(), lives.last()) else {
            return;
        };
        out.extend_from_slice(b"{\"id\":");
        self.lines.string(out, first.id());
        // Writing into memory does not fail.
        let _ = write!(out, ",\"state\":\"{}\"", first.state.name());
        for (key, life) in [("from", first), ("reached", last)] {
            let step = life.steps.first();
            let party = step.map(|step| match (key == "from", step.kind.is_request()) {
                (true, true) | (false, false) => step.sender,
                _ => step.target,
            });
            text(
                self.lines,
                out,
                key,
                party.map(|party| name(parties, party)),
            );
        }
        let span = |first: Option<i64>, last: Option<i64>| Some(last?.saturating_sub(first?));
        let steps = |life: &Life| {
            let first = life.steps.first().and_then(|step| step.sent_ns);
            let last = life.steps.last().and_then(|step| step.sent_ns);
            span(first, last)
        };
        if let Some(ns) = steps(first) {
            let _ = write!(out, ",\"lasted_ns\":{ns}");
        }
        text(self.lines, out, "text", first.last(58));
        out.extend_from_slice(b",\"sessions\":[");
        for (at, life) in lives.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            self.object(out, life, parties);
        }
        out.extend_from_slice(b"]}\n");
    }

    fn object(&self, out: &mut Vec<u8>, life: &Life, parties: &[Vec<u8>]) {
        let lines = self.lines;
        out.extend_from_slice(b"{\"id\":");
        lines.string(out, life.id());
        // Writing into memory does not fail.
        let _ = write!(
            out,
            ",\"state\":\"{}\",\"number\":{}",
            life.state.name(),
            life.number
        );
        if let Some(upstream) = life.upstream {
            let _ = write!(out, ",\"upstream\":{upstream}");
        }
        let flag = |out: &mut Vec<u8>, name: &str, is: bool| {
            if is {
                let _ = write!(out, ",\"{name}\":true");
            }
        };
        flag(out, "again", life.again.is_some());
        flag(out, "orphan", life.is_orphan);
        flag(out, "may_be_forgotten", life.may_be_forgotten);
        flag(out, "reused_id", life.reused > 0);
        if life.left_out > 0 {
            let _ = write!(out, ",\"steps_left_out\":{}", life.left_out);
        }
        for (tag, key, first) in FIELDS {
            let now = life.current(tag).or_else(|| life.first(tag));
            text(lines, out, key, now);
            let before = life.first(tag).filter(|first| Some(*first) != now);
            text(lines, out, first, before);
        }
        for (tag, key) in [
            (14, "filled"),
            (151, "left"),
            (6, "average_price"),
            (58, "text"),
        ] {
            text(lines, out, key, life.last(tag));
        }
        if life.state == State::Rejected {
            reason(lines, out, life.steps.iter().rev().find_map(Step::reason));
        }
        out.extend_from_slice(b",\"steps\":[");
        for (at, step) in life.steps.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"{" } else { b",{" });
            let time = step.sent_ns.map(time);
            let time = time.as_deref().unwrap_or_default();
            let _ = write!(out, "\"time\":\"{time}\",\"what\":\"{}\"", step.kind.name());
            for (key, party) in [("from", step.sender), ("to", step.target)] {
                text(lines, out, key, Some(name(parties, party)));
            }
            for (tag, key) in KEYS {
                text(lines, out, key, step.get(tag));
            }
            reason(lines, out, step.reason());
            flag(out, "sent_before", step.is_copy);
            flag(out, "late", step.is_late);
            flag(out, "possible_resend", step.get(97) == Some(b"Y"));
            flag(out, "repeated_exec_id", life.repeats_exec_id(at));
            if let Some(path) = self.names.get(step.log) {
                text(
                    lines,
                    out,
                    "file",
                    Some(path.as_os_str().as_encoded_bytes()),
                );
            }
            if let Some(line) = step.line {
                let _ = write!(out, ",\"line\":{line}");
            }
            let _ = write!(out, ",\"offset\":{}}}", step.offset);
        }
        out.extend_from_slice(b"]}");
    }

    /// Appends one order, as it was on one or several sessions, as a timeline: a line per message, in the order
    /// of time. Times are as stamped; the time since the first message, and the order, are corrected by `clocks`, how
    /// much the clock of each party is ahead (see [`Book::clocks`](super::Book::clocks); empty: not at all).
    pub fn timeline(
        &self,
        out: &mut Vec<u8>,
        lives: &[&Life],
        parties: &[Vec<u8>],
        clocks: &[i64],
    ) {
        let mut steps: Vec<(&Step, bool)> = Vec::new();
        for life in lives {
            let mut head = format!("order {}: {}", shown(life.id()), life.state.name());
            for (tag, before) in [(55, ""), (54, "side "), (38, "quantity "), (44, "price ")] {
                let now = life.current(tag).or_else(|| life.first(tag));
                let value = match (tag, now) {
                    (54, Some(b"1")) => Some("buy".into()),
                    (54, Some(b"2")) => Some("sell".into()),
                    (54, Some(b"5")) => Some("sell short".into()),
                    (_, value) => value.map(shown),
                };
                if let Some(value) = value {
                    let _ = write!(head, ", {before}{value}");
                }
                let first = life.first(tag).filter(|first| Some(*first) != now);
                if let Some(first) = first {
                    let _ = write!(head, " (at first {})", shown(first));
                }
            }
            for (tag, before) in [(14, "filled "), (6, "average ")] {
                if let Some(value) = life.last(tag) {
                    let _ = write!(head, ", {before}{}", shown(value));
                }
            }
            if life.is_orphan {
                head.push_str("; the message that it began with is not in the logs");
            }
            if life.may_be_forgotten {
                head.push_str(", or too many orders ended since");
            }
            match life.reused {
                0 => {}
                1 => head.push_str("; its id was used again once"),
                2 => head.push_str("; its id was used again twice"),
                times => {
                    let _ = write!(head, "; its id was used again {times} times");
                }
            }
            if life.left_out > 0 {
                let _ = write!(head, "; {} messages are left out", life.left_out);
            }
            out.extend_from_slice(self.lines.visible(&head).as_bytes());
            out.push(b'\n');
            let is_again = |at| life.repeats_exec_id(at);
            let all = life.steps.iter().enumerate();
            steps.extend(all.map(|(at, step)| (step, is_again(at))));
        }
        // Of equal times, the order of the logs stays.
        let true_ns = |step: &Step| {
            let ahead = clocks.get(step.sender as usize).copied().unwrap_or(0);
            step.sent_ns.map(|ns| ns.saturating_sub(ahead))
        };
        steps.sort_by_key(|(step, _)| true_ns(step));
        let first = steps.iter().find_map(|(step, _)| true_ns(step));
        let between = |step: &Step| {
            let [from, to] = [step.sender, step.target].map(|party| shown(name(parties, party)));
            format!("{from} \u{2192} {to}")
        };
        let widest = steps
            .iter()
            .map(|(step, _)| between(step).chars().count())
            .max();
        let widest = widest.unwrap_or(0);
        let ahead = |step: &&(&Step, bool)| {
            let ahead = clocks.get(step.0.sender as usize).copied().unwrap_or(0);
            (ahead != 0).then_some((step.0.sender, ahead))
        };
        let corrected: BTreeMap<_, _> = steps.iter().filter_map(|step| ahead(&step)).collect();
        if !corrected.is_empty() {
            let clocks = corrected.iter().map(|(party, ahead)| {
                let name = shown(name(parties, *party));
                match ahead {
                    0.. => format!("{name} is {} ahead", span(*ahead)),
                    _ => format!("{name} is {} behind", span(ahead.saturating_neg())),
                }
            });
            let clocks: Vec<_> = clocks.collect();
            let line = format!(
                "  + and the order are by corrected clocks: {}",
                clocks.join(", ")
            );
            out.extend_from_slice(self.lines.visible(&line).as_bytes());
            out.push(b'\n');
        }
        for (step, is_again) in steps {
            let sent = step.sent_ns.map_or_else(String::new, time);
            let since = match (first, true_ns(step)) {
                (Some(first), Some(sent)) => format!("+{}", span(sent.saturating_sub(first))),
                _ => String::new(),
            };
            let mut line = format!(
                "  {sent:<21} {since:>10}  {:<widest$}  {}",
                between(step),
                step.kind.name()
            );
            for (tag, before) in [
                (11, "id "),
                (41, "of "),
                (38, "quantity "),
                (44, "price "),
                (32, "last "),
                (31, "at "),
                (14, "filled "),
                (151, "left "),
                (58, ""),
            ] {
                // An execution repeats what the order said.
                if matches!(tag, 38 | 44) && !step.kind.is_request() {
                    continue;
                }
                if let Some(value) = step.get(tag).filter(|value| tag != 32 || *value != b"0") {
                    let _ = write!(line, "  {before}{}", shown(value));
                }
            }
            if let Some(reason) = step.reason() {
                let _ = write!(line, "  reason {reason}");
            }
            for (is, mark) in [
                (is_again, "  (ExecID again)"),
                (step.is_copy, "  (sent again)"),
                (step.is_late, "  (late)"),
                (step.get(97) == Some(b"Y"), "  (possible resend)"),
            ] {
                line.push_str(if is { mark } else { "" });
            }
            if let Some(path) = self.names.get(step.log) {
                let _ = write!(line, "  ({}", path.display());
                match step.line {
                    Some(number) => {
                        let _ = write!(line, ":{number})");
                    }
                    None => {
                        let _ = write!(line, " at {})", step.offset);
                    }
                }
            }
            out.extend_from_slice(self.lines.visible(&line).as_bytes());
            out.push(b'\n');
        }
    }
}

/// The name of a party.
fn name(parties: &[Vec<u8>], party: u32) -> &[u8] {
    parties.get(party as usize).map_or(&[], Vec::as_slice)
}

fn text(lines: Lines, out: &mut Vec<u8>, key: &str, value: Option<&[u8]>) {
    if let Some(value) = value {
        let _ = write!(out, ",\"{key}\":");
        lines.string(out, value);
    }
}

fn reason(lines: Lines, out: &mut Vec<u8>, reason: Option<Reason<'_>>) {
    let Some(reason) = reason else {
        return;
    };
    text(lines, out, "reason", Some(reason.value));
    let _ = write!(out, ",\"reason_tag\":{}", reason.tag);
    text(lines, out, "reason_name", reason.name().map(str::as_bytes));
}

fn shown(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

/// A span of time with three digits behind the point.
fn span(ns: i64) -> String {
    let of = |unit: f64| ns as f64 / unit;
    match ns.unsigned_abs() {
        0..1_000_000 => format!("{:.3} \u{b5}s", of(1e3)),
        1_000_000..1_000_000_000 => format!("{:.3} ms", of(1e6)),
        _ => format!("{:.3} s", of(1e9)),
    }
}
