//! What comparisons say of the percentiles above the median.

use latency::report::{Comparison, TailDifference, Verdict};

use super::share;
use crate::units::percentile_name;

/// From this ratio on a difference is told as a factor.
const FACTOR_MIN: f64 = 2.0;
/// Rows that a summary names.
const NAMED_MAX: usize = 3;

/// `; p99 worse by 9.8x (interval 9.1x to 10.4x); no difference shown at p90`, or nothing where no percentile but the
/// median was compared.
pub(super) fn clause(found: &Comparison) -> String {
    let mut parts: Vec<String> = found.tails.iter().filter_map(words).collect();
    let open: Vec<String> = found
        .tails
        .iter()
        .filter(|tail| words(tail).is_none())
        .map(|tail| percentile_name(tail.p))
        .collect();
    if !open.is_empty() {
        parts.push(format!("no difference shown at {}", open.join(", ")));
    }
    parts.iter().map(|part| format!("; {part}")).collect()
}

/// `p99 worse by 9.8x (interval 9.1x to 10.4x)` of a percentile that differs.
pub(super) fn words(tail: &TailDifference) -> Option<String> {
    let [low, high] = tail.interval;
    let (word, by, from, to) = match tail.verdict {
        Verdict::Worse => ("worse", tail.difference, low, high),
        Verdict::Better => ("better", -tail.difference, -high, -low),
        Verdict::NoDifference | Verdict::Small | Verdict::Inconclusive => return None,
    };
    let size = |share_of: f64| match tail.difference + 1.0 >= FACTOR_MIN {
        true => format!("{:.1}x", share_of + 1.0),
        false => share(share_of),
    };
    Some(format!(
        "{} {word} by {} (interval {} to {})",
        percentile_name(tail.p),
        size(by),
        size(from),
        size(to)
    ))
}

/// Of many comparisons, those whose tails differ: the worst first.
pub(super) fn summary(comparisons: &[Comparison]) -> Option<String> {
    let mut differ: Vec<(&Comparison, &TailDifference)> = comparisons
        .iter()
        .filter_map(|found| Some((found, farthest(found)?)))
        .collect();
    differ.sort_by(|(_, a), (_, b)| b.difference.total_cmp(&a.difference));
    let named: Vec<String> = differ
        .iter()
        .take(NAMED_MAX)
        .filter_map(|(found, tail)| Some(format!("{}: {}", found.row, words(tail)?)))
        .collect();
    let rest = match differ.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        rest => format!("; {rest} more"),
    };
    (!differ.is_empty()).then(|| {
        format!(
            "The tail differs in {} of {}: {}{rest}.",
            differ.len(),
            comparisons.len(),
            named.join("; ")
        )
    })
}

/// The percentile that differs by most.
fn farthest(found: &Comparison) -> Option<&TailDifference> {
    let differ = found.tails.iter().filter(|tail| words(tail).is_some());
    differ.max_by(|a, b| a.difference.abs().total_cmp(&b.difference.abs()))
}

#[cfg(test)]
mod tests {
    use latency::compare::{self, Names, Options, Sides};

    use super::super::{findings, sentence};
    use super::*;

    /// Runs whose medians are the same, and of which one in twenty takes `slow` times as long on the target's side.
    fn compared(row: &str, slow: f64) -> Comparison {
        let time = |nth: usize, slow: f64| {
            let slow = if nth % 20 == 7 { slow } else { 1.0 };
            1e6 * slow * (1.0 + (nth * 7 % 11) as f64 / 1e4)
        };
        let side = |slow| (0..2_000).map(|nth| time(nth, slow)).collect::<Vec<_>>();
        let (base, target) = (side(1.0), side(slow));
        let sides = Sides {
            base: &base,
            target: &target,
            control: Some(&base),
            bucket_ops: 1,
        };
        let names = Names {
            row,
            baseline: "old",
            target: "new",
        };
        compare::interleaved_with(names, sides, Options::default().singles(true))
    }

    #[test]
    fn a_sentence_never_says_no_difference_of_a_tail_that_differs() {
        let said = sentence(&compared("wall", 10.0));
        assert!(
            said.starts_with("wall: median: no difference beyond ±1 % between new and old ("),
            "{said}"
        );
        assert!(
            said.contains(
                "; p99 worse by 10.0x (interval 10.0x to 10.0x); no difference shown at p90"
            ),
            "{said}"
        );
        let said = sentence(&compared("wall", 1.25));
        assert!(
            said.contains("; p99 worse by 25 % (interval 25 % to 25"),
            "{said}"
        );
        let said = sentence(&compared("wall", 0.25));
        assert!(said.contains("no difference shown at p90, p99"), "{said}");
        let said = sentence(&compared("wall", 1.0));
        assert!(
            said.ends_with("; no difference shown at p90, p99."),
            "{said}"
        );
    }

    #[test]
    fn of_many_rows_the_worst_tails_are_named() {
        let rows = [
            compared("a", 1.0),
            compared("b", 3.0),
            compared("c", 10.0),
            compared("d", 1.0),
        ];
        let said = findings(&rows).join("\n");
        assert!(
            said.contains("median: no difference beyond the margin in 4 of 4"),
            "{said}"
        );
        assert!(
            said.contains("The tail differs in 2 of 4: c: p99 worse by 10.0x (interval 10.0x to 10.0x); b: p99 worse by 3.0x"),
            "{said}"
        );
        assert_eq!(summary(&rows[..1]), None);
    }
}
