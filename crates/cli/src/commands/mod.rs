//! One folder per command: `flags` has its arguments, `run` its work.

#[cfg(feature = "workers")]
mod absent;
pub(crate) mod advise;
pub(crate) mod betree;
pub(crate) mod betree_bench;
pub(crate) mod child;
pub(crate) mod codec;
pub(crate) mod compare;
pub(crate) mod compress;
pub(crate) mod compress_bench;
pub(crate) mod content;
pub(crate) mod decompress;
pub(crate) mod docs;
pub(crate) mod env;
pub(crate) mod explain;
pub(crate) mod expressions;
pub(crate) mod fix;
pub(crate) mod fix_bench;
pub(crate) mod fix_logs;
pub(crate) mod formats;
pub(crate) mod found;
pub(crate) mod frames;
#[cfg(feature = "kafka")]
mod kafka;
pub(crate) mod list;
pub(crate) mod memory_floor;
mod metrics;
#[cfg(feature = "workers")]
mod nats;
pub(crate) mod patch;
pub(crate) mod reference;
pub(crate) mod report;
pub(crate) mod rerun;
mod saved;
mod segments;
mod stop;
pub(crate) mod stress;
pub(crate) mod tour;
pub(crate) mod transfer;
pub(crate) mod unzip;
mod watch;
pub(crate) mod zip;
#[cfg(feature = "async")]
pub(crate) mod zip_bench;

use std::ffi::OsString;

use ::report::ExitStatus;

use crate::args::output::OutputArgs;
use crate::args::{Cli, Command};
use crate::export;
use crate::failure::Result;
use crate::term::signal::Ending;

/// What a signal does: commands that work in steps end between two steps, with a report.
pub(crate) fn ending(command: &Command) -> Ending {
    match command {
        Command::Compress(_)
        | Command::CompressBench(_)
        | Command::Decompress(_)
        | Command::Zip(_)
        | Command::Unzip(_)
        | Command::Advise(_)
        | Command::Betree(_)
        | Command::BetreeBench(_)
        | Command::Fix(_)
        | Command::FixBench(_)
        | Command::Stress(_)
        | Command::Tour(_) => Ending::BetweenSteps,
        #[cfg(feature = "async")]
        Command::ZipBench(_) => Ending::BetweenSteps,
        Command::Compare(args) if args.runs_commands() => Ending::BetweenSteps,
        Command::Rerun(_) => Ending::BetweenSteps,
        _ => Ending::AtOnce,
    }
}

/// Runs the command of a parsed command line.
pub(crate) fn dispatch(cli: Cli, argv: &[OsString]) -> Result<ExitStatus> {
    let name = cli.command.name();
    cli.command.files().check()?;
    match cli.command {
        Command::Compress(args) => compress::run(&args, name, argv),
        Command::CompressBench(args) => compress_bench::run(&args, name, argv),
        Command::Decompress(args) => decompress::run(&args, name, argv),
        Command::Zip(args) => zip::run(&args, name, argv),
        Command::Unzip(args) => unzip::run(&args, name, argv),
        #[cfg(feature = "async")]
        Command::ZipBench(args) => zip_bench::run(&args, name, argv),
        Command::Advise(args) => advise::run(&args, name, argv),
        Command::Betree(args) => betree::run(&args, name, argv),
        Command::BetreeBench(args) => betree_bench::run(&args, name, argv),
        Command::Fix(args) => fix::run(&args, name, argv),
        Command::FixBench(args) => fix_bench::run(&args, name, argv),
        Command::Stress(args) => stress::run(&args, name, argv),
        Command::Compare(args) => told(compare::run(&args, name, argv), &args.output, name),
        Command::Report(args) => told(report::run(&args, name, argv), &args.output, name),
        Command::Rerun(args) => rerun::run(&args),
        Command::Env(args) => env::run(&args, name, argv),
        Command::Tour(args) => tour::run(&args, name, argv),
        Command::Explain(args) => explain::run(&args),
        Command::Completions(args) => docs::run::completions(args.shell),
        Command::Man(args) => docs::run::man(&args),
    }
}

/// How a run of gates ended; test cases that are wanted of it say so if it failed.
fn told(ended: Result<ExitStatus>, output: &OutputArgs, name: &str) -> Result<ExitStatus> {
    if let Err(failure) = &ended {
        export::broke(&output.report, output.force, name, failure);
    }
    ended
}
