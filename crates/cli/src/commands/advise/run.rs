//! `perfkit advise`: what may run in an event loop on this machine, and what it does to one.
//!
//! [`data`] is what is compressed, [`cost`] the tables of times and verdicts, [`stall`] the
//! measurement beside a runtime. Nothing here decides for a program; that is `zstdkit::schedule`.

use std::ffi::OsString;

use serde_json::json;

use crate::commands::advise::flags::{AdviseArgs, Plan};
use crate::commands::advise::{cost, data, stall};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::session::{Outcome, Session, Setup};
use crate::term::signal;
use bench::Checks;

/// Runs the command.
pub(crate) fn run(args: &AdviseArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let plan = args.plan()?;
    let session = Session::start(&Setup {
        seed: Some(args.seed),
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new(name);
    let mut checks = Checks::default();
    let largest = plan.sizes.last().copied().unwrap_or(0);
    let data = data::Data::new(&args.files, args.seed, largest, &plan.recipes, &mut outcome)?;
    describe(args, &plan, &mut outcome);
    #[cfg(feature = "async")]
    let tables = !args.no_tables;
    #[cfg(not(feature = "async"))]
    let tables = true;
    if tables {
        cost::part(&plan, &data, &mut outcome, &mut checks)?;
    }
    #[cfg(feature = "async")]
    if !args.no_stalls {
        stall::part(args, &plan, &data, &mut outcome, &mut checks)?;
    }
    checks.conclude(
        "round trip of a frame a cell and mode",
        &mut outcome,
        signal::interrupted(),
    );
    session.finish(outcome)
}

fn describe(args: &AdviseArgs, plan: &Plan, outcome: &mut Outcome) {
    let params = &mut outcome.workload.params;
    let ns = |time: std::time::Duration| json!(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    params.insert("threshold_ns".into(), ns(plan.threshold));
    params.insert("run_ns".into(), ns(plan.run));
    params.insert("workers".into(), json!(args.workers));
    params.insert("load_percent".into(), json!(args.load));
}

pub(crate) fn failed(error: zstdkit::Error) -> Failure {
    Failure::new(error.to_string())
}
