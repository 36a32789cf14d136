//! `perfkit betree build`: expressions to a snapshot in a file.

use std::io::{BufWriter, Write as _};

use files::target::Target;
use report::ExitStatus;

use crate::commands::betree::flags::BuildArgs;
use crate::commands::betree::snapshot;
use crate::failure::{Failure, Result};
use crate::io::context;

/// Runs the command.
pub(super) fn run(args: &BuildArgs) -> Result<ExitStatus> {
    let path = args.output.as_path();
    // A target that is taken is refused before the work.
    let target = Target::create(path, args.force, None, context())?;
    let tree = snapshot::load(&args.tree, args.terminal.wants_progress())?;
    let failed = |error| Failure::io("write", path, &error);
    let mut out = BufWriter::new(target.writer());
    tree.snapshot
        .save_named(&tree.names, |piece| out.write_all(piece))
        .map_err(failed)?;
    out.into_inner()
        .map_err(|error| failed(error.into_error()))?;
    target.commit()?;
    Ok(ExitStatus::Ok)
}
