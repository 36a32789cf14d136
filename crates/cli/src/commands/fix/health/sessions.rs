//! Follows sessions block by block, and puts what became of them into the report.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fixlog::Made;
use fixlog::health::{Direction, Finding, Health, Row, Spot, Value, Watch};
use latency::Recorder;
use latency::report::{Cell, FloorKind, RowFloor, Table, Unit};
use report::{Outcome, names};

use super::chart;
use super::flags::{HealthArgs, Listed};
use crate::commands::fix::conclude::{lines, named_some};
use crate::commands::fix::one_log::OneLogArgs;
use crate::term::message;

/// Rows of each kind that the report has; `--list` writes all.
const ROWS_MAX: usize = 65_536;
/// Directions whose times are distributions of their own; the others are in one together.
const SERIES_MAX: usize = 32;

/// A recorder for times of an operation and a series.
type NewRecorder<'a> = &'a dyn Fn(&str, &str) -> Recorder;

/// The sessions of logs.
pub(in crate::commands::fix) struct Sessions<'a> {
    health: Health,
    pieces: OneLogArgs,
    seen: Seen<'a>,
}

/// What was found so far.
struct Seen<'a> {
    list: &'a [Listed],
    files: &'a [PathBuf],
    text: Vec<u8>,
    /// By kind: the rows that are kept, and how many there are.
    kept: BTreeMap<&'static str, (Vec<Finding>, u64)>,
    recorder: NewRecorder<'a>,
    heartbeats: BTreeMap<[Vec<u8>; 2], Recorder>,
}

impl<'a> Sessions<'a> {
    pub(in crate::commands::fix) fn new(
        args: &'a HealthArgs,
        files: &'a [PathBuf],
        recorder: NewRecorder<'a>,
    ) -> Self {
        Self {
            health: Health::new(),
            pieces: args.pieces,
            seen: Seen {
                list: &args.list,
                files,
                text: Vec::new(),
                kept: BTreeMap::new(),
                recorder,
                heartbeats: BTreeMap::new(),
            },
        }
    }

    /// Adds a block of a log. Returns lines for standard output.
    pub(in crate::commands::fix) fn take(&mut self, log: usize, made: &Made) -> &[u8] {
        self.seen.text.clear();
        self.health
            .add(log, self.pieces.group(log), &made.health, &mut self.seen);
        &self.seen.text
    }

    /// Ends what is open. Returns lines for standard output.
    pub(in crate::commands::fix) fn finish(&mut self) -> &[u8] {
        self.seen.text.clear();
        self.health.finish(&mut self.seen);
        let seen = &mut self.seen;
        let lists = |listed: &Listed| matches!(listed, Listed::All | Listed::Rejects);
        if seen.list.iter().any(lists) {
            for rejects in self.health.rejects() {
                rejects.json(lines(), &mut seen.text, seen.files);
            }
        }
        &seen.text
    }

    /// Puts everything into the report.
    pub(in crate::commands::fix) fn conclude(self, warns: bool, outcome: &mut Outcome) {
        let (health, seen) = (&self.health, self.seen);
        let directions = health.directions();
        let params = &mut outcome.workload.params;
        params.insert("unfollowed".to_owned(), health.unfollowed().into());
        params.insert("unkept".to_owned(), health.unkept().into());
        let counts = [
            "gap",
            "resend request",
            "storm",
            "connection",
            "unanswered test request",
            "silence",
            "duplicate",
        ];
        for kind in counts {
            let count = seen.kept.get(kind).map_or(0, |kept| kept.1);
            params.insert(format!("{}s", kind.replace(' ', "_")), count.into());
        }
        if !directions.is_empty() {
            outcome.tables.push(sums(&directions, seen.files));
        }
        for (kind, (found, all)) in &seen.kept {
            let rows = found.iter().map(|one| (one.row(), one.spot()));
            outcome.tables.push(table(title(kind), rows, seen.files));
            if warns {
                let help = "perfkit fix health --list all writes all";
                named_some(found.len(), *all, title(kind), help);
            }
        }
        if warns {
            notes(health, &directions, &seen.kept);
        }
        let rejects = health.rejects();
        if !rejects.is_empty() {
            let rows = rejects.iter().map(|one| (one.row(), &one.spot));
            outcome.tables.push(table("rejects", rows, seen.files));
        }
        outcome.tables.extend(chart::table(health.minutes()));
        let each = chart::minutes(health.minutes());
        let params = &mut outcome.workload.params;
        params.insert("messages_a_minute".to_owned(), each);
        let skews = skews(&directions, seen.files);
        if !skews.rows.is_empty() {
            outcome.tables.push(skews);
        }
        let recorders = seen.heartbeats.into_values();
        for recorder in recorders.filter(|recorder| !recorder.is_empty()) {
            outcome.add(&recorder.finish());
            if let Some(row) = outcome.latencies.last_mut() {
                let kind = FloorKind::Clock;
                row.floors.push(RowFloor { kind, ns: 0 });
            }
        }
    }
}

