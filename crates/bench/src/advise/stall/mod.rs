//! How compression delays the other tasks of a runtime: a table of stalls under load.
//!
//! [`probe`] makes one measurement, [`table`] puts them together; this module chooses which to make. The
//! excess is over a run without load in the same minute, because the machine itself also stalls.

mod probe;
mod table;

use std::sync::Arc;
use std::time::{Duration, Instant};

use latency::Schedule;
use latency::report::{LatencyName, LoadModel};
use serde_json::json;
use zstdkit::schedule::{Calibration, CostModel, Offload};
use zstdkit::tokio::Scheduler;
use zstdkit::{Compressor, Pool, Recipe};

use crate::advise::data::{Data, piece};
use crate::advise::plan::Plan;
use crate::advise::stall::probe::{Measurement, Mode, Stalls};
use crate::advise::stall::table::Tables;
use crate::{Checks, Context, Error};
use report::Outcome;

/// Turns of every mode, if the operations of the load are short enough.
const TURNS: u32 = 4;
/// Number of different contents in a load.
const CONTENTS: usize = 8;
/// The highest rate of a load: beyond it, the threads that issue operations would be the load.
const RATE_MAX_PER_S: f64 = 50_000.0;
/// Operations that a run should have, if it does not become longer than `LONGER_MAX` times for that.
const OPERATIONS_MIN: f64 = 3.0;
const LONGER_MAX: u32 = 3;
/// How long an operation is timed to find the rate.
const PROBE_TIME: Duration = Duration::from_millis(50);

/// Adds the tables to the outcome.
pub(crate) fn part(
    plan: &Plan,
    data: &Data,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<(), Error> {
    let model = Arc::new(calibrated(outcome)?);
    let mut tables = Tables::new();
    for &recipe in &plan.recipes {
        for &bytes in &plan.sizes {
            if context.watch.is_stopped() {
                break;
            }
            let (_, content) = data.of(recipe);
            let load = Load::new(recipe, content, bytes, plan.load)?;
            tables.add(&load, cell((plan, context), &load, &model, checks)?);
        }
    }
    outcome.tables.extend(tables.finish());
    outcome.load.model = LoadModel::Unknown;
    Ok(())
}

/// One load in every mode. The modes take turns, each time with another one first, so that none of them
/// gets a quieter minute of the machine, and idle is measured in the same minute as the modes that it is
/// compared with.
fn cell(
    (plan, context): (&Plan, Context<'_>),
    load: &Load,
    model: &Arc<CostModel>,
    checks: &mut Checks,
) -> Result<Vec<Stalls>, Error> {
    let modes = Mode::ALL;
    let start = Instant::now();
    let mut found: Vec<Stalls> = modes.iter().map(|_| Stalls::new(start)).collect();
    let turns = load.turns(plan.run);
    for turn in 0..turns as usize {
        for place in 0..modes.len() {
            if context.watch.is_stopped() {
                break;
            }
            let nth = (turn + place) % modes.len();
            // Separate threads and contexts: no mode profits from what another one warmed up.
            let scheduler = scheduler(model.clone(), modes[nth])?;
            let run = Measurement {
                scheduler: &scheduler,
                workers: plan.workers,
                time: load.time(plan.run / turns),
                mode: modes[nth],
            };
            found[nth].merge(run.measure(load, checks)?)?;
        }
    }
    Ok(found)
}

/// A cost model for this machine; the report says how long calibration took.
fn calibrated(outcome: &mut Outcome) -> Result<CostModel, Error> {
    let model = CostModel::default();
    let start = Instant::now();
    let complete = Calibration::default().run(&model, || start.elapsed())?;
    let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let params = &mut outcome.workload.params;
    params.insert("calibration_ns".into(), json!(ns));
    params.insert("calibration_complete".into(), json!(complete));
    Ok(model)
}

fn scheduler(model: Arc<CostModel>, mode: Mode) -> Result<Scheduler, Error> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let start = match mode {
        Mode::Background => Offload::background,
        _ => Offload::new,
    };
    let offload = start(threads, 4 * threads)
        .map_err(|error| Error::new(format!("cannot start threads: {error}")))?;
    Ok(Scheduler::new(model, Pool::default(), offload))
}

/// What the load does: contents of one size, at a rate.
struct Load {
    recipe: Recipe,
    bytes: usize,
    contents: Vec<Arc<[u8]>>,
    rate_per_s: f64,
}

impl Load {
    /// The rate at which inline compression takes this share of one CPU.
    fn new(recipe: Recipe, content: &[u8], bytes: usize, share: f64) -> Result<Self, Error> {
        let bytes = bytes.min(content.len());
        let contents: Vec<Arc<[u8]>> = (0..CONTENTS)
            .map(|nth| piece(content, nth, bytes).into())
            .collect();
        let mut compressor = Compressor::new(&recipe.options(Some(bytes as u64)))?;
        let mut frame = Vec::new();
        let (mut operations, mut start) = (0_u32, Instant::now());
        for (nth, content) in contents.iter().cycle().enumerate() {
            compressor.compress_into(content, &mut frame)?;
            // The first call creates the tables.
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

    /// How long a run must be to contain some operations.
    fn needed(&self) -> Duration {
        Duration::from_secs_f64(OPERATIONS_MIN / self.rate_per_s)
    }

    fn time(&self, usual: Duration) -> Duration {
        self.needed().clamp(usual, usual * LONGER_MAX)
    }

    /// The number of turns for a run of this length: one if they would contain too few operations.
    fn turns(&self, run: Duration) -> u32 {
        match self.needed() <= run / TURNS {
            true => TURNS,
            false => 1,
        }
    }

    fn schedule(&self) -> Result<Schedule, Error> {
        Schedule::uniform(self.rate_per_s).map_err(|error| Error::new(error.to_string()))
    }
}

/// The kind of all distributions here.
const RESPONSE: LatencyName = LatencyName::Response;
