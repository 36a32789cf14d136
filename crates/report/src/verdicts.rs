//! What comparisons came to, in sentences for the head of a report.
//!
//! A sentence says no more than the verdict that it is made of: a difference stands with its interval, and what could
//! not be told apart is said to be so. A verdict is on the median, and the sentence says so; what is known of the tail
//! follows it. Verdicts are made in `latency::compare`.

mod tails;

use latency::report::{Comparison, Design, Verdict};

/// Rows that have a sentence each; more are summed up.
const SINGLE_MAX: usize = 3;
/// Rows that a summary names with their difference.
const NAMED_MAX: usize = 3;
/// Rows that were not compared which a summary names.
const UNCOMPARED_MAX: usize = 20;

/// What the comparisons of a run came to: a sentence for each of a few, else one for each verdict.
///
/// ```
/// use latency::compare::{self, Names, Sides};
/// use perfkit_report::{latency, verdicts};
///
/// let names = Names { row: "copy", baseline: "old", target: "new" };
/// let (base, control) = ([100.0; 20], [100.0; 20]);
/// let sides = Sides { base: &base, target: &[90.0; 20], control: Some(&control), bucket_ops: 1 };
/// let found = compare::interleaved(names, sides);
/// assert_eq!(
///     verdicts::findings(&[found]),
///     ["copy: median: new takes 10 % less time than old (95 % interval 10 % to 10 %)."],
/// );
/// ```
#[must_use]
pub fn findings(comparisons: &[Comparison]) -> Vec<String> {
    let mut findings: Vec<String> = match comparisons.len() {
        0..=SINGLE_MAX => comparisons.iter().map(sentence).collect(),
        _ => summary(comparisons),
    };
    let unpaired = comparisons
        .iter()
        .any(|found| found.design == Design::Sequential && found.verdict != Verdict::Inconclusive);
    if unpaired {
        findings.push(
            "Two separate runs only suggest this: the machine may have changed between them."
                .to_owned(),
        );
    }
    findings
}

/// What one comparison came to.
#[must_use]
pub fn sentence(found: &Comparison) -> String {
    let Comparison {
        row,
        baseline,
        target,
        ..
    } = found;
    if found.difference.is_none() && !found.tails.is_empty() {
        // Of distributions, whose median is one of the percentiles.
        return format!(
            "{row}: {target} against {baseline}{}.",
            tails::clause(found)
        );
    }
    let Some((median, [low, high])) = interval(found) else {
        return format!(
            "{row}: nothing is known of {target} against {baseline}: {}{}.",
            found.reason,
            tails::clause(found)
        );
    };
    let [less, more] = words(found);
    let signed = format!(
        "95 % interval of the difference {} to {}",
        signed(low),
        signed(high)
    );
    let median = match found.verdict {
        Verdict::Better => format!(
            "{target} {} than {baseline} (95 % interval {} to {})",
            less.replace('#', &share(-median)),
            share(-high),
            share(-low),
        ),
        Verdict::Worse => format!(
            "{target} {} than {baseline} (95 % interval {} to {})",
            more.replace('#', &share(median)),
            share(low),
            share(high),
        ),
        Verdict::NoDifference => {
            let margin = found.margin.unwrap_or(0.0);
            format!(
                "no difference beyond ±{} between {target} and {baseline} ({signed})",
                share(margin)
            )
        }
        Verdict::Small => format!(
            "{target} differs from {baseline} by {} ({signed}), and that may be drift: {}",
            self::signed(median),
            drift(found, [low, high])
        ),
        Verdict::Inconclusive => {
            format!("this run cannot tell {target} from {baseline} ({signed})")
        }
    };
    format!("{row}: median: {median}{}.", tails::clause(found))
}

/// Why a difference is not trusted: because the control differs by as much, or because the runs drifted.
fn drift(found: &Comparison, [low, high]: [f64; 2]) -> String {
    let nearer = low.abs().min(high.abs());
    let control = found.control.as_ref();
    let control = control.map(|control| control.median_ci95.unwrap_or(control.range));
    let bound = control.map_or(0.0, |[low, high]| low.abs().max(high.abs()));
    match bound >= nearer {
        true => format!(
            "{} differs from itself by up to {}",
            found.baseline,
            share(bound)
        ),
        false => "either run drifted by as much within itself".to_owned(),
    }
}

/// Which percentiles above the median differ, and by how much; empty where none does.
#[must_use]
pub fn tails(found: &Comparison) -> String {
    let differ: Vec<String> = found.tails.iter().filter_map(tails::words).collect();
    differ.join("; ")
}

