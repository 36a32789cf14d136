//! `perfkit betree-bench shapes`: betree and a simple inverted index over shapes of workloads. How they are measured
//! is in `bench::betree::shapes`.

use std::ffi::OsString;

use bench::betree::shapes::{self as method, Plan};
use latency::report::LatencyName;
use report::{ExitStatus, Outcome};

use crate::commands::betree_bench::flags::ShapesArgs;
use crate::commands::watch::Watcher;
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};

/// Runs the command.
pub(super) fn run(args: &ShapesArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let plan = plan(args);
    if plan.cases().is_empty() {
        let names: Vec<String> = args.shape.iter().map(|name| format!("'{name}'")).collect();
        return Err(
            Failure::usage(format!("no shape has {} in its name", names.join(" or ")))
                .help("`perfkit betree generate --list` shows the names; --draws N draws shapes"),
        );
    }
    let session = Session::start(&Setup {
        seed: Some(args.seed),
        rows: &[LatencyName::Service, LatencyName::Hold],
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new("betree-bench");
    let watcher = Watcher::new(args.output.terminal.wants_progress());
    method::run(&plan, watcher.of(&session), &mut outcome)?;
    session.finish(outcome)
}

fn plan(args: &ShapesArgs) -> Plan {
    let mut plan = Plan::default();
    plan.sizes.clone_from(&args.expressions);
    plan.sizes.sort_unstable();
    plan.sizes.dedup();
    plan.only.clone_from(&args.shape);
    // Whoever names shapes wants those only.
    let draws = if args.shape.is_empty() { plan.draws } else { 0 };
    plan.draws = args.draws.unwrap_or(draws);
    plan.first_draw = args.first_draw;
    plan.events = args.events;
    plan.rounds = args.rounds;
    plan.budget = args.budget;
    plan.seed = args.seed;
    plan.max_time = args.max_time;
    plan
}
