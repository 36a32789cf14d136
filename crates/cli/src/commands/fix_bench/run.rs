//! `perfkit fix-bench`: nanoseconds a message, by every instruction set; every answer compared with
//! that of plain code first.
//!
//! Here are the messages, the table and the timing of a row; what is timed has a file a part, and
//! parts that go through no messages make their own tables.

use std::ffi::OsString;
use std::time::Instant;

use fixcore::Isa;
use fixcore::dict::Version;
use fixcore::workload::{Sample, shuffled};
use latency::report::{Cell, LatencyName, Table, Unit};

use crate::commands::fix::run::{collect, forced, unavailable};
use crate::commands::fix_bench::flags::{FixBenchArgs, FixBenchPart};
use crate::commands::fix_bench::{deferred, encode, parse, scan, spsc, store, techniques};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::session::{Outcome, Session, Setup};
use crate::term::signal;
use bench::Checks;

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

/// Messages that are measured together.
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) messages: Vec<Vec<u8>>,
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
    checks.conclude(method, &mut outcome, signal::interrupted());
    session.finish(outcome)
}

#[cfg(target_os = "linux")]
use crate::commands::fix_bench::transport::run as transport;

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
        ("floor_ns", Unit::Nanoseconds),
    ];
    let mut bench = Bench {
        args,
        table: Table::new("nanoseconds a message, without the floor", &columns),
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
        let mut sets: Vec<Set> = Sample::ALL
            .into_iter()
            .map(|sample| Set {
                name: format!("{} {} B", sample.name(), sample.bytes().len()),
                messages: vec![sample.bytes()],
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
        }
    }
}

pub(crate) struct Bench<'a> {
    args: &'a FixBenchArgs,
    table: Table,
    messages: u64,
}

impl Bench<'_> {
    /// Times a batch after the other of a set's messages, whatever they were made into, and adds a row.
    ///
    /// Each batch stands beside one of the same loop with nothing in it. The median of those is the
    /// floor, what the loop and the clock cost, and it is taken off.
    pub(crate) fn row<M>(
        &mut self,
        of: &str,
        set: &Set,
        isa: Isa,
        messages: &[M],
        mut run: impl FnMut(&M),
    ) -> Result<()> {
        let size = self.args.batch_size as usize;
        let (mut times, mut floors) = (Batches::new(), Batches::new());
        for batch in 0..=self.args.batches {
            stop_if_interrupted()?;
            // The first ones warm up.
            if batch == 1 {
                (times, floors) = (Batches::new(), Batches::new());
            }
            floors.time(size, || {
                each(messages, size, |message| {
                    std::hint::black_box(message);
                });
            });
            times.time(size, || each(messages, size, &mut run));
            self.messages += size as u64;
        }
        let floor_ns = floors.median().unwrap_or(0.0);
        times.take_off(floor_ns);
        let [median, least] = times.cells();
        self.table.rows.push(vec![
            of.into(),
            set.name.as_str().into(),
            isa.name().into(),
            median,
            least,
            floor_ns.into(),
        ]);
        Ok(())
    }
}

/// Passes `size` messages to `run`, starting over at the end of `messages`. The loop is the same for a
/// batch and for its floor, so that it cancels.
#[inline(always)]
fn each<M>(messages: &[M], size: usize, mut run: impl FnMut(&M)) {
    for message in messages.iter().cycle().take(size) {
        run(message);
    }
}

/// Nanoseconds an operation, of batches.
pub(crate) struct Batches {
    ns: Vec<f64>,
}

impl Batches {
    pub(crate) fn new() -> Self {
        Self { ns: Vec::new() }
    }

    /// Times a batch of so many operations.
    pub(crate) fn time(&mut self, operations: usize, run: impl FnOnce()) {
        let start = Instant::now();
        run();
        let ns = start.elapsed().as_nanos() as f64;
        self.ns.push(ns / operations.max(1) as f64);
    }

    /// Takes what the same loop costs without its operations off every batch, down to nothing.
    fn take_off(&mut self, floor_ns: f64) {
        for ns in &mut self.ns {
            *ns = (*ns - floor_ns).max(0.0);
        }
    }

    fn median(&mut self) -> Option<f64> {
        self.ns.sort_by(f64::total_cmp);
        self.ns.get(self.ns.len() / 2).copied()
    }

    /// The median and the least, as cells.
    pub(crate) fn cells(&mut self) -> [Cell; 2] {
        let median = self.median();
        let least = self.ns.first().copied();
        [median, least].map(|ns| ns.map_or(Cell::Null, Cell::from))
    }
}

pub(crate) fn stop_if_interrupted() -> Result<()> {
    match signal::interrupted() {
        true => Err(Failure::new("interrupted").status(ExitStatus::Interrupted)),
        false => Ok(()),
    }
}

pub(crate) fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("the benchmark failed: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_taken_off_every_batch_and_none_goes_below_nothing() {
        let mut batches = Batches {
            ns: vec![9.0, 3.0, 7.0, 1.5],
        };
        batches.take_off(2.0);
        assert_eq!(batches.median(), Some(5.0));
        assert_eq!(batches.ns, [0.0, 1.0, 5.0, 7.0]);
    }

    #[test]
    fn a_loop_goes_round_its_messages() {
        let mut seen = Vec::new();
        each(&[1, 2, 3], 7, |message| seen.push(*message));
        assert_eq!(seen, [1, 2, 3, 1, 2, 3, 1]);
    }
}
