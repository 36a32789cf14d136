//! `perfkit report`: reports written before, rendered again, laid side by side, or added up.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

use latency::hgrm::{self, HgrmUnit};
use latency::hlog;
use latency::report::{Latency, LatencyName, Report, Timing};

use crate::args::analyse::RenderArgs;
use crate::exit::ExitStatus;
use crate::export::{Detail, Exports, MainStream};
use crate::failure::{Failure, Result};
use crate::session::{self, Outcome, Session, Setup};

/// Longest report that is read: a year of seconds in an interval log, and more than any other.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Runs the command.
pub(crate) fn run(args: &RenderArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let loaded: Vec<Loaded> = args
        .files
        .iter()
        .map(|path| Loaded::read(path))
        .collect::<Result<_>>()?;
    if let [
        Loaded {
            report: Some(report),
            ..
        },
    ] = loaded.as_slice()
    {
        return render(report.as_ref().clone(), args);
    }
    let session = Session::start(&Setup {
        argv,
        subcommand: name,
        stream: MainStream::Stdout,
        report: &args.report,
        terminal: &args.terminal,
        force: args.force,
        seed: None,
    })?;
    let mut outcome = Outcome::new(if args.merge {
        "report, merged"
    } else {
        "report"
    });
    let several = loaded.len() > 1;
    for file in loaded {
        for mut latency in file.latencies {
            if args.merge {
                merge(&mut outcome.latencies, latency)?;
            } else {
                if several {
                    latency.series = Some(match latency.series {
                        Some(series) => format!("{}: {series}", file.name),
                        None => file.name.clone(),
                    });
                }
                outcome.latencies.push(latency);
            }
        }
    }
    outcome.latencies.sort_by_key(|latency| latency.name);
    session.finish(outcome)
}

/// One report as it was, with the gates of this call.
fn render(mut report: Report, args: &RenderArgs) -> Result<ExitStatus> {
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

/// Adds `latency` to the row that it is like, or as a new row.
fn merge(rows: &mut Vec<Latency>, latency: Latency) -> Result<()> {
    let like = |row: &&mut Latency| {
        (row.name, &row.series, &row.operation, row.timing, row.batch)
            == (
                latency.name,
                &latency.series,
                &latency.operation,
                latency.timing,
                latency.batch,
            )
    };
    match rows.iter_mut().find(like) {
        Some(row) => row.merge(&latency).map_err(|error| {
            Failure::new(format!("cannot merge the row {}: {error}", row.operation))
        }),
        None => {
            rows.push(latency);
            Ok(())
        }
    }
}

/// A file with the distributions in it.
struct Loaded {
    name: String,
    latencies: Vec<Latency>,
    /// The whole report, from a JSON file.
    report: Option<Box<Report>>,
}

impl Loaded {
    fn read(path: &Path) -> Result<Self> {
        let bytes = read_bounded(path)?;
        let name = path.display().to_string();
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(format!("cannot read '{name}': {error}"))
                .help("report reads what --export-json, --export-hgrm and --export-hlog write")
        };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("hgrm") => {
                let text = std::str::from_utf8(&bytes).map_err(|error| failed(&error))?;
                let read = hgrm::read(text, HgrmUnit::Us).map_err(|error| failed(&error))?;
                let histogram = read.histogram();
                let latency = Latency::from_histogram(
                    LatencyName::Service,
                    "operation",
                    Timing::Actual,
                    &histogram,
                );
                Ok(Self {
                    name,
                    latencies: vec![latency],
                    report: None,
                })
            }
            Some("hlog") => {
                let latencies = hlog::read(&bytes)
                    .and_then(|lines| hlog::latencies(&lines))
                    .map_err(|error| failed(&error))?;
                Ok(Self {
                    name,
                    latencies,
                    report: None,
                })
            }
            _ => {
                let report = latency::report::read_json(&bytes).map_err(|error| failed(&error))?;
                let latencies = report.latencies.clone();
                Ok(Self {
                    name,
                    latencies,
                    report: Some(Box::new(report)),
                })
            }
        }
    }
}

/// Reads a whole file (`-`: standard input) of at most [`FILE_BYTES_MAX`] bytes.
pub(super) fn read_bounded(path: &Path) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| Failure::io("read", path, &error);
    let mut bytes = Vec::new();
    let limit = FILE_BYTES_MAX + 1;
    if path.as_os_str() == "-" {
        std::io::stdin()
            .lock()
            .take(limit)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
    } else {
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Failure::new(format!(
            "'{}' is larger than any report",
            path.display()
        )));
    }
    Ok(bytes)
}
