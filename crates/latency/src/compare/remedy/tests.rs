//! What is said to decide a limit decides it in most runs.

use super::*;
use crate::compare::{self, Names, Options, Regression, Sides};
use crate::report::Differences;
use crate::rng::SplitMix64;

const NAMES: Names<'_> = Names {
    row: "wall",
    baseline: "old",
    target: "new",
};

/// A comparison of 20 pairs with this interval, whose control shows `bound`.
fn found([low, high]: [f64; 2], bound: f64) -> Comparison {
    let base = compare::numbers(NAMES, &[10.0; 20], &[10.0; 20], Options::default());
    let differences = |[low, high]: [f64; 2]| Differences {
        range: [-1.0, 1.0],
        median: low / 2.0 + high / 2.0,
        median_ci95: Some([low, high]),
        p99: 1.0,
        better: 0.5,
    };
    Comparison {
        design: Design::Interleaved,
        verdict: Verdict::Inconclusive,
        drift: None,
        margin: Some(0.01),
        difference: Some(differences([low, high])),
        control: Some(differences([-bound, bound])),
        ..base
    }
}

#[test]
fn what_would_decide_follows_from_the_interval() {
    let of = |interval: [f64; 2], bound, limit| {
        let remedy = Remedy::of(&found(interval, bound), 50.0, limit).expect("an interval");
        assert_eq!(remedy.passes_from, interval[1]);
        remedy.pairs(20)
    };
    // Twice as wide as there is room, and room for where the next median is.
    let pairs = |root: f64| Some((20.0 * (POWER_80 * root).powi(2)).ceil() as u64);
    assert_eq!(of([-0.125, 0.125], 0.0, Some(0.0625)), pairs(2.0));
    assert_eq!(of([0.0, 0.25], 0.0, Some(0.0625)), pairs(2.0));
    // A regression has to clear the control, which narrows, too.
    let both = POWER_80 * (0.125 + 0.25) / 0.125;
    let both = Some((20.0 * both.powi(2)).ceil() as u64);
    assert_eq!(of([0.0, 0.25], 0.25, Some(0.0625)), both);
    // At the limit itself no number of them is enough.
    assert_eq!(of([0.0, 0.25], 0.0, Some(0.125)), None);
    // A limit of 0 is passed by "no difference", and by nothing else where there is none.
    assert_eq!(of([-0.125, 0.125], 0.0, Some(0.0)), pairs(12.5));
    // Without a limit the nearer of both: what is proven fails, and up to 5 % passes.
    assert_eq!(of([-0.01, 0.09], 0.0, None), pairs(1.25));
    assert_eq!(of([-0.04, 0.06], 0.0, None), pairs(1.25));
    // Nor where the drift is more than the limit.
    let drifted = Comparison {
        drift: Some(0.125),
        ..found([-0.125, 0.125], 0.0)
    };
    let expected = Remedy {
        times: None,
        passes_from: 0.25,
    };
    assert_eq!(Remedy::of(&drifted, 50.0, Some(0.0625)), Some(expected));
    assert_eq!(Remedy::of(&drifted, 99.0, Some(0.0625)), None);
}

/// Runs of two commands in rounds, of which the target takes `factor` times as long.
fn in_rounds(rng: &mut SplitMix64, rounds: usize, factor: f64, options: Options) -> Comparison {
    let mut side = |factor: f64| -> Vec<f64> {
        let times = (0..rounds).map(|_| 1e6 * factor * (0.1 * rng.normal()).exp());
        times.collect()
    };
    let (base, target, control) = (side(1.0), side(factor), side(1.0));
    let sides = Sides {
        base: &base,
        target: &target,
        control: Some(&control),
        bucket_ops: 1,
    };
    compare::interleaved_with(NAMES, sides, options)
}

/// Which share of runs of as many rounds as is said decides the limit, where the first run found the difference that
/// there is.
fn decided(p: f64, rounds: usize, factor: f64, limit: Option<f64>, options: Options) -> f64 {
    let judge = |found: &Comparison| match limit {
        Some(limit) => Regression::of_percentile(found, p, limit),
        None => Regression::proven(found, p),
    };
    let (mut told, mut right) = (0, 0);
    for seed in 0..4_000 {
        let mut rng = SplitMix64::new(seed);
        let first = in_rounds(&mut rng, rounds, factor, options);
        let middle = match p {
            50.0 => first.difference.as_ref().map(|found| found.median),
            _ => first
                .tails
                .iter()
                .find(|tail| tail.p == p)
                .map(|tail| tail.difference),
        };
        let middle = middle.expect("a difference");
        if judge(&first) != Regression::Undecided || (middle - (factor - 1.0)).abs() > 0.005 {
            continue;
        }
        let remedy = Remedy::of(&first, p, limit).expect("an interval");
        let Some(rounds) = remedy.pairs(first.pairs).filter(|rounds| *rounds < 20_000) else {
            continue;
        };
        told += 1;
        let again = in_rounds(&mut rng, rounds as usize, factor, options);
        right += u32::from(judge(&again) != Regression::Undecided);
        if told == 60 {
            break;
        }
    }
    assert!(told >= 20, "too few runs say what would decide: {told}");
    f64::from(right) / f64::from(told)
}

#[test]
fn as_many_rounds_as_are_said_decide_a_limit_in_most_runs() {
    let options = Options::default();
    for (rounds, factor, limit) in [
        (20, 1.0, Some(0.05)),
        (20, 1.1, Some(0.05)),
        (40, 1.03, Some(0.05)),
        (20, 1.1, None),
        (40, 1.02, None),
    ] {
        let share = decided(50.0, rounds, factor, limit, options);
        assert!(
            (0.7..=1.0).contains(&share),
            "{rounds} {factor} {limit:?}: {share}"
        );
    }
}

#[test]
fn the_same_of_a_tail() {
    let options = Options::default().singles(true);
    for (factor, limit) in [(1.0, 0.1), (1.2, 0.1)] {
        let share = decided(99.0, 600, factor, Some(limit), options);
        assert!(share >= 0.7, "{factor} {limit}: {share}");
    }
}
