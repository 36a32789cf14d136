//! How limits on regressions, and verdicts that are wanted, end a run.

use latency::compare::{MARGIN_MAX, Regression, Remedy, medians_apart};
use latency::report::{Comparison, Design, GateVerdict, LimitResult, TailDifference, Verdict};
use report::{ExitStatus, units, verdicts};

use crate::args::limit::{Limit, WALL};
use crate::args::output::Undecided;
use crate::commands::compare::flags::CompareArgs;
use crate::failure::{Failure, Result};
use crate::term::message;

/// Rows that help names at most.
const ROWS_SHOWN: usize = 20;

/// Refuses a limit on a row that is not compared: a name that is misspelt.
pub(super) fn check_rows(limits: &[Limit], rows: &[&str]) -> Result<()> {
    let covers_none =
        |limit: &&Limit| limit.names_rows() && !rows.iter().any(|row| limit.covers(row));
    let Some(limit) = limits.iter().find(covers_none) else {
        return Ok(());
    };
    let shown: Vec<&str> = rows.iter().copied().take(ROWS_SHOWN).collect();
    let rest = match rows.len().saturating_sub(ROWS_SHOWN) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    Err(Failure::usage(format!(
        "--fail-on-regression={limit} names a row that is not compared"
    ))
    .help(format!("the rows are: {}{rest}", shown.join(", "))))
}

/// How the run ends by what it compared, and what each limit came to.
pub(super) fn status(
    comparisons: &[Comparison],
    args: &CompareArgs,
) -> (ExitStatus, Vec<LimitResult>) {
    let limits = args.fail_on_regression.iter();
    let judged: Vec<LimitResult> = limits
        .flat_map(|limit| judged(comparisons, limit, args))
        .collect();
    (status_of(&judged, comparisons, args), judged)
}

fn status_of(judged: &[LimitResult], comparisons: &[Comparison], args: &CompareArgs) -> ExitStatus {
    let some = |verdict| {
        let mut counting = judged.iter().filter(|found| found.counts);
        counting.any(|found| found.verdict == verdict)
    };
    // What is worse counts more than what is not decided.
    if some(GateVerdict::Fail) {
        return ExitStatus::Gate;
    }
    if some(GateVerdict::Inconclusive) {
        return ExitStatus::Inconclusive;
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
            say(Failure::new(format!(
                "{} has no verdict: {}",
                one.row, one.reason
            )));
        }
        return ExitStatus::Inconclusive;
    }
    ExitStatus::Ok
}

fn say(failure: Failure) {
    message::failure(&failure);
}

/// Says which tails are worse by more than a limit that looks at the median alone.
fn unjudged_tails(comparisons: &[Comparison], args: &CompareArgs) {
    let limits = &args.fail_on_regression;
    let Some(limit) = limits.iter().find(|limit| limit.p == 50.0) else {
        return;
    };
    for found in comparisons.iter().filter(|found| limit.covers(&found.row)) {
        let beyond = found.tails.iter().find(|tail| {
            let judged = limits.iter().any(|limit| limit.p == tail.p);
            !judged && limit.on(tail.p).judge(found) == Regression::Beyond
        });
        if let Some(tail) = beyond {
            let share = limit
                .percent
                .map_or_else(String::new, |percent| format!(":{percent}%"));
            message::note(
                &format!(
                    "the limit is on the median, and of {} {}",
                    found.row,
                    verdicts::tails(found)
                ),
                &format!("--fail-on-regression p{}{share} fails for it", tail.p),
            );
        }
    }
}

/// What a limit came to for each row that it is about. Says which rows are worse by more, and of which that is not known.
fn judged(comparisons: &[Comparison], limit: &Limit, args: &CompareArgs) -> Vec<LimitResult> {
    let undecided_fails = args.output.report.slo_undecided == Undecided::Fail;
    let covered = comparisons.iter().filter(|one| limit.covers(&one.row));
    let judged = covered.map(|one| {
        // Two separate runs fail nothing by themselves.
        let decides = one.design == Design::Interleaved || args.fail_unpaired;
        let compared = one.pairs > 0 || !one.tails.is_empty();
        let (verdict, counts, (reason, help)) = match limit.judge(one) {
            Regression::Within => (GateVerdict::Pass, true, (within(one, limit), None)),
            Regression::Beyond => (GateVerdict::Fail, decides, beyond(one, limit, decides)),
            Regression::Undecided => {
                let open = decides && must_decide(limit, one) && undecided_fails;
                let said = undecided(one, limit, compared);
                (GateVerdict::Inconclusive, !compared || open, said)
            }
        };
        if verdict == GateVerdict::Fail || verdict == GateVerdict::Inconclusive && counts {
            let failure = Failure::new(reason.clone());
            say(match help {
                Some(help) => failure.help(help),
                None => failure,
            });
        }
        LimitResult {
            limit: limit.to_string(),
            row: one.row.clone(),
            verdict,
            counts,
            reason,
        }
    });
    judged.collect()
}

/// Whether a limit has to be decided of a row. Of commands, rounds are added until that of the wall time is, and those of
/// rows that limits name; the others can fail, and need not be decided.
pub(super) fn must_decide(limit: &Limit, one: &Comparison) -> bool {
    one.design == Design::Sequential || limit.names_rows() || one.row == WALL
}

/// What is said of a limit, and what to do about it.
type Said = (String, Option<String>);

