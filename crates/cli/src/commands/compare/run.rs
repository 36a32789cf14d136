//! `perfkit compare`: two reports, two columns of numbers, or two commands.

use std::ffi::OsString;

use latency::report::LatencyName;
use report::{Before, ExitStatus, Outcome, verdicts};

use crate::args::limit::{CPU, RSS, WALL};
use crate::commands::compare::flags::CompareArgs;
use crate::commands::compare::{files, interleave, judge};
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};

/// Runs the command.
pub(crate) fn run(args: &CompareArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    for limit in &args.fail_on_regression {
        check_percent("fail-on-regression", limit.percent)?;
    }
    check_percent("margin", Some(args.margin))?;
    let commands = args.to_run()?;
    if commands.is_some() {
        judge::check_rows(&args.fail_on_regression, &[WALL, CPU, RSS])?;
    }
    let session = Session::start(&Setup {
        seed: commands.as_ref().map(|_| args.seed),
        measures: commands.is_some(),
        rows: match commands {
            Some(_) => &[LatencyName::Service],
            None => &[],
        },
        brief: true,
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut notes = Vec::new();
    let mut outcome = match &commands {
        Some(commands) => interleave::run(args, commands, &session)?,
        None => {
            let mut outcome = Outcome::new("compare");
            let found = files::compared(&args.files, args.options())?;
            outcome.comparisons = found.comparisons;
            let rows = outcome.comparisons.iter().map(|one| one.row.as_str());
            judge::check_rows(&args.fail_on_regression, &rows.collect::<Vec<_>>())?;
            notes = found.notes;
            // What was measured here is how long it takes to compare.
            outcome.done_before = Some(Before {
                environment: found.machine,
                ..Before::default()
            });
            let rows = outcome.comparisons.len() as u64;
            outcome.did(rows, ["row compared", "rows compared"]);
            outcome
        }
    };
    notes.append(&mut outcome.findings);
    outcome.findings = verdicts::findings(&outcome.comparisons);
    outcome.findings.append(&mut notes);
    if outcome.status == ExitStatus::Ok {
        (outcome.status, outcome.limits) = judge::status(&outcome.comparisons, args);
    }
    session.finish(outcome)
}

/// A threshold that no difference can pass, or every one, is a slip of the fingers.
fn check_percent(flag: &str, percent: Option<f64>) -> Result<()> {
    match percent {
        Some(percent) if !percent.is_finite() || percent < 0.0 => Err(Failure::usage(format!(
            "--{flag}={percent} is not a percentage from 0 up"
        ))
        .help(format!("choose one such as --{flag}=5"))),
        _ => Ok(()),
    }
}
