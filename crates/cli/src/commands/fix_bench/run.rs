//! `perfkit fix-bench`: what fixcore takes on this machine. How it is measured is in `bench::fix`.

use std::ffi::OsString;

use bench::fix::{Part, Plan};
use fixcore::Isa;
use latency::report::LatencyName;
use report::{ExitStatus, Outcome};

use crate::commands::fix_bench::flags::{FixBenchArgs, FixBenchCommand, FixBenchPart};
use crate::commands::fix_bench::{session, shapes};
use crate::commands::fix_logs::{collect, forced, unavailable};
use crate::commands::watch::Watcher;
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};
use crate::term::live::Live;
use crate::term::message::note;

/// Messages of a file that are kept.
const MESSAGES_MAX: usize = 4096;
/// Messages of the largest store when it is one part of several.
const STORE_MESSAGES_MAX: u64 = 100_000;

/// What `--as-seed` stands for: the sizes of the published measurements that the techniques are taken from.
const AS_SEED_WARM_UP: u32 = 10_000;
const AS_SEED_BATCH_SIZE: u32 = 100_000;
const AS_SEED_BATCHES: u32 = 5;

/// Runs the command.
pub(crate) fn run(
    args: &FixBenchArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    match &args.command {
        Some(FixBenchCommand::Shapes(args)) => return shapes::run(args, name, argv),
        Some(FixBenchCommand::Session(args)) => return session::run(args, name, argv),
        None => {}
    }
    let parts = args.part.parts();
    // The parts that compare two ways have distributions, those that go through messages have none.
    let rows: &[LatencyName] = match parts.iter().all(|part| part.is_codec()) {
        true => &[],
        false => &[LatencyName::Service],
    };
    let live = Live::start(args.live.live, "fix-bench");
    let session = Session::start(&Setup {
        live: live.as_ref().map(Live::rows),
        rows,
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new("fix-bench");
    let plan = plan(args, parts)?;
    let watcher = Watcher::new(false).live(live.as_ref());
    bench::fix::run(&plan, watcher.of(&session), &mut outcome)?;
    drop(live);
    session.finish(outcome)
}

/// What the flags ask for, with the messages of the file that they name.
fn plan(args: &FixBenchArgs, parts: Vec<Part>) -> Result<Plan> {
    let codec = parts.iter().any(|part| part.is_codec());
    let mut plan = Plan::new(parts);
    if codec {
        plan.isas = isas(args.isa)?;
        plan.messages = messages(args)?;
    }
    plan.batches = args.batches;
    plan.batch_size = args.batch_size;
    if args.as_seed {
        if args.part != FixBenchPart::Techniques {
            return Err(Failure::usage("--as-seed is for techniques")
                .help("`perfkit fix-bench techniques --as-seed`"));
        }
        (plan.batches, plan.batch_size) = (AS_SEED_BATCHES, AS_SEED_BATCH_SIZE);
        plan.warm_up = Some(AS_SEED_WARM_UP);
    }
    plan.store_messages = match args.part {
        FixBenchPart::Store => args.store_messages,
        _ => args.store_messages.min(STORE_MESSAGES_MAX),
    };
    plan.store_dir.clone_from(&args.store_dir);
    plan.cpus = args
        .output
        .report
        .cpu
        .as_ref()
        .map_or_else(Vec::new, |cpus| cpus.0.clone());
    #[cfg(target_os = "linux")]
    if plan.parts.contains(&Part::Transport) {
        plan.choice = choice()?;
    }
    Ok(plan)
}

/// The instruction set of the flag or of `PERFKIT_ISA`, or all that this processor has.
fn isas(isa: Option<Isa>) -> Result<Vec<Isa>> {
    match forced(isa)? {
        Some(isa) if !isa.is_available() => Err(unavailable(isa)),
        Some(isa) => Ok(vec![isa]),
        None => {
            let available = Isa::ALL.into_iter().filter(|isa| isa.is_available());
            Ok(available.collect())
        }
    }
}

fn messages(args: &FixBenchArgs) -> Result<Vec<Vec<u8>>> {
    let Some(path) = &args.messages else {
        return Ok(Vec::new());
    };
    let mut messages = collect(path, MESSAGES_MAX + 1)?;
    if messages.len() > MESSAGES_MAX {
        messages.truncate(MESSAGES_MAX);
        if args.output.terminal.wants_warnings() {
            note(
                &format!("only the first {MESSAGES_MAX} messages are measured"),
                "they stand for the others only if the log is alike throughout",
            );
        }
    }
    match messages.is_empty() {
        true => Err(Failure::new(format!(
            "there are no messages in '{}'",
            path.display()
        ))),
        false => Ok(messages),
    }
}

/// Which interface the environment asks for.
#[cfg(target_os = "linux")]
fn choice() -> Result<fixcore::io::Choice> {
    match std::env::var("PERFKIT_IO") {
        Ok(name) if !name.is_empty() => {
            let choice = name.parse();
            choice.map_err(|error| Failure::usage(format!("PERFKIT_IO: {error}")))
        }
        _ => Ok(fixcore::io::Choice::Auto),
    }
}
