//! `perfkit report`: reports written before, rendered again, laid side by side, or added up.
//!
//! Reading is in `load.rs`, making one of several in `combine.rs`.

use std::ffi::OsString;

use latency::report::{Latency, LatencyName, Report};

use crate::commands::report::flags::RenderArgs;
use crate::commands::report::{combine, load};
use crate::exit::ExitStatus;
use crate::export::{Detail, Exports, MainStream};
use crate::failure::Result;
use crate::session::{self, Session, Setup};

pub(crate) use super::load::read_bounded;
use crate::commands::report::load::{Kind, Loaded};

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
        rows: &rows,
        ..Setup::analysis(name, argv, &args.output)
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
    session::check_rows(&args.output.report, &names(report.latencies.iter()))?;
    let exports = Exports::open(&args.output.report, args.output.force)?;
    let mut status = ExitStatus::Ok;
    if !args.output.report.slo.is_empty() {
        report.gates = args
            .output
            .report
            .slo
            .iter()
            .map(|gate| gate.decide(&report.latencies))
            .collect();
        status = session::gate_status(&report, args.output.report.require_verdict);
        report.exit_code = status.code();
    }
    session::say_gates(&report, status);
    let detail = if args.output.terminal.verbose {
        Detail::Full
    } else {
        Detail::Normal
    };
    let print = (exports.main_format(), MainStream::Stdout, detail);
    session::emit(
        &report,
        exports,
        args.output.terminal.wants_report().then_some(print),
    )?;
    Ok(status)
}
