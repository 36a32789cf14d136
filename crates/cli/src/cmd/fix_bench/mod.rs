//! `perfkit fix-bench`: nanoseconds a message, by every instruction set, beside what was reached
//! before; every answer compared with that of plain code first.
//!
//! Here are the messages, the table and the timing of a row; what is timed has a file a part, and
//! parts that go through no messages make their own tables.

mod deferred;
mod encode;
mod parse;
mod scan;
mod sides;
mod spsc;
mod store;
mod techniques;
#[cfg(target_os = "linux")]
mod transport;

use std::ffi::OsString;
use std::time::Instant;

use fixcore::Isa;
use fixcore::dict::Version;
use fixcore::workload::{Sample, shuffled};
use latency::report::{Cell, LatencyName, Table, Unit};

use super::checks::Checks;
use super::fix::{collect, forced, unavailable};
use crate::args::fix::{FixBenchArgs, FixBenchPart};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::session::{Outcome, Session, Setup};
use crate::term::signal;

/// Messages of a file that are kept.
const MESSAGES_MAX: usize = 4096;

/// Messages of types in no order, and the seed that they are made by.
const SHUFFLED: usize = 256;
const SHUFFLED_SEED: u64 = 1;

/// The parts that go through messages.
const CODEC: [FixBenchPart; 3] = [
    FixBenchPart::Scan,
    FixBenchPart::Parse,
    FixBenchPart::Encode,
];

/// What a prototype reached on an EPYC of the fourth generation, in nanoseconds: a row for each
/// thing that is measured, a column for each of the four messages.
const REACHED: [(&str, [Option<f64>; 4]); 5] = [
    ("scan", [Some(6.8), Some(5.8), Some(7.1), Some(40.0)]),
    ("index", [None, Some(34.6), Some(43.1), Some(296.0)]),
    ("parse", [None, Some(38.0), Some(48.0), Some(303.0)]),
    ("parse, 8 gets", [None, Some(62.0), Some(70.0), Some(326.0)]),
    ("encode", [None, Some(25.0), None, None]),
];

/// Messages that are measured together.
struct Set {
    name: String,
    messages: Vec<Vec<u8>>,
    /// Which of the four it is.
    column: Option<usize>,
}

