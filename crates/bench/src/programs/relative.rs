//! How several command lines compare: the ratio of their means, as hyperfine gives it, and a verdict.

use std::cmp::Ordering;

use latency::compare::{self, Names, Options, Sides};
use latency::report::{Comparison, Verdict};

use super::{Interleaved, Sample};

/// One command line against the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Relative {
    /// Which command line.
    pub index: usize,
    /// Whether it is the reference.
    pub is_reference: bool,
    /// Its mean against that of the reference: less is faster.
    pub order: Ordering,
    /// The slower mean by the faster one; infinite where the faster one is 0.
    pub ratio: f64,
    /// Standard deviation of the ratio, as if both were independent.
    pub stdev: Option<f64>,
    /// The same by the medians of pairs, with its interval.
    pub standing: Option<Standing>,
}

/// A verdict on two command lines, by the median of the ratios of their runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Slower by faster, the whole interval (95 %).
    pub interval: Option<[f64; 2]>,
    /// What it comes to.
    pub comparison: Comparison,
}

impl Standing {
    /// In a few words.
    #[must_use]
    pub fn words(&self) -> String {
        let said = match self.comparison.verdict {
            Verdict::Better | Verdict::Worse => "a difference".to_owned(),
            Verdict::NoDifference => {
                let margin = self.comparison.margin.unwrap_or(0.0) * 100.0;
                format!("no difference beyond {margin:.2} %")
            }
            Verdict::Small => "not distinguishable from drift".to_owned(),
            Verdict::Inconclusive => "cannot tell".to_owned(),
        };
        let median = match self.interval {
            Some([low, high]) => format!("median {low:.2} … {high:.2} (95 %): {said}"),
            None => format!("{said}: {}", self.comparison.reason),
        };
        match report::verdicts::tails(&self.comparison) {
            none if none.is_empty() => median,
            tails => format!("{median}; {tails}"),
        }
    }
}

/// Compares all with one of them, without a number the fastest. In the order of their means if `sorted`.
///
/// `None` where there are fewer than two, or where a mean is 0, so that there are no ratios.
#[must_use]
pub fn relative(
    samples: &[Sample],
    reference: Option<usize>,
    interleaved: Option<&Interleaved>,
    sorted: bool,
) -> Option<Vec<Relative>> {
    let means: Vec<f64> = samples.iter().map(Sample::mean_ns).collect();
    let any_zero = means.iter().any(|mean| *mean <= 0.0);
    if samples.len() < 2 || any_zero {
        return None;
    }
    let mut found = ratios(samples, reference);
    let at = found.iter().position(|one| one.is_reference)?;
    for one in found.iter_mut().filter(|one| !one.is_reference) {
        // The faster one is the baseline, so that the ratio is 1 or more, as above.
        let pair = match one.order {
            Ordering::Less => [one.index, at],
            _ => [at, one.index],
        };
        one.standing = Some(standing(samples, pair, interleaved));
    }
    if sorted {
        found.sort_by(|a, b| means[a.index].total_cmp(&means[b.index]));
    }
    Some(found)
}

/// The ratios of means to that of the reference, without a number the fastest; infinite where one is 0.
pub(super) fn ratios(samples: &[Sample], reference: Option<usize>) -> Vec<Relative> {
    let means: Vec<f64> = samples.iter().map(Sample::mean_ns).collect();
    let fastest = || (0..means.len()).min_by(|a, b| means[*a].total_cmp(&means[*b]));
    let Some(at) = reference.filter(|at| *at < samples.len()).or_else(fastest) else {
        return Vec::new();
    };
    let one = |(index, sample): (usize, &Sample)| {
        let order = means[index].total_cmp(&means[at]);
        let is_reference = index == at;
        let ratio = match order {
            Ordering::Equal => 1.0,
            Ordering::Less => means[at] / means[index],
            Ordering::Greater => means[index] / means[at],
        };
        let share = |sample: &Sample| Some(sample.stdev_ns()? / sample.mean_ns());
        let stdev = share(sample)
            .zip(share(&samples[at]))
            .map(|(a, b)| ratio * a.hypot(b))
            .filter(|stdev| stdev.is_finite());
        Relative {
            index,
            is_reference,
            order,
            ratio,
            stdev,
            standing: None,
        }
    };
    samples.iter().enumerate().map(one).collect()
}

