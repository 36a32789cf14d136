//! Merges and splits.

use std::ffi::OsString;
use std::io::IsTerminal as _;

use files::target;
use latency::report::{Input, Table, Unit};
use report::{ExitStatus, INPUTS_LISTED, Outcome, names};

use super::combined::Combined;
#[cfg(feature = "cloud")]
use super::combined::is_remote;
use super::local;
#[cfg(feature = "cloud")]
use super::remote;
use crate::commands::transfer::Stop;
use crate::commands::zip::conclude::settle;
use crate::commands::zip::flags::ZipArgs;
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};

/// Runs the command.
pub(crate) fn run(args: &ZipArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    refuse(args)?;
    let session = Session::start(&Setup::filter(
        name,
        argv,
        &args.report,
        &args.terminal,
        args.force,
    ))?;
    let mut combined = Combined::default();
    let ended = combine(args, &mut combined).map(|()| combined.totals);
    let mut outcome = Outcome::new("zip");
    describe(args, &combined, &mut outcome);
    settle(ended, 0, &mut outcome);
    session.finish(outcome)
}

fn combine(args: &ZipArgs, combined: &mut Combined) -> std::result::Result<(), Stop> {
    #[cfg(feature = "cloud")]
    if is_remote(&args.output) && args.paths.iter().all(|path| is_remote(path)) {
        return remote::combine(args, combined);
    }
    local::combine(args, combined)
}

/// Refuses what can only end badly, before anything is opened.
fn refuse(args: &ZipArgs) -> Result<()> {
    if args.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::usage(
            "--merge reads archives by their directories, not standard input",
        )
        .help("name files or URLs"));
    }
    let to_stdout = target::is_stdout(&args.output);
    if to_stdout && args.combine.splits() {
        return Err(
            Failure::usage("several archives cannot go to standard output")
                .help("name a file, or leave out --split and --split-entries"),
        );
    }
    if to_stdout && std::io::stdout().is_terminal() && !args.force {
        return Err(Failure::usage("an archive is not written to a terminal")
            .help("redirect it, or name a file"));
    }
    Ok(())
}

fn describe(args: &ZipArgs, combined: &Combined, outcome: &mut Outcome) {
    for (path, bytes) in args.paths.iter().zip(&combined.source_bytes) {
        outcome.workload.inputs_total += 1;
        if outcome.workload.inputs.len() < INPUTS_LISTED {
            outcome.workload.inputs.push(Input {
                path: names::path(path),
                bytes: *bytes,
                xxh64: None,
            });
        }
    }
    outcome.bytes_in = combined.moved_bytes;
    outcome.bytes_out = combined.moved_bytes;
    outcome.did(combined.totals.entries, ["entry", "entries"]);
    let columns = [
        ("archives", Unit::Count),
        ("entries", Unit::Count),
        ("dropped_entries", Unit::Count),
        ("archive_bytes", Unit::Bytes),
        ("moved_bytes", Unit::Bytes),
        ("server_copied_bytes", Unit::Bytes),
    ];
    let mut table = Table::new("combined", &columns);
    table.rows.push(vec![
        combined.archives.into(),
        combined.totals.entries.into(),
        combined.dropped.into(),
        combined.totals.archive_bytes.into(),
        combined.moved_bytes.into(),
        combined.copied_bytes.into(),
    ]);
    outcome.tables.push(table);
}
