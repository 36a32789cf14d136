//! Tables of what was found.

use std::time::Duration;

use latency::report::{Cell, Latency, Load, Table, Unit};

use super::acceptor::Served;
use super::closed::Closed;
use super::memory::Memory;
use super::plan::Plan;
use super::side::Kind;
use crate::fix::sides::percentile;

/// One message in flight in each session: all turns of a side.
#[derive(Debug)]
pub(super) struct Echoed {
    kind: Kind,
    sessions: u32,
    messages: u64,
    elapsed: Duration,
    syscalls: u64,
    pub(super) latency: Option<Latency>,
}

impl Echoed {
    pub(super) fn new(kind: Kind, sessions: u32) -> Self {
        Self {
            kind,
            sessions,
            messages: 0,
            elapsed: Duration::ZERO,
            syscalls: 0,
            latency: None,
        }
    }

    pub(super) fn add(&mut self, found: &Closed, served: &Served) {
        self.messages += found.messages;
        self.elapsed += found.elapsed;
        self.syscalls += served.syscalls;
    }
}

/// An open loop: all turns of a side.
#[derive(Debug)]
pub(super) struct Opened {
    kind: Kind,
    sessions: u32,
    rates: Vec<f64>,
    is_saturated: bool,
    pub(super) service: Option<Latency>,
    pub(super) response: Option<Latency>,
    pub(super) hold: Option<Latency>,
}

impl Opened {
    pub(super) fn new(kind: Kind, sessions: u32) -> Self {
        Self {
            kind,
            sessions,
            rates: Vec::new(),
            is_saturated: false,
            service: None,
            response: None,
            hold: None,
        }
    }

    pub(super) fn add(&mut self, load: &Load) {
        self.rates.extend(load.rate_achieved_per_s);
        self.is_saturated |= load.saturated;
    }
}

/// A resend: the median turn of a side.
#[derive(Debug)]
pub(super) struct Resends {
    pub(super) kind: Kind,
    pub(super) messages: u64,
    pub(super) ns: Option<f64>,
}

/// Sides with their names; the last one of each number of sessions is the control.
fn named<'a, T>(
    plan: &'a Plan,
    rows: &'a [T],
    of: impl Fn(&T) -> (Kind, u32),
) -> impl Iterator<Item = (&'a T, String, Option<&'a T>)> {
    let keys: Vec<(Kind, u32)> = rows.iter().map(of).collect();
    rows.iter().enumerate().map(move |(at, row)| {
        let (kind, sessions) = keys[at];
        let first = keys.iter().position(|key| key.1 == sessions).unwrap_or(at);
        let is_control = at > first && keys[first].0 == kind;
        let name = match is_control {
            true => format!("{} again", kind.name(plan)),
            false => kind.name(plan).to_owned(),
        };
        (row, name, rows.get(first))
    })
}

fn cell(row: Option<&Latency>, p: f64) -> Cell {
    row.map_or(Cell::Null, |row| percentile(row, p))
}

fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Integer(number) => Some(*number as f64),
        Cell::Number(number) => Some(*number),
        Cell::Null | Cell::Text(_) => None,
    }
}

/// One row per number of sessions and side. `times_as_fast` compares with the median of another engine.
pub(super) fn echo(plan: &Plan, rows: &[Echoed]) -> Table {
    let columns = [
        ("sessions", Unit::Count),
        ("side", Unit::Text),
        ("messages_per_s", Unit::PerSecond),
        ("p50_ns", Unit::Nanoseconds),
        ("p99_ns", Unit::Nanoseconds),
        ("p999_ns", Unit::Nanoseconds),
        ("over_raw_ns", Unit::Nanoseconds),
        ("calls_per_message", Unit::Ratio),
        ("times_as_fast", Unit::Ratio),
    ];
    let mut table = Table::new("echo, one message in flight in each session", &columns);
    for (row, name, raw) in named(plan, rows, |row| (row.kind, row.sessions)) {
        let latency = row.latency.as_ref();
        let raw = cell(raw.and_then(|raw| raw.latency.as_ref()), 50.0);
        let own = cell(latency, 50.0);
        let over = number(&own).zip(number(&raw)).map(|(own, raw)| own - raw);
        let is_other = |one: &&Echoed| one.kind == Kind::Other && one.sessions == row.sessions;
        let other = rows
            .iter()
            .find(is_other)
            .and_then(|one| one.latency.as_ref());
        let other = number(&cell(other, 50.0));
        let times = other.zip(number(&own)).map(|(other, own)| other / own);
        let counts = matches!(row.kind, Kind::Acceptor(_));
        let calls = counts.then(|| row.syscalls as f64 / row.messages.max(1) as f64);
        table.rows.push(vec![
            u64::from(row.sessions).into(),
            name.into(),
            (row.messages as f64 / row.elapsed.as_secs_f64().max(1e-9)).into(),
            own,
            cell(latency, 99.0),
            cell(latency, 99.9),
            over.into(),
            calls.into(),
            times.into(),
        ]);
    }
    table
}

