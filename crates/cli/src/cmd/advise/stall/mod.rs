//! What compression does to everyone else in a runtime: a table of stalls beside a load.
//!
//! [`beside`] is one measurement; here is which are made, and what they come to. Excess is over an
//! idle run of the same minute, for the machine itself stalls as well.

mod beside;

use std::sync::Arc;
use std::time::{Duration, Instant};

use latency::report::{Cell, LatencyName, LoadModel, Table, Unit};
use latency::{Recording, Schedule};
use zstdkit::schedule::{Calibration, CostModel, Offload};
use zstdkit::tokio::Scheduler;
use zstdkit::{Compressor, Pool, Recipe};

use self::beside::{Beside, Mode, Stalls};
use super::data::{Data, piece};
use super::failed;
use crate::args::advise::{AdviseArgs, Plan};
use crate::cmd::checks::Checks;
use crate::failure::{Failure, Result};
use crate::session::Outcome;
use crate::term::signal;

/// Different contents that a load goes round.
const CONTENTS: usize = 8;
/// No load has more operations a second: beyond, the threads that give it are the load.
const RATE_MAX_PER_S: f64 = 50_000.0;
/// Operations that a run should hold, if that makes it no longer than so many times.
const OPERATIONS_MIN: f64 = 3.0;
const LONGER_MAX: u32 = 3;
/// How long an operation is timed to find the rate.
const PROBE_TIME: Duration = Duration::from_millis(50);

const COLUMNS: [(&str, Unit); 13] = [
    ("recipe", Unit::Text),
    ("size_bytes", Unit::Bytes),
    ("mode", Unit::Text),
    ("due", Unit::Count),
    ("completed", Unit::Count),
    ("response_p50_ns", Unit::Nanoseconds),
    ("response_p99_ns", Unit::Nanoseconds),
    ("stall_p50_ns", Unit::Nanoseconds),
    ("stall_p99_ns", Unit::Nanoseconds),
    ("stall_max_ns", Unit::Nanoseconds),
    ("excess_p99_ns", Unit::Nanoseconds),
    ("excess_max_ns", Unit::Nanoseconds),
    ("call_late_p99_ns", Unit::Nanoseconds),
];

const WORST_COLUMNS: [(&str, Unit); 4] = [
    ("mode", Unit::Text),
    ("excess_p99_ns", Unit::Nanoseconds),
    ("excess_max_ns", Unit::Nanoseconds),
    ("completed_ratio", Unit::Share),
];

/// The worst of a mode over all cells.
#[derive(Default)]
struct Worst {
    p99_ns: u64,
    max_ns: u64,
    due: u64,
    completed: u64,
}

