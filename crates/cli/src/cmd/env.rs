//! `perfkit env`: the machine as reports see it, and what measuring itself costs on it.

use std::ffi::OsString;

use latency::report::{Cell, Column, Environment, Table, Unit};

use crate::args::analyse::EnvArgs;
use crate::exit::ExitStatus;
use crate::export::{MainStream, units};
use crate::failure::Result;
use crate::session::{Outcome, Session, Setup};

/// Runs the command.
pub(crate) fn run(args: &EnvArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let session = Session::start(&Setup {
        argv,
        subcommand: name,
        stream: MainStream::Stdout,
        report: &args.report,
        terminal: &args.terminal,
        force: args.force,
        seed: None,
    })?;
    let mut outcome = Outcome::new("env");
    outcome.tables.push(machine(session.environment()));
    outcome.tables.push(clock());
    if !session.environment().warnings.is_empty() {
        outcome.tables.push(warnings(session.environment()));
    }
    session.finish(outcome)
}

fn machine(environment: &Environment) -> Table {
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let memory = environment
        .memory_bytes
        .map(|bytes| units::bytes(bytes as f64));
    let pinned = match environment.pinned_cpus.as_slice() {
        [] => "none".to_owned(),
        cpus => format!("{cpus:?}"),
    };
    let rows = [
        ("processor", or_unknown(&environment.cpu_model)),
        ("instruction set", or_unknown(&environment.isa)),
        ("processors", environment.logical_cpus.to_string()),
        ("pinned to", pinned),
        ("governor", or_unknown(&environment.governor)),
        ("hypervisor", or_unknown(&environment.hypervisor)),
        ("kernel", or_unknown(&environment.kernel)),
        ("memory", or_unknown(&memory)),
        (
            "load before",
            or_unknown(&environment.load_before.map(|load| format!("{load:.2}"))),
        ),
        ("allocator", environment.allocator.clone()),
        ("zstd", zstdkit::version().to_owned()),
    ];
    Table {
        name: "machine".to_owned(),
        columns: columns(&[("item", Unit::Text), ("value", Unit::Text)]),
        rows: rows
            .map(|(item, value)| vec![text(item), Cell::Text(value)])
            .to_vec(),
    }
}

fn clock() -> Table {
    let floor = latency::clock::floor();
    let cost = latency::clock::recording_cost();
    let whole = |ns: u64| Cell::Integer(i64::try_from(ns).unwrap_or(i64::MAX));
    Table {
        name: "clock and recorder".to_owned(),
        columns: columns(&[
            ("cost", Unit::Text),
            ("min_ns", Unit::Nanoseconds),
            ("median_ns", Unit::Nanoseconds),
        ]),
        rows: vec![
            vec![
                text("empty timed span (clock floor)"),
                whole(floor.min_ns),
                whole(floor.p50_ns),
            ],
            vec![
                text("recording a span already timed"),
                Cell::Number(cost.record_min_ns),
                Cell::Number(cost.record_ns),
            ],
            vec![
                text("timing and recording a span"),
                Cell::Number(cost.span_min_ns),
                Cell::Number(cost.span_ns),
            ],
        ],
    }
}

fn warnings(environment: &Environment) -> Table {
    Table {
        name: "warnings".to_owned(),
        columns: columns(&[
            ("code", Unit::Text),
            ("seen", Unit::Text),
            ("help", Unit::Text),
        ]),
        rows: environment
            .warnings
            .iter()
            .map(|warning| {
                vec![
                    text(&warning.code),
                    text(&warning.message),
                    text(&warning.help),
                ]
            })
            .collect(),
    }
}

fn columns(columns: &[(&str, Unit)]) -> Vec<Column> {
    columns
        .iter()
        .map(|(key, unit)| Column {
            key: (*key).to_owned(),
            unit: *unit,
        })
        .collect()
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}
