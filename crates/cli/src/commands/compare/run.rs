//! `perfkit compare`: two reports, two columns of numbers, or two commands.

use std::ffi::OsString;

use latency::compare::Regression;
use latency::percentile;
use latency::report::{Comparison, Design, LatencyName, Verdict};
use report::{Before, ExitStatus, Outcome, units, verdicts};

use crate::args::output::Undecided;
use crate::commands::compare::flags::{CompareArgs, Limit};
use crate::commands::compare::{files, interleave};
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};
use crate::term::message;

/// Runs the command.
pub(crate) fn run(args: &CompareArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    for limit in &args.fail_on_regression {
        check_percent("fail-on-regression", Some(limit.percent))?;
    }
    check_percent("margin", Some(args.margin))?;
    let commands = args.to_run()?;
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
        outcome.status = verdict_status(&outcome.comparisons, args);
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

fn verdict_status(comparisons: &[Comparison], args: &CompareArgs) -> ExitStatus {
    let statuses: Vec<ExitStatus> = args
        .fail_on_regression
        .iter()
        .map(|limit| regression_status(comparisons, *limit, args))
        .collect();
    let say = |what: String| message::failure(&Failure::new(what));
    // What is worse counts more than what is not decided.
    for status in [ExitStatus::Gate, ExitStatus::Inconclusive] {
        if statuses.contains(&status) {
            return status;
        }
    }
    if args.output.terminal.wants_warnings() {
        unjudged_tails(comparisons, args);
    }
    let undecided = |comparison: &&Comparison| {
        matches!(comparison.verdict, Verdict::Inconclusive | Verdict::Small)
    };
    let undecided: Vec<&Comparison> = comparisons.iter().filter(undecided).collect();
    if args.output.report.require_verdict && !undecided.is_empty() {
        for one in undecided {
            say(format!("{} has no verdict: {}", one.row, one.reason));
        }
        return ExitStatus::Inconclusive;
    }
    ExitStatus::Ok
}

/// Says which tails are worse by more than a limit that looks at the median alone.
fn unjudged_tails(comparisons: &[Comparison], args: &CompareArgs) {
    let limits = &args.fail_on_regression;
    let Some(limit) = limits.iter().find(|limit| limit.p == 50.0) else {
        return;
    };
    for found in comparisons {
        let beyond = found.tails.iter().find(|tail| {
            let of = |p| Limit { p, ..*limit };
            let judged = limits.iter().any(|limit| limit.p == tail.p);
            !judged && of(tail.p).judge(found) == Regression::Beyond
        });
        if let Some(tail) = beyond {
            message::note(
                &format!(
                    "the limit is on the median, and of {} {}",
                    found.row,
                    verdicts::tails(found)
                ),
                &format!(
                    "--fail-on-regression p{}:{}% fails for it",
                    tail.p, limit.percent
                ),
            );
        }
    }
}

/// What to know of an interval that is within the limit by itself, and passes nothing.
fn drift_hides(found: &Comparison, limit: Limit) -> String {
    let by_itself = Comparison {
        drift: None,
        ..found.clone()
    };
    match found.drift {
        Some(drift) if limit.judge(&by_itself) == Regression::Within => format!(
            "; within either run the times drifted by {}, which can hide more than the limit: compare both in one run \
             (--interleave)",
            units::signed_percent(drift).trim_start_matches('+')
        ),
        _ => String::new(),
    }
}

/// Says which rows are worse by more than the limit, and of which that is not known.
fn regression_status(comparisons: &[Comparison], limit: Limit, args: &CompareArgs) -> ExitStatus {
    let Limit { p, percent } = limit;
    let undecided_fails = args.output.report.slo_undecided == Undecided::Fail;
    let (mut fails, mut unknown) = (false, false);
    for (nth, one) in comparisons.iter().enumerate() {
        // Two separate runs fail nothing by themselves. Of commands, rounds are added until the first row, the wall time,
        // is decided; the others can fail, and need not be decided.
        let (counts, open_counts) = match one.design {
            Design::Interleaved => (true, nth == 0),
            Design::Sequential => (args.fail_unpaired, args.fail_unpaired),
        };
        let row = format!("{} of {}", limit.subject(), one.row);
        let compared = one.pairs > 0 || !one.tails.is_empty();
        let tail = one.tails.iter().find(|tail| tail.p == p);
        match limit.judge(one) {
            Regression::Within => {}
            Regression::Beyond => {
                let median = one.difference.as_ref().map_or(0.0, |found| found.median);
                let found = tail.map_or(median, |tail| tail.difference);
                let found = units::signed_percent(found);
                let what = format!(
                    "{row} is worse by {found}, more than the {percent} % of --fail-on-regression"
                );
                fails |= counts;
                match counts {
                    true => message::failure(&Failure::new(what)),
                    false => message::failure(
                        &Failure::new(format!("{what}, but two separate runs only suggest it"))
                            .help("compare both in one run (--interleave), or add --fail-unpaired"),
                    ),
                }
            }
            Regression::Undecided if !compared || open_counts && undecided_fails => {
                unknown = true;
                let why = match tail {
                    _ if p == 50.0 || !compared => one.reason.clone() + &drift_hides(one, limit),
                    Some(tail) => {
                        let [low, high] = tail.interval.map(units::signed_percent);
                        let hidden = drift_hides(one, limit);
                        format!("its difference is between {low} and {high}{hidden}")
                    }
                    None => format!(
                        "there are too few single operations on either side ({} are the least)",
                        percentile::earned_n(p)
                    ),
                };
                let what = format!(
                    "whether {row} is worse by more than the {percent} % of --fail-on-regression is not decided: {why}"
                );
                message::failure(&Failure::new(what));
            }
            Regression::Undecided => {}
        }
    }
    match (fails, unknown) {
        (true, _) => ExitStatus::Gate,
        (false, true) => ExitStatus::Inconclusive,
        (false, false) => ExitStatus::Ok,
    }
}
