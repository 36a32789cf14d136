//! `perfkit env`: the machine as reports show it, and the cost of measuring on it.

use std::ffi::OsString;

use bench::programs;
use latency::report::{Cell, Environment, Table, Unit};
use report::{ExitStatus, Outcome, units};

use crate::args;
use crate::commands::env::flags::EnvArgs;
use crate::config::words::{self, Place};
use crate::config::{self, Config};
use crate::failure::Result;
use crate::hyper_compat::Children;
use crate::session::{Session, Setup};

/// Runs the command.
pub(crate) fn run(args: &EnvArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let config = Config::load()?;
    let commands = args::every_command();
    words::check(&config, &commands).map_err(|refusal| args::refused(&config, &refusal))?;
    let session = Session::start(&Setup::analysis(name, argv, &args.output))?;
    let mut outcome = Outcome::new("env");
    outcome.tables.push(machine(session.environment()));
    outcome.tables.push(clock());
    outcome.tables.push(defaults(&config, &commands));
    if !session.environment().warnings.is_empty() {
        outcome.tables.push(warnings(session.environment()));
    }
    session.finish(outcome)
}

/// The defaults of flags that the user has set, and where the file is.
fn defaults(config: &Config, commands: &clap::Command) -> Table {
    let columns = [
        ("key", Unit::Text),
        ("value", Unit::Text),
        ("from", Unit::Text),
    ];
    let mut table = Table::new("defaults", &columns);
    let path = match &config.file {
        Some(file) => Some(file.path.display().to_string()),
        None => config::usual_path().map(|path| format!("{} (not there)", path.display())),
    };
    let file = || path.clone().unwrap_or_else(|| "none".to_owned());
    for (key, value, place) in words::all(config) {
        let from = match place {
            Place::Key(_) => file(),
            Place::Variable(name) if words::is_default(&name, commands) => "environment".to_owned(),
            Place::Variable(_) => "environment (no flag has this name)".to_owned(),
        };
        table.rows.push([key, value, from].map(Into::into).to_vec());
    }
    if table.rows.is_empty() {
        let row = ["none".to_owned(), String::new(), file()];
        table.rows.push(row.map(Into::into).to_vec());
    }
    table
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
        (
            "processors",
            or_unknown(&environment.logical_cpus.map(|cpus| cpus.to_string())),
        ),
        ("pinned to", pinned),
        ("governor", or_unknown(&environment.governor)),
        ("hypervisor", or_unknown(&environment.hypervisor)),
        ("kernel", or_unknown(&environment.kernel)),
        ("memory", or_unknown(&memory)),
        (
            "load before",
            or_unknown(&environment.load_before.map(|load| format!("{load:.2}"))),
        ),
        ("allocator", or_unknown(&environment.allocator)),
        ("zstd", zstdkit::version().to_owned()),
    ];
    let mut table = Table::new("machine", &[("item", Unit::Text), ("value", Unit::Text)]);
    table.rows = rows
        .map(|(item, value)| vec![item.into(), value.into()])
        .to_vec();
    table
}

fn clock() -> Table {
    let floor = latency::clock::floor();
    let cost = latency::clock::recording_cost();
    let columns = [
        ("cost", Unit::Text),
        ("min_ns", Unit::Nanoseconds),
        ("median_ns", Unit::Nanoseconds),
    ];
    let mut table = Table::new("clock and recorder", &columns);
    let start = programs::start_floor(&mut Children);
    table.rows = vec![
        vec![
            "empty timed span (clock floor)".into(),
            floor.min_ns.into(),
            floor.p50_ns.into(),
        ],
        vec![
            "recording a span already timed".into(),
            cost.record_min_ns.into(),
            cost.record_ns.into(),
        ],
        vec![
            "timing and recording a span".into(),
            cost.span_min_ns.into(),
            cost.span_ns.into(),
        ],
    ];
    if let Some(wake) = latency::wake_floor() {
        let what = "waking a thread";
        table
            .rows
            .push(vec![what.into(), wake.min_ns.into(), wake.p50_ns.into()]);
    }
    if let Some(median) = start {
        let what = "starting a process that does nothing";
        table
            .rows
            .push(vec![what.into(), Cell::Null, median.into()]);
    }
    table
}

fn warnings(environment: &Environment) -> Table {
    let columns = [
        ("code", Unit::Text),
        ("seen", Unit::Text),
        ("help", Unit::Text),
    ];
    let mut table = Table::new("warnings", &columns);
    for warning in &environment.warnings {
        let cells = [&warning.code, &warning.message, &warning.help];
        table
            .rows
            .push(cells.map(|text| text.as_str().into()).to_vec());
    }
    table
}