/// One row per number of sessions and side.
pub(super) fn open(plan: &Plan, rate: f64, rows: &[Opened]) -> Table {
    let columns = [
        ("sessions", Unit::Count),
        ("side", Unit::Text),
        ("messages_per_s", Unit::PerSecond),
        ("service_p50_ns", Unit::Nanoseconds),
        ("service_p99_ns", Unit::Nanoseconds),
        ("response_p50_ns", Unit::Nanoseconds),
        ("response_p99_ns", Unit::Nanoseconds),
        ("response_p999_ns", Unit::Nanoseconds),
        ("hold_p50_ns", Unit::Nanoseconds),
        ("hold_p99_ns", Unit::Nanoseconds),
        ("hold_max_ns", Unit::Nanoseconds),
        ("saturated", Unit::Text),
    ];
    let name = format!("open loop, {rate} messages per second");
    let mut table = Table::new(&name, &columns);
    for (row, name, _) in named(plan, rows, |row| (row.kind, row.sessions)) {
        let [service, response, hold] =
            [&row.service, &row.response, &row.hold].map(Option::as_ref);
        let hold_max = hold.map(|hold| hold.max_ns);
        table.rows.push(vec![
            u64::from(row.sessions).into(),
            name.into(),
            latency::compare::median(&row.rates).into(),
            cell(service, 50.0),
            cell(service, 99.0),
            cell(response, 50.0),
            cell(response, 99.0),
            cell(response, 99.9),
            cell(hold, 50.0),
            cell(hold, 99.0),
            hold_max.into(),
            if row.is_saturated { "yes" } else { "no" }.into(),
        ]);
    }
    table
}

/// One row per side.
pub(super) fn resends(plan: &Plan, rows: &[Resends]) -> Table {
    let columns = [
        ("side", Unit::Text),
        ("messages", Unit::Count),
        ("median_ns", Unit::Nanoseconds),
        ("messages_per_s", Unit::PerSecond),
        ("times_as_fast", Unit::Ratio),
    ];
    let title = "resend, one session, from durable stores";
    let mut table = Table::new(title, &columns);
    let other = rows.iter().find(|row| row.kind == Kind::Other);
    let base = other.and_then(|row| row.ns);
    for (row, name, _) in named(plan, rows, |row| (row.kind, 1)) {
        let rate = row.ns.map(|ns| row.messages as f64 * 1e9 / ns);
        let times = base.zip(row.ns).map(|(base, ns)| base / ns);
        table.rows.push(vec![
            name.into(),
            row.messages.into(),
            row.ns.into(),
            rate.into(),
            times.into(),
        ]);
    }
    table
}

/// One row per process.
pub(super) fn memory(plan: &Plan, rows: &[Memory]) -> Table {
    let columns = [
        ("side", Unit::Text),
        ("sessions", Unit::Count),
        ("session_bytes", Unit::Bytes),
        ("of", Unit::Text),
    ];
    let mut table = Table::new("memory, logged on and idle", &columns);
    for row in rows {
        let of = if row.with_client {
            "both ends"
        } else {
            "its process"
        };
        table.rows.push(vec![
            row.kind.name(plan).into(),
            u64::from(row.sessions).into(),
            (row.session_bytes.round() as u64).into(),
            of.into(),
        ]);
    }
    table
}
