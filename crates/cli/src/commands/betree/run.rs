//! `perfkit betree`: expressions from files, events from a file or a pipe, matches as they come.
//!
//! What matching is lives in the library `betree`; here are files, lines and numbers of lines.

use std::ffi::OsString;

use report::ExitStatus;

use crate::commands::betree::flags::{BetreeArgs, BetreeCommand};
use crate::commands::betree::{build, check, explain, generate, lint, matching};
use crate::failure::Result;

/// Runs the command.
pub(crate) fn run(args: &BetreeArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    match &args.command {
        BetreeCommand::Generate(args) => generate::run(args),
        #[cfg(feature = "workers")]
        BetreeCommand::Match(args) if args.workers.from.is_some() => {
            crate::commands::betree::workers::work(args, name, argv)
        }
        BetreeCommand::Match(args) => matching::run(args, name, argv),
        BetreeCommand::Build(args) => build::run(args),
        BetreeCommand::Check(args) => check::run(args, name, argv),
        BetreeCommand::Lint(args) => lint::run(args, name, argv),
        BetreeCommand::Explain(args) => explain::run(args),
        #[cfg(feature = "workers")]
        BetreeCommand::Feed(args) => crate::commands::betree::workers::feed(args, name, argv),
        #[cfg(feature = "workers")]
        BetreeCommand::Join(args) => crate::commands::betree::workers::join(args, name, argv),
        #[cfg(feature = "workers")]
        BetreeCommand::RollOut(args) => {
            crate::commands::betree::workers::roll_out(args, name, argv)
        }
        #[cfg(feature = "serve")]
        BetreeCommand::Serve(args) => crate::commands::betree::serve::run(args, name, argv),
    }
}
