//! `perfkit report`: reports written before, rendered again, laid side by side, or added up.

use std::ffi::OsString;
use std::path::PathBuf;

use latency::hgrm::HgrmUnit;
use latency::report::{Latency, LatencyName, Report};
use report::ExitStatus;
use report::gates;
use report::saved::{self, FileKind, Form, Saved};

use crate::args::output::Undecided;
use crate::commands::report::flags::RenderArgs;
use crate::commands::saved::{files, read_bounded};
use crate::export::{Exports, MainStream, Printing};
use crate::failure::Result;
use crate::session::{self, Session, Setup};
use crate::term::message;

/// Runs the command.
pub(crate) fn run(args: &RenderArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let to_file = args.to.is_some();
    let mut args = args.clone().exporting()?;
    let mut loaded = load(&args.files, args.unit)?;
    if args.merge && args.output.terminal.wants_warnings() {
        say_twins(&loaded);
    }
    say_losses(&loaded, &args);
    if to_file {
        if args.output.terminal.wants_warnings() {
            let notes = loaded.iter().flat_map(|file| &file.notes);
            notes.for_each(|note| message::remark(note));
        }
        // The file is in place of what is printed.
        args.output.terminal.quiet = 2;
    }
    let args = &args;
    if loaded.len() == 1
        && let Some(Saved {
            kind: FileKind::Report(report),
            ..
        }) = loaded.pop_if(|file| matches!(file.kind, FileKind::Report(_)))
    {
        return render(*report, args);
    }
    let rows = names(loaded.iter().flat_map(|file| &file.latencies));
    let stated = loaded.iter().any(Saved::has_stated_times);
    let outcome = match args.merge {
        true => saved::merge(loaded)?,
        false => saved::overlay(loaded),
    };
    let gated = &args.output.report.slo;
    session::check_rows(&args.output.report, &rows, stated)?;
    gates::check_series(gated, &outcome.latencies, &outcome.stated.times)?;
    let session = Session::start(&Setup {
        rows: &rows,
        stated,
        measures: false,
        ..Setup::analysis(name, argv, &args.output)
    })?;
    session.finish(outcome)
}

/// Reads every file.
fn load(paths: &[PathBuf], unit: Option<HgrmUnit>) -> Result<Vec<Saved>> {
    let mut loaded = Vec::with_capacity(paths.len());
    for path in paths {
        for path in files(path)? {
            let mut file = Saved::parse(&path, &read_bounded(&path)?, unit)?;
            file.distinguish(&loaded);
            loaded.push(file);
        }
    }
    Ok(loaded)
}

/// Says which files have the same bytes: their samples count twice in a sum.
fn say_twins(loaded: &[Saved]) {
    for (nth, file) in loaded.iter().enumerate() {
        let is_twin = |other: &&Saved| {
            (other.input.bytes, &other.input.xxh64) == (file.input.bytes, &file.input.xxh64)
        };
        if let Some(twin) = loaded[..nth].iter().find(is_twin) {
            message::note(
                &format!("'{}' holds the same bytes as '{}'", file.name, twin.name),
                "its samples count twice: leave one of them out",
            );
        }
    }
}

/// Says what the export files cannot keep of what was read.
fn say_losses(loaded: &[Saved], args: &RenderArgs) {
    if !args.output.terminal.wants_warnings() {
        return;
    }
    let exports = &args.output.report;
    let forms = [
        (Form::Json, &exports.export_json),
        (Form::Hgrm, &exports.export_hgrm),
        (Form::Hlog, &exports.export_hlog),
    ];
    if args.merge && (exports.export_json.is_some() || exports.export_hlog.is_some()) {
        let lost = saved::merge_losses(loaded);
        lost.iter().for_each(|line| message::remark(line));
    }
    for (form, _) in forms.into_iter().filter(|(_, path)| path.is_some()) {
        for line in saved::losses(loaded, form) {
            message::remark(&line);
        }
    }
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
    let (wanted, terminal) = (&args.output.report, &args.output.terminal);
    let rows = names(report.latencies.iter());
    let stated = !report.stated.times.is_empty();
    session::check_rows(wanted, &rows, stated)?;
    gates::check_series(&wanted.slo, &report.latencies, &report.stated.times)?;
    let exports = Exports::open(wanted, args.output.force)?;
    let mut status = ExitStatus::Ok;
    if !wanted.slo.is_empty() {
        gates::decide(&wanted.slo, &mut report);
        status = gates::status(&report, wanted.slo_undecided == Undecided::Pass);
        report.exit_code = status.code();
    }
    let print = Printing {
        format: exports.main_format(),
        stream: MainStream::Stdout,
        detail: terminal.detail(),
        lists: false,
        table: exports.table(),
    };
    let print = terminal.wants_report().then_some(print);
    session::conclude(&report, status, (exports, None), print)
}