/// The verdict on two command lines, the faster one first.
fn standing(
    samples: &[Sample],
    [base, target]: [usize; 2],
    interleaved: Option<&Interleaved>,
) -> Standing {
    let name = |at: usize| samples[at].program.label();
    let (baseline, slower) = (name(base), name(target));
    let names = Names {
        row: "wall",
        baseline: &baseline,
        target: &slower,
    };
    let times = |at: usize| samples[at].times_ns();
    let (base_ns, target_ns) = (times(base), times(target));
    let options = Options::default().singles(true);
    let comparison = match interleaved {
        Some(rounds) => {
            let control = rounds.control(&base_ns);
            let sides = Sides {
                base: &base_ns,
                target: &target_ns,
                control: Some(&control),
                bucket_ops: 1,
            };
            compare::interleaved_with(names, sides, options)
        }
        None => {
            let sides = Sides {
                base: &base_ns,
                target: &target_ns,
                control: None,
                bucket_ops: 1,
            };
            compare::sequential_with(names, sides, options)
        }
    };
    let interval = comparison
        .difference
        .as_ref()
        .and_then(|found| found.median_ci95)
        .map(|ends| ends.map(|end| 1.0 + end));
    Standing {
        interval,
        comparison,
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::sample;
    use super::*;

    #[test]
    fn ratios_are_of_means_and_1_or_more() {
        let samples = [
            sample("slow", &[30.0, 30.0]),
            sample("fast", &[10.0, 10.0]),
            sample("middle", &[20.0, 22.0]),
        ];
        let found = relative(&samples, None, None, true).unwrap();
        let order: Vec<usize> = found.iter().map(|one| one.index).collect();
        assert_eq!(order, [1, 2, 0]);
        assert!(found[0].is_reference && found[0].standing.is_none());
        assert!((found[1].ratio - 2.1).abs() < 1e-12);
        let stdev = found[1].stdev.unwrap();
        assert!((stdev - 2.0_f64.sqrt() / 10.0).abs() < 1e-12, "{stdev}");
        assert_eq!((found[2].ratio, found[2].order), (3.0, Ordering::Greater));
        // Against one that is not the fastest.
        let found = relative(&samples, Some(0), None, false).unwrap();
        assert_eq!((found[1].ratio, found[1].order), (3.0, Ordering::Less));
    }

    #[test]
    fn a_mean_of_0_has_no_ratio() {
        let samples = [sample("a", &[0.0]), sample("b", &[1.0])];
        assert_eq!(relative(&samples, None, None, true), None);
        assert_eq!(relative(&samples[..1], None, None, true), None);
        assert_eq!(relative(&[], None, None, true), None);
        assert_eq!(ratios(&samples, None)[1].ratio, f64::INFINITY);
        assert!(ratios(&[], None).is_empty());
    }

    #[test]
    fn separate_runs_only_suggest() {
        let times = |factor: f64| {
            (0..40)
                .map(|at| factor * (100.0 + f64::from(at % 7)))
                .collect::<Vec<_>>()
        };
        let samples = [sample("a", &times(1.0)), sample("b", &times(1.5))];
        let found = relative(&samples, None, None, true).unwrap();
        let standing = found[1].standing.as_ref().unwrap();
        assert_eq!(
            standing.words(),
            "median 1.50 … 1.50 (95 %): a difference; p90 worse by 50 % (interval 48.6 % to 51.4 %)"
        );
        assert!(standing.comparison.reason.contains("suggestive"));
    }
}
