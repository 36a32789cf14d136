//! The tree that a command works with: built from files of expressions, or loaded from a snapshot.

use std::fs::OpenOptions;
use std::io::Read as _;

use betree::{Snapshot, Undefined};

use crate::commands::betree::flags::{TreeArgs, UndefinedMode};
use crate::commands::expressions::{self, Files, failed};
use crate::failure::{Failure, Result};
use crate::io::open::open;

/// The tree of the files or of the snapshot, and how many lines the expressions have: of a snapshot,
/// the greatest id.
pub(super) fn load(args: &TreeArgs, progress: bool) -> Result<(Snapshot, u64)> {
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
