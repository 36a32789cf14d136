//! Statistics and faults as tables of a report.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fixlog::{AllFaults, GroupKey, RejectReason, Statistics};
use latency::report::{Cell, Table, Unit};
use report::{Outcome, names};

/// What tables of statistics show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'a> {
    /// Each of several logs has sessions of its own.
    pub(super) logs: bool,
    /// The numbers of messages say which are missing and which came again.
    pub(super) gaps: bool,
    /// What messages are counted by.
    pub(super) by: &'a [(String, GroupKey)],
}

/// The tables of the statistics.
pub(super) fn statistics(
    statistics: &Statistics,
    files: &[PathBuf],
    shown: Shown<'_>,
) -> Vec<Table> {
    let mut tables = vec![types(statistics), sequences(statistics, files, shown)];
    if !shown.by.is_empty() {
        tables.insert(0, groups(statistics, files, shown));
    }
    if shown.gaps && !statistics.gaps().is_empty() {
        tables.push(gaps(statistics, files));
    }
    let early = statistics.early();
    if early.executions > 0 {
        let columns = [("executions", Unit::Count), ("most_ns", Unit::Nanoseconds)];
        let mut table = Table::new("executions stamped before their order", &columns);
        // The clocks are those of the log.
        table.clock_floor_ns = Some(0);
        let row = vec![early.executions.into(), early.most_ns.into()];
        table.rows.push(row);
        tables.push(table);
    }
    tables
}

/// The table of `--group-by`.
fn groups(statistics: &Statistics, files: &[PathBuf], shown: Shown<'_>) -> Table {
    let mut columns: Vec<_> = shown
        .by
        .iter()
        .map(|(name, _)| (&name[..], Unit::Text))
        .collect();
    if shown.logs {
        columns.push(("file", Unit::Text));
    }
    columns.extend([("messages", Unit::Count), ("bytes", Unit::Bytes)]);
    let mut table = Table::new("messages by", &columns);
    table.asked_for = true;
    let keys: Vec<_> = shown.by.iter().map(|(_, key)| *key).collect();
    for found in statistics.groups(&keys) {
        let values = found.values.into_iter();
        let mut row: Vec<_> = values
            .map(|value| value.map_or(Cell::Null, |value| text(value).into()))
            .collect();
        if shown.logs {
            let file = files.get(found.log).map(|path| names::path(path));
            row.push(file.unwrap_or_default().into());
        }
        row.extend([found.messages.into(), found.bytes.into()]);
        table.rows.push(row);
    }
    table
}

/// A value as text.
pub(super) fn text(value: Vec<u8>) -> String {
    match String::from_utf8(value) {
        Ok(text) => text,
        Err(bytes) => bytes.as_bytes().escape_ascii().to_string(),
    }
}

fn types(statistics: &Statistics) -> Table {
    let columns = [
        ("type", Unit::Text),
        ("messages", Unit::Count),
        ("bytes", Unit::Bytes),
    ];
    let mut table = Table::new("messages", &columns);
    for found in statistics.types() {
        let name = found.msg_type.escape_ascii().to_string();
        let row = vec![name.into(), found.messages.into(), found.bytes.into()];
        table.rows.push(row);
    }
    table
}

fn sequences(statistics: &Statistics, files: &[PathBuf], shown: Shown<'_>) -> Table {
    let mut columns = vec![
        ("session", Unit::Text),
        ("messages", Unit::Count),
        ("gaps", Unit::Count),
        ("missing", Unit::Count),
        ("late", Unit::Count),
        ("duplicates", Unit::Count),
        ("resend_requests", Unit::Count),
        ("resent", Unit::Count),
        ("storms", Unit::Count),
        ("storm_longest", Unit::Count),
    ];
    if shown.logs {
        columns.insert(1, ("file", Unit::Text));
    }
    let mut table = Table::new("sessions", &columns);
    for found in statistics.sessions() {
        let of_gaps = |count: u64| match shown.gaps {
            true => Cell::from(count),
            false => Cell::Null,
        };
        let mut row: Vec<Cell> = vec![
            found.title().into(),
            found.messages.into(),
            of_gaps(found.gaps),
            of_gaps(found.missing),
            of_gaps(found.late),
            of_gaps(found.duplicates),
            found.requests.into(),
            found.resent.into(),
            found.storms.into(),
            found.storm_longest.into(),
        ];
        if shown.logs {
            let file = files.get(found.log).map(|path| names::path(path));
            row.insert(1, file.unwrap_or_default().into());
        }
        table.rows.push(row);
    }
    table
}

