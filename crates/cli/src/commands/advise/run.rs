//! `perfkit advise`: what may run in an event loop on this machine, and what it does to one. How that is
//! measured is in `bench::advise`.

use std::ffi::OsString;

use bench::advise::{self, Data, Plan};
use report::{ExitStatus, Outcome};
use serde_json::json;

use crate::commands::advise::flags::AdviseArgs;
use crate::commands::content;
use crate::commands::watch::Watcher;
use crate::failure::Result;
use crate::session::{Session, Setup};
use crate::term::message;

/// Runs the command.
pub(crate) fn run(args: &AdviseArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let plan = args.plan()?;
    if args.code {
        message::output(advise::TOKIO_CODE.as_bytes())?;
        return Ok(ExitStatus::Ok);
    }
    let session = Session::start(&Setup {
        seed: Some(args.seed),
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new(name);
    let data = data(args, &plan, &mut outcome)?;
    describe(args, &plan, &mut outcome);
    let watcher = Watcher::new(false);
    advise::run(&plan, &data, watcher.of(&session), &mut outcome)?;
    session.finish(outcome)
}

/// The user's files, or generated data.
fn data(args: &AdviseArgs, plan: &Plan, outcome: &mut Outcome) -> Result<Data> {
    if !args.files.is_empty() {
        return Ok(Data::of_files(content::read(&args.files, outcome)?));
    }
    let streams = plan.streams.as_ref().map_or(0, |streams| streams.bytes);
    let largest = plan.sizes.last().copied().unwrap_or(0).max(streams);
    let data = Data::generated(args.seed, largest, &plan.recipes);
    for (kind, content) in data.contents() {
        outcome.add_input(format!("generated:{kind}"), content);
    }
    Ok(data)
}

fn describe(args: &AdviseArgs, plan: &Plan, outcome: &mut Outcome) {
    let params = &mut outcome.workload.params;
    let ns = |time: std::time::Duration| json!(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    params.insert("threshold_ns".into(), ns(plan.threshold));
    params.insert("run_ns".into(), ns(plan.run));
    params.insert("workers".into(), json!(args.workers));
    params.insert("load_percent".into(), json!(args.load));
}
