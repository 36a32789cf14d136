//! What comparisons came to, in sentences for the head of a report.
//!
//! A sentence says no more than the verdict that it is made of: a difference stands with its interval, and what could
//! not be told apart is said to be so. Verdicts are made in `latency::compare`.

use latency::report::{Comparison, Design, Verdict};

/// Rows that have a sentence each; more are summed up.
const SINGLE_MAX: usize = 3;
/// Rows that a summary names with their difference.
const NAMED_MAX: usize = 3;

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
///     ["copy: new takes 10 % less time than old (95 % interval 10 % to 10 %)."],
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
    let Some((median, [low, high])) = interval(found) else {
        return format!(
            "{row}: nothing is known of {target} against {baseline}: {}.",
            found.reason
        );
    };
    let [less, more] = words(found);
    let signed = format!(
        "95 % interval of the difference {} to {}",
        signed(low),
        signed(high)
    );
    match found.verdict {
        Verdict::Better => format!(
            "{row}: {target} {} than {baseline} (95 % interval {} to {}).",
            less.replace('#', &share(-median)),
            share(-high),
            share(-low),
        ),
        Verdict::Worse => format!(
            "{row}: {target} {} than {baseline} (95 % interval {} to {}).",
            more.replace('#', &share(median)),
            share(low),
            share(high),
        ),
        Verdict::NoDifference => {
            let margin = found.margin.unwrap_or(0.0);
            format!(
                "{row}: no difference beyond ±{} between {target} and {baseline} ({signed}).",
                share(margin)
            )
        }
        Verdict::Small => format!(
            "{row}: {target} differs from {baseline} no more than the control differs from itself ({signed}): this \
             may be drift."
        ),
        Verdict::Inconclusive => {
            format!("{row}: this run cannot tell {target} from {baseline} ({signed}).")
        }
    }
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
            "{who} in {} of {all}: {}{rest}.",
            of.len(),
            named.join("; ")
        ));
    }
    let equal = of(&[Verdict::NoDifference]).len();
    let open = of(&[Verdict::Small, Verdict::Inconclusive]).len();
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
        findings.push(format!("{}.", rest.join(", ")));
    }
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
mod tests {
    use latency::compare::{self, Names, Options, Sides};

    use super::*;

    /// Rounds of which the target takes so many times as long, with noise on either side.
    fn compared(row: &str, factor: f64, noise: f64, rounds: usize) -> Comparison {
        let wobble = |nth: usize, step: usize| 1.0 + noise * ((nth * step % 11) as f64 - 5.0) / 5.0;
        let side = |factor: f64, step: usize| -> Vec<f64> {
            (0..rounds)
                .map(|nth| 1e6 * factor * wobble(nth, step))
                .collect()
        };
        let (base, target, control) = (side(1.0, 3), side(factor, 5), side(1.0, 7));
        let sides = Sides {
            base: &base,
            target: &target,
            control: Some(&control),
            bucket_ops: 1,
        };
        let names = Names {
            row,
            baseline: "old",
            target: "new",
        };
        compare::interleaved(names, sides)
    }

    #[test]
    fn a_sentence_says_what_the_verdict_says() {
        let said = |factor, noise, rounds| findings(&[compared("copy", factor, noise, rounds)]);
        assert_eq!(
            said(0.8, 0.0, 40),
            ["copy: new takes 20 % less time than old (95 % interval 20 % to 20 %)."]
        );
        assert_eq!(
            said(1.25, 0.0, 40),
            ["copy: new takes 25 % more time than old (95 % interval 25 % to 25 %)."]
        );
        assert_eq!(
            said(1.0, 0.0, 40),
            [
                "copy: no difference beyond ±1 % between new and old (95 % interval of the difference 0 % to 0 %)."
            ]
        );
        let noisy = compared("copy", 1.02, 0.3, 12);
        assert_eq!(noisy.verdict, Verdict::Inconclusive);
        let said_of_noise = sentence(&noisy);
        assert!(
            said_of_noise.starts_with("copy: this run cannot tell new from old (95 % interval of"),
            "{said_of_noise}"
        );
        assert_eq!(
            said(0.5, 0.0, 3),
            ["copy: nothing is known of new against old: 3 pairs, 6 needed."]
        );
    }

    #[test]
    fn the_ends_of_an_interval_stand_in_order_and_hold_the_difference() {
        for factor in [0.5, 0.7, 1.5, 3.0] {
            let found = compared("copy", factor, 0.02, 60);
            let said = sentence(&found);
            let numbers: Vec<f64> = said
                .split([' ', '('])
                .filter_map(|word| word.parse().ok())
                .collect();
            let [median, _, low, high] = numbers[..] else {
                panic!("{said}");
            };
            assert!(low <= median && median <= high && low > 0.0, "{said}");
        }
    }

    #[test]
    fn many_rows_are_summed_up_by_their_verdicts() {
        let rows = [
            compared("a", 0.9, 0.0, 20),
            compared("b", 0.5, 0.0, 20),
            compared("c", 1.0, 0.0, 20),
            compared("d", 2.0, 0.0, 20),
            compared("e", 1.02, 0.3, 12),
        ];
        assert_eq!(
            findings(&rows),
            [
                "new takes less time than old in 2 of 5: b by 50 % (50 % to 50 %); a by 10 % (10 % to 10 %).",
                "new takes more time than old in 1 of 5: d by 100 % (100 % to 100 %).",
                "no difference beyond the margin in 1 of 5, not told apart in 1 of 5.",
            ]
        );
        let mut other = rows.to_vec();
        other[1].target = "newest".to_owned();
        let said = findings(&other);
        assert!(
            said[0].starts_with("less time in 2 of 5: b: newest than old by 50 %"),
            "{said:?}"
        );
        let many: Vec<Comparison> = (0..9).map(|_| compared("r", 0.5, 0.0, 20)).collect();
        assert!(findings(&many)[0].ends_with("; 6 more."));
        assert!(findings(&[]).is_empty());
    }

    #[test]
    fn plain_numbers_are_no_times_and_two_runs_only_suggest() {
        let names = Names {
            row: "numbers",
            baseline: "a",
            target: "b",
        };
        let base: Vec<f64> = (0..200).map(|nth| 100.0 + f64::from(nth % 7)).collect();
        let target: Vec<f64> = base.iter().map(|value| value * 3.0).collect();
        let found = compare::numbers(names, &base, &target, Options::default());
        let said = findings(&[found]);
        assert!(
            said[0].starts_with("numbers: b is 200 % higher than a"),
            "{said:?}"
        );
        assert_eq!(said.len(), 2);
        assert!(said[1].starts_with("Two separate runs"), "{said:?}");
    }

    #[test]
    fn shares_are_as_exact_as_they_need_to_be() {
        assert_eq!(
            [0.123, 0.0025, -0.000_001, 0.0999, 1.0].map(share),
            ["12.3 %", "0.25 %", "0 %", "9.99 %", "100 %"]
        );
        assert_eq!(
            [0.123, -0.0025, 0.0, 0.001].map(signed),
            ["+12.3 %", "-0.25 %", "0 %", "+0.1 %"]
        );
    }
}