impl Seen<'_> {
    /// Records how late a Heartbeat of a direction is.
    fn late(&mut self, session: &[Vec<u8>; 2], ns: u64) {
        let others = [Vec::new(), Vec::new()];
        let recorders = &mut self.heartbeats;
        let is_known = recorders.contains_key(session) || recorders.len() < SERIES_MAX;
        let key = if is_known { session } else { &others };
        if let Some(recorder) = recorders.get_mut(key) {
            return recorder.record_ns(ns);
        }
        let series = match is_known {
            true => format!("late {}", name(session)),
            false => "late, other sessions".to_owned(),
        };
        let mut recorder = (self.recorder)("heartbeat", &series);
        recorder.record_ns(ns);
        recorders.insert(key.clone(), recorder);
    }
}

impl Watch for Seen<'_> {
    fn found(&mut self, finding: Finding) {
        if self.list.iter().any(|listed| listed.has(&finding)) {
            finding.json(lines(), &mut self.text, self.files);
        }
        let (kept, all) = self.kept.entry(finding.kind()).or_default();
        *all += 1;
        if kept.len() < ROWS_MAX {
            kept.push(finding);
        }
    }

    fn heartbeat(&mut self, session: &[Vec<u8>; 2], late_ns: u64) {
        self.late(session, late_ns);
    }
}

/// The name of the table of a kind.
fn title(kind: &str) -> &'static str {
    match kind {
        "gap" => "gaps",
        "resend request" => "resend requests",
        "storm" => "resend storms",
        "connection" => "connections",
        "silence" => "silences",
        "duplicate" => "duplicates",
        _ => "unanswered test requests",
    }
}

fn name([sender, target]: &[Vec<u8>; 2]) -> String {
    format!("{} → {}", sender.escape_ascii(), target.escape_ascii())
}

/// What a reader of the counts should know.
fn notes(
    health: &Health,
    directions: &[&Direction],
    kept: &BTreeMap<&'static str, (Vec<Finding>, u64)>,
) {
    let unknown = directions.iter().filter(|one| one.heartbeat_s.is_none());
    if let Some(first) = unknown.clone().next() {
        let text = format!(
            "there is no Logon with HeartBtInt (108): of {} directions such as {} it is not known whether Heartbeats \
             were overdue",
            unknown.count(),
            first.title()
        );
        message::note(&text, "read the log from the Logon on");
    }
    let inferred = directions.iter().find(|one| one.is_heartbeat_inferred);
    if let Some((one, seconds)) = inferred.and_then(|one| one.heartbeat_s.map(|s| (one, s))) {
        let text = format!(
            "there is no Logon with HeartBtInt (108): for sessions such as {} it is taken from the Heartbeats, {seconds} s",
            one.title()
        );
        message::note(&text, "read the log from the Logon on");
    }
    let connections = kept.get("connection").into_iter().flat_map(|kept| &kept.0);
    let differ = connections.filter_map(|one| match one {
        Finding::Connection(one) => match one.heartbeat_s {
            [Some(asked), Some(answered)] if asked != answered => Some((one, asked, answered)),
            _ => None,
        },
        _ => None,
    });
    let differ: Vec<_> = differ.collect();
    if let Some((one, asked, answered)) = differ.first() {
        let text = format!(
            "HeartBtInt (108) of a Logon and of its answer differ: {asked} s and {answered} s, {} → {}{}",
            one.spot.session[0].escape_ascii(),
            one.spot.session[1].escape_ascii(),
            match differ.len() {
                1 => String::new(),
                many => format!(", the first of {many}"),
            }
        );
        message::note(&text, "both parties should have the same");
    }
    let whole = |one: &&&Direction| {
        one.skew
            .is_some_and(|skew| skew.is_whole_seconds && skew.messages > 2)
    };
    if let Some(one) = directions.iter().find(whole) {
        let text = format!(
            "the log has whole seconds before messages such as those of {}: from SendingTime (52) to these is up to 1 s \
             more than it says",
            one.title()
        );
        message::note(&text, "let the log have fractions of seconds");
    }
    let untimed = health.untimed();
    if untimed > 0 && directions.iter().all(|one| one.skew.is_none()) {
        let text = format!(
            "what stands before {untimed} messages could not be read as a time: clocks are not compared"
        );
        message::note(&text, "perfkit docs fix names the times that are read");
    }
}

