//! `perfkit fix-bench shapes`: fixcore and a naive parser and encoder over shapes of messages. How they are measured is in
//! `bench::fix::shapes`.

use std::ffi::OsString;

use bench::fix::shapes::{self as method, Plan};
use fixcore::Isa;
use report::{ExitStatus, Outcome};

use crate::commands::fix_bench::flags::{IsaWord, ShapesArgs};
use crate::commands::fix_logs::{forced, unavailable};
use crate::commands::watch::Watcher;
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};

/// Runs the command.
pub(super) fn run(args: &ShapesArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let plan = plan(args)?;
    if plan.cases().is_empty() {
        let names: Vec<String> = args.shape.iter().map(|name| format!("'{name}'")).collect();
        return Err(
            Failure::usage(format!("no shape has {} in its name", names.join(" or "))).help(
                "`perfkit fix-bench shapes --rounds 1` measures all shapes; --draws N draws some",
            ),
        );
    }
    let session = Session::start(&Setup {
        seed: Some(args.seed),
        rows: &[],
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new("fix-bench");
    let watcher = Watcher::new(args.output.terminal.wants_progress());
    method::run(&plan, watcher.of(&session), &mut outcome)?;
    session.finish(outcome)
}

fn plan(args: &ShapesArgs) -> Result<Plan> {
    let mut plan = Plan::default();
    plan.isas = isas(&args.isa)?;
    if !args.operation.is_empty() {
        plan.operations.clone_from(&args.operation);
        plan.operations.sort_unstable();
        plan.operations.dedup();
    }
    plan.only.clone_from(&args.shape);
    // Whoever names shapes wants those only.
    let draws = if args.shape.is_empty() { plan.draws } else { 0 };
    plan.draws = args.draws.unwrap_or(draws);
    plan.first_draw = args.first_draw;
    plan.rounds = args.rounds;
    plan.seed = args.seed;
    plan.max_time = args.max_time;
    Ok(plan)
}

/// The instruction sets of the flag or of `PERFKIT_ISA`, or the fastest.
fn isas(words: &[IsaWord]) -> Result<Vec<Isa>> {
    let mut isas = Vec::new();
    for word in words {
        match word {
            IsaWord::Each => isas.extend(Isa::ALL.into_iter().filter(|isa| isa.is_available())),
            IsaWord::One(isa) => isas.push(*isa),
        }
    }
    if isas.is_empty() {
        isas.push(forced(None)?.unwrap_or_else(Isa::detect));
    }
    isas.sort_unstable();
    isas.dedup();
    match isas.iter().find(|isa| !isa.is_available()) {
        Some(isa) => Err(unavailable(*isa)),
        None => Ok(isas),
    }
}