/// A row that is not worse by more than the limit.
fn within(one: &Comparison, limit: &Limit) -> String {
    let by = limit
        .percent
        .map_or_else(String::new, |percent| format!(" by more than {percent} %"));
    let tail = one.tails.iter().find(|tail| tail.p == limit.p);
    let why = match tail.filter(|_| limit.p != 50.0) {
        Some(TailDifference { interval, .. }) => {
            let [low, high] = interval.map(units::signed_percent);
            format!("its difference is between {low} and {high}")
        }
        None => one.reason.clone(),
    };
    format!("{} of {} is not worse{by}: {why}", limit.subject(), one.row)
}

/// A row that is worse by more than the limit.
fn beyond(one: &Comparison, limit: &Limit, counts: bool) -> Said {
    let tail = one.tails.iter().find(|tail| tail.p == limit.p);
    let median = one.difference.as_ref().map_or(0.0, |found| found.median);
    let found = tail.map_or(median, |tail| tail.difference);
    let found = units::signed_percent(found);
    let more = match limit.percent {
        Some(percent) => format!("more than the {percent} % of --fail-on-regression"),
        None => "and --fail-on-regression without a number allows no regression that is proven"
            .to_owned(),
    };
    let what = format!(
        "{} of {} is worse by {found}, {more}",
        limit.subject(),
        one.row
    );
    match counts {
        true => (what, None),
        false => (
            format!("{what}, but two separate runs only suggest it"),
            Some("compare both in one run (--interleave), or add --fail-unpaired".to_owned()),
        ),
    }
}

/// A row of which it is not known whether it is worse by more than the limit, why, and what would tell.
fn undecided(one: &Comparison, limit: &Limit, compared: bool) -> Said {
    let tail = one.tails.iter().find(|tail| tail.p == limit.p);
    let why = match tail {
        _ if limit.p == 50.0 || !compared => {
            one.reason.clone() + &drift_hides(one, limit) + &medians_contradict(one, limit)
        }
        Some(TailDifference { interval, .. }) => {
            let [low, high] = interval.map(units::signed_percent);
            let hidden = drift_hides(one, limit);
            format!("its difference is between {low} and {high}{hidden}")
        }
        None => {
            let left_out = one.tails_left_out.iter().find(|tail| tail.p == limit.p);
            let known = left_out.map(|tail| tail.reason.clone());
            known.unwrap_or_else(|| "single operations are not known of both sides".to_owned())
        }
    };
    let by = match limit.percent {
        Some(percent) => format!("by more than the {percent} % of --fail-on-regression"),
        None => "(--fail-on-regression)".to_owned(),
    };
    let what = format!(
        "whether {} of {} is worse {by} is not decided: {why}",
        limit.subject(),
        one.row
    );
    (what, remedy(one, limit))
}

/// What would decide it, in numbers.
fn remedy(one: &Comparison, limit: &Limit) -> Option<String> {
    let share = limit.percent.map(|percent| percent / 100.0);
    if limit.p == 50.0 && !medians_contradict(one, limit).is_empty() {
        // No number of values changes what they gather around.
        let apart = medians_apart(one).filter(|apart| apart.is_finite());
        let passes = apart.map_or_else(String::new, |apart| {
            let share = units::signed_percent(rounded_up(apart));
            format!(
                "; a limit of {} passes as it is",
                share.trim_start_matches('+')
            )
        });
        return Some(format!(
            "look at the distributions (-v), and limit a percentile that lies within what is usual, as \
             --fail-on-regression p90:5%{passes}"
        ));
    }
    let remedy = Remedy::of(one, limit.p, share)?;
    let share = units::signed_percent(rounded_up(remedy.passes_from));
    let share = share.trim_start_matches('+');
    let passes = format!("a limit of {share} passes as it is");
    let interleaved = one.design == Design::Interleaved;
    let had = one.pairs;
    Some(match (remedy.pairs(had), remedy.times) {
        (Some(pairs), _) if interleaved => format!(
            "about {pairs} rounds would decide it in most runs (--interleave {pairs}, or more --max-time; there were \
             {had}), and {passes}"
        ),
        (None, _) if interleaved => format!(
            "how many rounds would decide it cannot be told: the difference lies too near the limit, or the baseline \
             differs from itself by as much; {passes}"
        ),
        (_, Some(times)) => format!(
            "about {times:.1} times as many values of each run would decide it in most runs, or both in one run \
             (--interleave); {passes}"
        ),
        (_, None) => format!("compare both in one run (--interleave); {passes}"),
    })
}

/// The next tenth of a percent, so that a limit of what is shown passes.
fn rounded_up(share: f64) -> f64 {
    (share * 1_000.0).ceil() / 1_000.0
}

/// What to know of medians that lie further apart than the limit, of values that gather around several places.
fn medians_contradict(one: &Comparison, limit: &Limit) -> String {
    let share = limit.percent.map_or(MARGIN_MAX, |percent| percent / 100.0);
    match medians_apart(one).filter(|apart| *apart > share.max(MARGIN_MAX)) {
        Some(apart) if apart.is_finite() => format!(
            "; the target's own median is {} above that of the baseline, which the pairs do not show: there are several \
             usual values",
            units::signed_percent(apart).trim_start_matches('+')
        ),
        Some(_) => "; the baseline's own median is 0 and that of the target is not".to_owned(),
        None => String::new(),
    }
}

/// What to know of an interval that is within the limit by itself, and passes nothing.
fn drift_hides(found: &Comparison, limit: &Limit) -> String {
    let by_itself = Comparison {
        drift: None,
        ..found.clone()
    };
    match found.drift {
        Some(drift) if limit.judge(&by_itself) == Regression::Within => format!(
            "; drift within the runs can hide {} more, and so more than the limit: compare both in one run (--interleave)",
            units::signed_percent(drift).trim_start_matches('+')
        ),
        _ => String::new(),
    }
}