/// Runs the command.
pub(crate) fn run(
    args: &FixBenchArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    // The parts that compare two ways have distributions, those that go through messages have none.
    let rows: &[LatencyName] = match CODEC.contains(&args.part) {
        true => &[],
        false => &[LatencyName::Service],
    };
    let session = Session::start(&Setup {
        rows,
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new("fix-bench");
    let mut checks = Checks::default();
    if CODEC.iter().any(|part| has(args, *part)) {
        codec(args, &mut outcome, &mut checks)?;
    }
    if has(args, FixBenchPart::Store) {
        store::part(args, &mut outcome, &mut checks)?;
    }
    if has(args, FixBenchPart::Spsc) {
        spsc::part(args, &mut outcome, &mut checks)?;
    }
    if has(args, FixBenchPart::Deferred) {
        deferred::part(args, &mut outcome, &mut checks)?;
    }
    if has(args, FixBenchPart::Transport) {
        transport(args, &session, &mut outcome, &mut checks)?;
    }
    if has(args, FixBenchPart::Techniques) {
        techniques::run(args, &session, &mut outcome, &mut checks)?;
    }
    let method = "every instruction set beside plain code, and every answer with what was asked";
    checks.conclude(method, &mut outcome);
    session.finish(outcome)
}

#[cfg(target_os = "linux")]
use transport::run as transport;

/// Where there are neither `io_uring` nor `epoll`, there is nothing to carry by.
#[cfg(not(target_os = "linux"))]
fn transport(args: &FixBenchArgs, _: &Session, _: &mut Outcome, _: &mut Checks) -> Result<()> {
    match args.part {
        FixBenchPart::Transport => Err(Failure::usage("transports are measured on Linux only")),
        _ => Ok(()),
    }
}

/// Whether a part was asked for.
fn has(args: &FixBenchArgs, part: FixBenchPart) -> bool {
    args.part == part || args.part == FixBenchPart::All
}

/// The parts that go through messages, by every instruction set.
fn codec(args: &FixBenchArgs, outcome: &mut Outcome, checks: &mut Checks) -> Result<()> {
    let isas = match forced(args.isa)? {
        Some(isa) if !isa.is_available() => return Err(unavailable(isa)),
        Some(isa) => vec![isa],
        None => Isa::ALL
            .into_iter()
            .filter(|isa| isa.is_available())
            .collect(),
    };
    let sets = sets(args)?;
    for set in &sets {
        scan::check(set, checks)?;
    }
    let columns = [
        ("of", Unit::Text),
        ("message", Unit::Text),
        ("isa", Unit::Text),
        ("median_ns", Unit::Nanoseconds),
        ("min_ns", Unit::Nanoseconds),
        ("reach_ns", Unit::Nanoseconds),
    ];
    let mut bench = Bench {
        args,
        table: Table::new("nanoseconds a message", &columns),
        messages: 0,
    };
    for set in &sets {
        for isa in &isas {
            if has(args, FixBenchPart::Scan) {
                scan::rows(&mut bench, set, *isa)?;
            }
            if has(args, FixBenchPart::Parse) {
                parse::rows(&mut bench, set, *isa)?;
            }
        }
    }
    if has(args, FixBenchPart::Encode) {
        let built_in: &[Set] = if args.messages.is_some() { &[] } else { &sets };
        encode::rows(&mut bench, built_in, checks)?;
    }
    outcome.ops = Some(outcome.ops.unwrap_or(0) + bench.messages);
    outcome.tables.push(bench.table);
    Ok(())
}

fn sets(args: &FixBenchArgs) -> Result<Vec<Set>> {
    let Some(path) = &args.messages else {
        let four = Sample::ALL.into_iter().enumerate();
        let mut sets: Vec<Set> = four
            .map(|(column, sample)| Set {
                name: format!("{} {} B", sample.name(), sample.bytes().len()),
                messages: vec![sample.bytes()],
                column: Some(column),
            })
            .collect();
        // One message over and over is what a predictor of branches knows by heart.
        let mixed = shuffled(Version::Fix44, SHUFFLED, SHUFFLED_SEED);
        sets.extend(mixed.map(|messages| Set::of("shuffled", messages)));
        return Ok(sets);
    };
    let messages = collect(path, MESSAGES_MAX)?;
    if messages.is_empty() {
        let message = format!("there are no messages in '{}'", path.display());
        return Err(Failure::new(message));
    }
    Ok(vec![Set::of("messages", messages)])
}

impl Set {
    /// Of several messages, each as long as the others in the mean only.
    fn of(what: &str, messages: Vec<Vec<u8>>) -> Self {
        let bytes: usize = messages.iter().map(Vec::len).sum();
        Self {
            name: format!("{} {what} of {} B", messages.len(), bytes / messages.len()),
            messages,
            column: None,
        }
    }
}

struct Bench<'a> {
    args: &'a FixBenchArgs,
    table: Table,
    messages: u64,
}

impl Bench<'_> {
    /// Times a batch after the other of a set's messages, whatever they were made into, and adds a row.
    fn row<M>(
        &mut self,
        of: &str,
        set: &Set,
        isa: Isa,
        messages: &[M],
        mut run: impl FnMut(&M),
    ) -> Result<()> {
        let size = self.args.batch_size as usize;
        let mut times = Vec::new();
        for batch in 0..=self.args.batches {
            stop_if_interrupted()?;
            let start = Instant::now();
            for message in messages.iter().cycle().take(size) {
                run(message);
            }
            let ns = start.elapsed().as_nanos() as f64 / size as f64;
            // The first one warms up.
            if batch > 0 {
                times.push(ns);
            }
            self.messages += size as u64;
        }
        times.sort_by(f64::total_cmp);
        let reached = REACHED.iter().find(|row| row.0 == of);
        let reached = reached
            .zip(set.column)
            .and_then(|(row, column)| row.1[column]);
        self.table.rows.push(vec![
            of.into(),
            set.name.as_str().into(),
            isa.name().into(),
            times[times.len() / 2].into(),
            times[0].into(),
            reached.map_or(Cell::Null, Cell::from),
        ]);
        Ok(())
    }
}

/// Nanoseconds an operation, of batches.
struct Batches {
    ns: Vec<f64>,
}

impl Batches {
    fn new() -> Self {
        Self { ns: Vec::new() }
    }

    /// Times a batch of so many operations.
    fn time(&mut self, operations: usize, run: impl FnOnce()) {
        let start = Instant::now();
        run();
        let ns = start.elapsed().as_nanos() as f64;
        self.ns.push(ns / operations.max(1) as f64);
    }

    /// The median and the least, as cells.
    fn cells(&mut self) -> [Cell; 2] {
        self.ns.sort_by(f64::total_cmp);
        let median = self.ns.get(self.ns.len() / 2).copied();
        let least = self.ns.first().copied();
        [median, least].map(|ns| ns.map_or(Cell::Null, Cell::from))
    }
}

fn stop_if_interrupted() -> Result<()> {
    match signal::interrupted() {
        true => Err(Failure::new("interrupted").status(ExitStatus::Interrupted)),
        false => Ok(()),
    }
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("the benchmark failed: {error}"))
}