/// Adds the tables to the outcome.
pub(super) fn part(
    args: &AdviseArgs,
    plan: &Plan,
    data: &Data,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<()> {
    let scheduler = scheduler()?;
    let mut table = Table::new("stalls", &COLUMNS);
    let mut worst: [Worst; 4] = Default::default();
    for &recipe in &plan.recipes {
        for &bytes in &plan.sizes {
            if signal::interrupted() {
                break;
            }
            let (_, content) = data.of(recipe);
            let load = Load::new(recipe, content, bytes, f64::from(args.load) / 100.0)?;
            let mut idle = None;
            for (mode, worst) in Mode::ALL.into_iter().zip(&mut worst) {
                let run = Beside {
                    scheduler: &scheduler,
                    workers: args.workers.into(),
                    time: load.time(plan.run),
                    mode,
                };
                let stalls = run.measure(&load, checks)?;
                let excess = |ns: Option<u64>, idle: Option<u64>| Some(ns?.saturating_sub(idle?));
                let (p99_ns, max_ns) = (percentile(&stalls.stall, 99.0), max(&stalls.stall));
                let (idle_p99_ns, idle_max_ns) = *idle.get_or_insert((p99_ns, max_ns));
                let (over_p99, over_max) =
                    (excess(p99_ns, idle_p99_ns), excess(max_ns, idle_max_ns));
                worst.p99_ns = worst.p99_ns.max(over_p99.unwrap_or(0));
                worst.max_ns = worst.max_ns.max(over_max.unwrap_or(0));
                worst.due += stalls.due;
                worst.completed += stalls.completed;
                table
                    .rows
                    .push(row(recipe, &load, mode, &stalls, [over_p99, over_max]));
            }
        }
    }
    outcome.tables.push(table);
    outcome.tables.push(worst_table(&worst));
    outcome.load.model = LoadModel::Unknown;
    Ok(())
}

/// A scheduler that knows this machine.
fn scheduler() -> Result<Scheduler> {
    let model = CostModel::default();
    let start = Instant::now();
    Calibration::default()
        .run(&model, || start.elapsed())
        .map_err(failed)?;
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let offload = Offload::new(threads, 4 * threads)
        .map_err(|error| Failure::new(format!("cannot start threads: {error}")))?;
    Ok(Scheduler::new(model, Pool::default(), offload))
}

fn row(
    recipe: Recipe,
    load: &Load,
    mode: Mode,
    stalls: &Stalls,
    [over_p99, over_max]: [Option<u64>; 2],
) -> Vec<Cell> {
    let response = stalls.response.as_ref();
    vec![
        recipe.name().into(),
        (load.bytes as u64).into(),
        mode.name().into(),
        stalls.due.into(),
        stalls.completed.into(),
        response
            .and_then(|response| percentile(response, 50.0))
            .into(),
        response
            .and_then(|response| percentile(response, 99.0))
            .into(),
        percentile(&stalls.stall, 50.0).into(),
        percentile(&stalls.stall, 99.0).into(),
        max(&stalls.stall).into(),
        over_p99.into(),
        over_max.into(),
        percentile(&stalls.late, 99.0).into(),
    ]
}

fn worst_table(worst: &[Worst]) -> Table {
    let mut table = Table::new("worst_stalls", &WORST_COLUMNS);
    for (mode, worst) in Mode::ALL.into_iter().zip(worst).skip(1) {
        let completed = worst.completed as f64 / worst.due.max(1) as f64;
        table.rows.push(vec![
            mode.name().into(),
            worst.p99_ns.into(),
            worst.max_ns.into(),
            completed.into(),
        ]);
    }
    table
}

/// A percentile that was earned.
fn percentile(recording: &Recording, p: f64) -> Option<u64> {
    let latency = recording.latency();
    let found = latency
        .percentiles
        .iter()
        .find(|percentile| percentile.p == p)?;
    found.value_ns
}

fn max(recording: &Recording) -> Option<u64> {
    recording.latency().max_ns
}

/// What is asked of the runtime: contents of one size, at a rate.
struct Load {
    recipe: Recipe,
    bytes: usize,
    contents: Vec<Arc<[u8]>>,
    rate_per_s: f64,
}

impl Load {
    /// At the rate at which compressing inline takes this share of a processor.
    fn new(recipe: Recipe, content: &[u8], bytes: usize, share: f64) -> Result<Self> {
        let bytes = bytes.min(content.len());
        let contents: Vec<Arc<[u8]>> = (0..CONTENTS)
            .map(|nth| piece(content, nth, bytes).into())
            .collect();
        let mut compressor =
            Compressor::new(&recipe.options(Some(bytes as u64))).map_err(failed)?;
        let mut frame = Vec::new();
        let (mut operations, mut start) = (0_u32, Instant::now());
        for (nth, content) in contents.iter().cycle().enumerate() {
            compressor
                .compress_into(content, &mut frame)
                .map_err(failed)?;
            // The first makes the tables.
            match nth {
                0 => start = Instant::now(),
                _ => operations += 1,
            }
            if operations > 0 && start.elapsed() > PROBE_TIME {
                break;
            }
        }
        let seconds = start.elapsed().as_secs_f64() / f64::from(operations.max(1));
        Ok(Self {
            recipe,
            bytes,
            contents,
            rate_per_s: (share / seconds).clamp(1e-3, RATE_MAX_PER_S),
        })
    }

    /// How long a run has to be to hold some operations.
    fn time(&self, usual: Duration) -> Duration {
        let needed = Duration::from_secs_f64(OPERATIONS_MIN / self.rate_per_s);
        needed.clamp(usual, usual * LONGER_MAX)
    }

    fn schedule(&self) -> Result<Schedule> {
        Schedule::uniform(self.rate_per_s).map_err(|error| Failure::new(error.to_string()))
    }
}

/// What a distribution here is of.
const RESPONSE: LatencyName = LatencyName::Response;
