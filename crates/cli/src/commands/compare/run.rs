//! `perfkit compare`: two reports, two columns of numbers, or two commands.

use std::ffi::OsString;
use std::path::Path;

use latency::compare::{self, Names, Options, Regression};
use latency::foreign::{self, Samples, Sequence};
use latency::percentile;
use latency::report::{Comparison, Design, Environment, LatencyName, Report, Verdict};
use report::saved::{FileKind, Saved};
use report::{Before, ExitStatus, Outcome, names, units, verdicts};

use crate::args::output::Undecided;
use crate::commands::compare::flags::{CompareArgs, Limit};
use crate::commands::compare::interleave;
use crate::commands::saved::{files as saved_files, read_bounded};
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
    let mut outcome = match &commands {
        Some(commands) => interleave::run(args, commands, &session)?,
        None => {
            let mut outcome = Outcome::new("compare");
            let (comparisons, environment) = files(&args.files[0], &args.files[1], args.options())?;
            outcome.comparisons = comparisons;
            // What was measured here is how long it takes to compare.
            outcome.done_before = Some(Before {
                environment,
                ..Before::default()
            });
            let rows = outcome.comparisons.len() as u64;
            outcome.did(rows, ["row compared", "rows compared"]);
            outcome
        }
    };
    outcome.findings = verdicts::findings(&outcome.comparisons);
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
        let (row, compared) = (format!("{} of {}", limit.subject(), one.row), one.pairs > 0);
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
                    _ if p == 50.0 || !compared => one.reason.clone(),
                    Some(tail) => {
                        let [low, high] = tail.interval.map(units::signed_percent);
                        format!("its difference is between {low} and {high}")
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

/// What a file to compare holds, and the machine that it states.
type Read = (Side, Environment);

/// What a file to compare holds.
enum Side {
    Report(Box<Report>),
    Numbers(Vec<f64>),
    /// Of another tool, or intervals of a log.
    Sequences(Vec<Sequence>),
}

/// Compares two files. The machine is what both state of it.
fn files(base: &Path, target: &Path, options: Options) -> Result<(Vec<Comparison>, Environment)> {
    let names = (names::path(base), names::path(target));
    let ((base, ours), (target, theirs)) = (side(base)?, side(target)?);
    let comparisons = match (base, target) {
        (Side::Report(base), Side::Report(target)) => {
            compare::reports_with(&base, &target, [&names.0, &names.1], options)
        }
        (Side::Numbers(base), Side::Numbers(target)) => {
            if base.len() != target.len() {
                return Err(Failure::new(format!(
                    "'{}' has {} numbers and '{}' has {}",
                    names.0,
                    base.len(),
                    names.1,
                    target.len()
                ))
                .help("numbers are compared pair by pair: both files need the same count"));
            }
            let labels = Names {
                row: "numbers",
                baseline: &names.0,
                target: &names.1,
            };
            vec![compare::numbers(labels, &base, &target, options)]
        }
        (Side::Sequences(base), Side::Sequences(target)) => {
            compare::sequences(&base, &target, [&names.0, &names.1], options)
        }
        _ => {
            return Err(Failure::new(
                "the two files are of different kinds, which have no row in common",
            )
            .help("name two reports, two files of numbers, or two files of other tools"));
        }
    };
    if comparisons.is_empty() {
        return Err(Failure::new(format!(
            "'{}' and '{}' have no row in common",
            names.0, names.1
        ))
        .help("compare two runs of the same command"));
    }
    Ok((comparisons, ours.common(&theirs)))
}

fn side(path: &Path) -> Result<Read> {
    let files = saved_files(path)?;
    let mut sequences = Vec::new();
    let mut machine: Option<Environment> = None;
    for file in files {
        match one(&file)? {
            (Side::Sequences(mut more), environment) => {
                sequences.append(&mut more);
                machine = Some(match machine {
                    Some(machine) => machine.common(&environment),
                    None => environment,
                });
            }
            other => return Ok(other),
        }
    }
    let machine = machine.unwrap_or_else(Environment::unknown);
    Ok((Side::Sequences(sequences), machine))
}

/// What one file holds.
fn one(path: &Path) -> Result<Read> {
    let bytes = read_bounded(path)?;
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_own = first == Some(&b'{') && foreign::source(&bytes).is_none();
    if is_own && extension != Some("hlog") {
        return latency::report::read_json(&bytes)
            .map(|report| {
                let environment = report.environment.clone();
                (Side::Report(Box::new(report)), environment)
            })
            .map_err(|error| Failure::new(format!("cannot read '{}': {error}", path.display())));
    }
    let text = || std::str::from_utf8(&bytes).is_ok_and(latency::hgrm::is_printed);
    let other_kind =
        matches!(extension, Some("hgrm" | "hlog")) || matches!(first, Some(b'{' | b'[')) || text();
    if other_kind {
        let file = Saved::parse(path, &bytes, None)?;
        let environment = file.environment();
        return Ok((sequences(file, &bytes)?, environment));
    }
    let help = "give a report written with --export-json, a file of another tool, or plain numbers one a line; \
                to run a command, add --interleave 20";
    let wrong =
        |what: String| Failure::new(format!("cannot read '{}': {what}", path.display())).help(help);
    match numbers(&bytes) {
        Ok(numbers) if numbers.is_empty() && bytes.is_empty() => {
            Err(wrong("the file is empty".to_owned()))
        }
        Ok(numbers) if numbers.is_empty() => Err(wrong("there are no numbers in it".to_owned())),
        Ok(numbers) => Ok((Side::Numbers(numbers), Environment::unknown())),
        Err((line, word)) => Err(wrong(format!("line {line}: '{word}' is no number"))),
    }
}

/// The samples of a file in the order in which they were taken.
fn sequences(file: Saved, bytes: &[u8]) -> Result<Side> {
    let refused = |why: &str, help: &str| {
        Failure::new(format!("cannot compare '{}': {why}", file.name)).help(help)
    };
    let found = match &file.kind {
        FileKind::Foreign(read) => {
            let found: Vec<Sequence> = read.samples.iter().filter_map(Samples::sequence).collect();
            if found.is_empty() {
                let why = format!(
                    "this file of {} has no samples in their order, and statistics alone decide nothing",
                    read.source.as_str()
                );
                return Err(refused(&why, "`perfkit report` shows both side by side"));
            }
            found
        }
        FileKind::Log => latency::hlog::interval_means(bytes)
            .map_err(|error| refused(&error.to_string(), "it may be cut off"))?,
        FileKind::Distribution | FileKind::Report(_) => {
            let why = "a percentile distribution does not say in which order its values came";
            let help = "compare the .hlog or JSON of the same runs; `perfkit report` shows both side by side";
            return Err(refused(why, help));
        }
    };
    Ok(Side::Sequences(found))
}

/// Numbers separated by line ends, commas or blanks; `#` starts a comment.
fn numbers(bytes: &[u8]) -> std::result::Result<Vec<f64>, (usize, String)> {
    let text = String::from_utf8_lossy(bytes);
    let mut numbers = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let data = line.split('#').next().unwrap_or_default();
        for word in data
            .split([',', ' ', '\t', ';'])
            .filter(|word| !word.is_empty())
        {
            let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
            let shown = || word.escape_debug().take(40).collect();
            numbers.push(number.ok_or_else(|| (index + 1, shown()))?);
        }
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_numbers_are_read_and_bad_words_named_with_their_line() {
        assert_eq!(numbers(b"1\n2.5, 3 # four\n\n"), Ok(vec![1.0, 2.5, 3.0]));
        assert_eq!(numbers(b"1\nx\n"), Err((2, "x".to_owned())));
        assert_eq!(numbers(b"1\nNaN\n"), Err((2, "NaN".to_owned())));
        assert_eq!(numbers(b"# nothing\n"), Ok(Vec::new()));
    }
}
