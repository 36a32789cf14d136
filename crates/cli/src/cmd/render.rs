//! `perfkit report`: reports written before, rendered again, laid side by side, or added up.
//!
//! Reading is in `load.rs`, making one of several in `combine.rs`.

use std::ffi::OsString;

use latency::report::{Latency, LatencyName, Report};

use crate::args::analyse::RenderArgs;
use crate::exit::ExitStatus;
use crate::export::{Detail, Exports, MainStream};
use crate::failure::Result;
use crate::session::{self, Session, Setup};

mod combine;
mod load;

pub(super) use load::read_bounded;
use load::{Kind, Loaded};

/// Runs the command.
pub(crate) fn run(args: &RenderArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let mut loaded = load::all(&args.files)?;
    if loaded.len() == 1
        && let Some(Loaded {
            kind: Kind::Report(report),
            ..
        }) = loaded.pop_if(|file| matches!(file.kind, Kind::Report(_)))
    {
        return render(*report, args);
    }
    let rows = names(loaded.iter().flat_map(|file| &file.latencies));
    let session = Session::start(&Setup {
        argv,
        subcommand: name,
        stream: MainStream::Stdout,
        report: &args.report,
        terminal: &args.terminal,
        force: args.force,
        seed: None,
        rows: &rows,
    })?;
    let outcome = if args.merge {
        combine::merge(loaded)?
    } else {
        combine::overlay(loaded)
    };
    session.finish(outcome)
}

/// The times that rows are of, each once.
fn names<'a>(rows: impl Iterator<Item = &'a Latency>) -> Vec<LatencyName> {
    let mut names: Vec<LatencyName> = rows.map(|row| row.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// One report as it was, with the gates of this call.
fn render(mut report: Report, args: &RenderArgs) -> Result<ExitStatus> {
    session::check_rows(&args.report, &names(report.latencies.iter()))?;
    let exports = Exports::open(&args.report, args.force)?;
    let mut status = ExitStatus::Ok;
    if !args.report.slo.is_empty() {
        report.gates = args
            .report
            .slo
            .iter()
            .map(|gate| gate.decide(&report.latencies))
            .collect();
        status = session::gate_status(&report, args.report.require_verdict);
        report.exit_code = status.code();
    }
    let detail = if args.terminal.verbose {
        Detail::Full
    } else {
        Detail::Normal
    };
    let print = (exports.main_format(), MainStream::Stdout, detail);
    session::emit(
        &report,
        exports,
        args.terminal.wants_report().then_some(print),
    )?;
    Ok(status)
}