fn gaps(statistics: &Statistics, files: &[PathBuf]) -> Table {
    let columns = [
        ("session", Unit::Text),
        ("file", Unit::Text),
        ("offset", Unit::Count),
        ("expected", Unit::Count),
        ("got", Unit::Count),
    ];
    let mut table = Table::new("gaps", &columns);
    for gap in statistics.gaps() {
        let file = files.get(gap.log);
        table.rows.push(vec![
            gap.title().into(),
            file.map_or(String::new(), |path| names::path(path)).into(),
            gap.offset.into(),
            gap.expected.into(),
            gap.got.into(),
        ]);
    }
    table
}

/// The values of tags that no dictionary has, and that were left as they were.
pub(super) fn left(left: &BTreeMap<u32, u64>) -> Table {
    let columns = [("tag", Unit::Count), ("values", Unit::Count)];
    let mut table = Table::new("left as they were", &columns);
    for (tag, values) in left {
        table
            .rows
            .push(vec![u64::from(*tag).into(), (*values).into()]);
    }
    table
}

/// Puts the reasons that rejects of the messages would have into the report.
pub(super) fn reasons(faults: &AllFaults, outcome: &mut Outcome) {
    let columns = [
        ("field", Unit::Text),
        ("reason", Unit::Count),
        ("name", Unit::Text),
        ("faults", Unit::Count),
    ];
    let mut table = Table::new("reasons of rejects", &columns);
    for (reason, count) in faults.reasons() {
        let (tag, field, number) = match reason {
            RejectReason::Session(number) => (373, "SessionRejectReason (373)", *number),
            RejectReason::Business(number) => (380, "BusinessRejectReason (380)", *number),
            _ => continue,
        };
        let name = fixlog::value_name_of(tag, number.to_string().as_bytes());
        table.rows.push(vec![
            field.into(),
            u64::from(number).into(),
            name.map_or(Cell::Null, Cell::from),
            (*count).into(),
        ]);
    }
    if !table.rows.is_empty() {
        outcome.tables.push(table);
    }
}

/// Puts the faults into the report.
pub(super) fn faults(faults: &AllFaults, files: &[PathBuf], outcome: &mut Outcome) {
    let params = &mut outcome.workload.params;
    params.insert("between_bytes".to_owned(), faults.between_bytes().into());
    params.insert("noise".to_owned(), faults.noise_places().into());
    params.insert("noise_bytes".to_owned(), faults.noise_bytes().into());
    let name = |file: usize| {
        let path = files.get(file).map(|path| names::path(path));
        Cell::from(path.unwrap_or_default())
    };
    let classes = faults.classes();
    if !classes.is_empty() {
        let columns = [
            ("fault", Unit::Text),
            ("count", Unit::Count),
            ("first_file", Unit::Text),
            ("first_offset", Unit::Count),
        ];
        let mut table = Table::new("faults", &columns);
        for seen in classes {
            let (file, offset) = seen.first;
            let row = vec![
                seen.class.into(),
                seen.count.into(),
                name(file),
                offset.into(),
            ];
            table.rows.push(row);
        }
        outcome.tables.push(table);
    }
    if !faults.noise().is_empty() {
        let columns = [
            ("file", Unit::Text),
            ("offset", Unit::Count),
            ("bytes", Unit::Count),
        ];
        let mut table = Table::new("noise", &columns);
        for (file, offset, bytes) in faults.noise() {
            let row = vec![name(*file), (*offset).into(), (*bytes).into()];
            table.rows.push(row);
        }
        outcome.tables.push(table);
    }
}