/// Rows as a table, with their places.
fn table<'r>(title: &str, rows: impl Iterator<Item = (Row, &'r Spot)>, files: &[PathBuf]) -> Table {
    let mut table = Table::new(title, &[]);
    table.clock_floor_ns = Some(0);
    for (row, spot) in rows {
        if table.columns.is_empty() {
            let unit = |key: &str, value: &Value| match value {
                _ if key.ends_with("_ns") => Unit::Nanoseconds,
                Value::Count(_) => Unit::Count,
                _ => Unit::Text,
            };
            let columns = row.iter().map(|(key, value)| (*key, unit(key, value)));
            let place = [
                ("file", Unit::Text),
                ("line", Unit::Count),
                ("offset", Unit::Count),
            ];
            let columns: Vec<_> = columns.chain(place).collect();
            table.columns = Table::new(title, &columns).columns;
        }
        let cells = row.into_iter().map(|(_, value)| match value {
            Value::Count(number) | Value::Span(number) => Cell::from(number),
            Value::Text(text) => String::from_utf8_lossy(&text).into_owned().into(),
            _ => Cell::Null,
        });
        let file = files.get(spot.log).map(|path| names::path(path));
        let place = [
            file.unwrap_or_default().into(),
            spot.line.map_or(Cell::Null, Cell::from),
            spot.offset.into(),
        ];
        table.rows.push(cells.chain(place).collect());
    }
    if !table.has_times() {
        table.clock_floor_ns = None;
    }
    table
}

/// The directions.
fn sums(directions: &[&Direction], files: &[PathBuf]) -> Table {
    let columns = [
        ("session", Unit::Text),
        ("messages", Unit::Count),
        ("gaps", Unit::Count),
        ("missing", Unit::Count),
        ("duplicates", Unit::Count),
        ("resent", Unit::Count),
        ("resend_requests", Unit::Count),
        ("storms", Unit::Count),
        ("heartbeats", Unit::Count),
        ("heartbeat_s", Unit::Count),
        ("overdue", Unit::Count),
        ("longest_silence_ns", Unit::Nanoseconds),
        ("test_requests", Unit::Count),
        ("unanswered", Unit::Count),
        ("begin_string", Unit::Text),
        ("file", Unit::Text),
    ];
    let mut table = Table::new("sessions", &columns);
    table.clock_floor_ns = Some(0);
    for one in directions {
        let file = files.get(one.log).map(|path| names::path(path));
        table.rows.push(vec![
            one.title().into(),
            one.messages.into(),
            one.gaps.into(),
            one.missing.into(),
            one.duplicates.into(),
            one.resent.into(),
            one.requests.into(),
            one.storms.into(),
            one.heartbeats.into(),
            one.heartbeat_s.map_or(Cell::Null, Cell::from),
            one.heartbeat_s
                .filter(|seconds| *seconds > 0)
                .map_or(Cell::Null, |_| one.overdue.into()),
            one.silence_ns.into(),
            one.tests.into(),
            one.unanswered.into(),
            String::from_utf8_lossy(&one.begin).into_owned().into(),
            file.unwrap_or_default().into(),
        ]);
    }
    table
}

/// The times from SendingTime to what the logs have.
fn skews(directions: &[&Direction], files: &[PathBuf]) -> Table {
    let columns = [
        ("session", Unit::Text),
        ("messages", Unit::Count),
        ("least_ns", Unit::Nanoseconds),
        ("mean_ns", Unit::Nanoseconds),
        ("largest_ns", Unit::Nanoseconds),
        ("zone_ns", Unit::Nanoseconds),
        ("file", Unit::Text),
    ];
    let mut table = Table::new("sent (52) to the time of the log", &columns);
    // The clocks are those of the log.
    table.clock_floor_ns = Some(0);
    for one in directions {
        let Some(skew) = one.skew else {
            continue;
        };
        let file = files.get(one.log).map(|path| names::path(path));
        table.rows.push(vec![
            one.title().into(),
            skew.messages.into(),
            Cell::Number(skew.least_ns as f64),
            Cell::from(skew.sum_ns as f64 / skew.messages as f64),
            Cell::Number(skew.largest_ns as f64),
            Cell::Number(skew.zone_ns as f64),
            file.unwrap_or_default().into(),
        ]);
    }
    table
}
