//! How compression delays the other tasks of a runtime: a table of stalls under load.
//!
//! [`probe`] makes one measurement, [`table`] puts them together; this module chooses which to make. The
//! excess is over a run without load in the same minute, because the machine itself also stalls.

mod load;
mod probe;
mod table;

use std::sync::Arc;
use std::time::Instant;

use latency::report::LoadModel;
use serde_json::json;
use zstdkit::Pool;
use zstdkit::schedule::{Calibration, CostModel, Offload};
use zstdkit::tokio::Scheduler;

use crate::advise::data::Data;
use crate::advise::plan::Plan;
use crate::advise::stall::load::Load;
use crate::advise::stall::probe::{Measurement, Mode, Stalls};
use crate::advise::stall::table::Tables;
use crate::{Checks, Context, Error};
use report::Outcome;

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
    let offload =
        start(threads).map_err(|error| Error::new(format!("cannot start threads: {error}")))?;
    Ok(Scheduler::new(model, Pool::default(), offload))
}