/// The same of many: which rows differ, the greatest differences first, and how many do not.
fn summary(comparisons: &[Comparison]) -> Vec<String> {
    let of = |verdicts: &[Verdict]| -> Vec<&Comparison> {
        let mut of: Vec<&Comparison> = comparisons
            .iter()
            .filter(|found| verdicts.contains(&found.verdict))
            .collect();
        let size = |found: &Comparison| interval(found).map_or(0.0, |(median, _)| median.abs());
        of.sort_by(|a, b| size(b).total_cmp(&size(a)));
        of
    };
    let first = &comparisons[0];
    let same = comparisons
        .iter()
        .all(|found| (&found.baseline, &found.target) == (&first.baseline, &first.target));
    let all = comparisons.len();
    let mut findings = Vec::new();
    for (verdict, place) in [(Verdict::Better, 0), (Verdict::Worse, 1)] {
        let of = of(&[verdict]);
        let Some(greatest) = of.first() else {
            continue;
        };
        let who = match same {
            true => format!(
                "{} {} than {}",
                first.target,
                words(greatest)[place].replace("# ", ""),
                first.baseline
            ),
            false => words(greatest)[place]
                .replace("takes # ", "")
                .replace("is # ", ""),
        };
        let named: Vec<String> = of
            .iter()
            .take(NAMED_MAX)
            .map(|one| named(one, same))
            .collect();
        let rest = match of.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            rest => format!("; {rest} more"),
        };
        findings.push(format!(
            "median: {who} in {} of {all}: {}{rest}.",
            of.len(),
            named.join("; ")
        ));
    }
    let equal = of(&[Verdict::NoDifference]).len();
    let (open, without): (Vec<&Comparison>, Vec<&Comparison>) =
        of(&[Verdict::Small, Verdict::Inconclusive])
            .into_iter()
            .partition(|one| one.pairs > 0 || !one.tails.is_empty());
    let open = open.len();
    let mut rest = Vec::new();
    if equal > 0 {
        rest.push(format!(
            "no difference beyond the margin in {equal} of {all}"
        ));
    }
    if open > 0 {
        rest.push(format!("not told apart in {open} of {all}"));
    }
    if !rest.is_empty() {
        findings.push(format!("median: {}.", rest.join(", ")));
    }
    if !without.is_empty() {
        // Nothing passes or fails by these: each is named, up to a screen of them.
        let named = without.iter().take(UNCOMPARED_MAX);
        let named: Vec<String> = named
            .map(|one| format!("{} ({})", one.row, one.reason))
            .collect();
        let rest = match without.len().saturating_sub(UNCOMPARED_MAX) {
            0 => String::new(),
            rest => format!("; {rest} more"),
        };
        findings.push(format!(
            "Not compared: {} of {all}: {}{rest}.",
            without.len(),
            named.join("; ")
        ));
    }
    findings.extend(tails::summary(comparisons));
    findings
}

/// `line, 5 MiB by 12 % (10 % to 14 %)`, with the names of its two ways where they are not those of all.
fn named(found: &Comparison, same: bool) -> String {
    let of = match same {
        true => found.row.clone(),
        false => format!("{}: {} than {}", found.row, found.target, found.baseline),
    };
    match interval(found) {
        Some((median, ends)) => {
            let [low, high] = ends.map(f64::abs);
            format!(
                "{of} by {} ({} to {})",
                share(median.abs()),
                share(low.min(high)),
                share(low.max(high))
            )
        }
        None => of,
    }
}

/// The median difference and its interval, where there are enough pairs.
fn interval(found: &Comparison) -> Option<(f64, [f64; 2])> {
    let difference = found.difference.as_ref()?;
    Some((difference.median, difference.median_ci95?))
}

/// What a lower and a higher number mean, `#` for how much. Plain numbers may be of anything.
fn words(found: &Comparison) -> [&'static str; 2] {
    match found.baseline_median_ns.is_some() {
        true => ["takes # less time", "takes # more time"],
        false => ["is # lower", "is # higher"],
    }
}

/// `12.3 %`, `0.25 %`: as exact as small differences need.
fn share(value: f64) -> String {
    let percent = value * 100.0;
    let text = match percent.abs() {
        small if small < 9.995 => format!("{percent:.2}"),
        _ => format!("{percent:.1}"),
    };
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{} %", if text == "-0" { "0" } else { text })
}

/// The same with a sign.
fn signed(value: f64) -> String {
    let text = share(value);
    match text.starts_with(['-', '0']) && !text.starts_with("0.") {
        true => text,
        false => format!("+{text}"),
    }
}

#[cfg(test)]
mod tests;
