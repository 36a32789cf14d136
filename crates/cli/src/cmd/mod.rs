//! One file a command: from a plan to work, from work to an outcome.

mod advise;
mod betree;
mod betree_bench;
mod checks;
mod child;
mod compare;
mod compress;
mod compress_bench;
mod content;
mod decompress;
mod docs;
mod env;
mod fix;
mod fix_bench;
mod frames;
mod interleave;
mod list;
mod reference;
mod render;
mod stress;
#[cfg(feature = "async")]
mod ticker;
mod tour;
mod train;
mod transfer;
mod unzip;
mod zip;
#[cfg(feature = "async")]
mod zip_bench;
pub(crate) mod zstd;

use std::ffi::OsString;

use crate::args::{Cli, Command};
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::term::signal::Ending;

/// What a signal does to the command: those that work in steps end between them, with a report.
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
        Command::Compare(args) if args.interleave.is_some() => Ending::BetweenSteps,
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
        Command::Compare(args) => compare::run(&args, name, argv),
        Command::Report(args) => render::run(&args, name, argv),
        Command::Env(args) => env::run(&args, name, argv),
        Command::Tour(args) => tour::run(&args, name, argv),
        Command::Completions(args) => docs::completions(args.shell),
        Command::Man(args) => docs::man(&args),
    }
}
