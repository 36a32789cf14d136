//! `perfkit betree`: expressions from files, events from a file or a pipe, matches as they come.
//!
//! What matching is lives in the library `betree`; here are files, lines and numbers of lines.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Read as _;

use betree::Snapshot;
use betree::Undefined;
use report::ExitStatus;

use crate::commands::betree::flags::{BetreeArgs, BetreeCommand, TreeArgs, UndefinedMode};
use crate::commands::betree::{build, check, explain, generate, matching};
use crate::commands::expressions::{self, Files, failed};
use crate::failure::{Failure, Result};
use crate::io::open::open;

/// Runs the command.
pub(crate) fn run(args: &BetreeArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    match &args.command {
        BetreeCommand::Generate(args) => generate::run(args),
        BetreeCommand::Match(args) => matching::run(args, name, argv),
        BetreeCommand::Build(args) => build::run(args),
        BetreeCommand::Check(args) => check::run(args),
        BetreeCommand::Explain(args) => explain::run(args),
    }
}

/// The tree of the files or of the snapshot, and how many lines the expressions have: of a snapshot,
/// the greatest id.
pub(crate) fn snapshot(args: &TreeArgs, progress: bool) -> Result<(Snapshot, u64)> {
    match (&args.snapshot, &args.domains, &args.expressions) {
        (Some(path), _, _) => {
            let mut bytes = Vec::new();
            open(path, OpenOptions::new().read(true))
                .and_then(|mut file| file.read_to_end(&mut bytes))
                .map_err(|error| Failure::io("read", path, &error))?;
            let snapshot = Snapshot::load(&bytes).map_err(|error| {
                failed(path, &error).help("create it again with `perfkit betree build`")
            })?;
            let greatest = snapshot.ids().last().map_or(0, |id| id.0);
            Ok((snapshot, greatest))
        }
        (None, domains, Some(expressions)) => {
            let undefined = match args.undefined {
                UndefinedMode::False => Undefined::False,
                UndefinedMode::ThreeValued => Undefined::Unknown,
            };
            let constants = args.constants.as_deref();
            let files = Files {
                domains: domains.as_deref(),
                expressions,
                constants,
                undefined,
            };
            let (mut tree, lines) = expressions::tree(&files, progress)?;
            Ok((tree.snapshot(), lines))
        }
        // The parser of the arguments asks for them.
        _ => Err(Failure::new("there are no expressions")),
    }
}
