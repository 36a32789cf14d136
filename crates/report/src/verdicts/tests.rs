//! What sentences say of each verdict.

use latency::compare::{self, Names, Options, Sides};

use super::*;

/// Rounds in which the target takes `factor` times as long, with noise on either side.
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
        ["copy: median: new takes 20 % less time than old (95 % interval 20 % to 20 %)."]
    );
    assert_eq!(
        said(1.25, 0.0, 40),
        ["copy: median: new takes 25 % more time than old (95 % interval 25 % to 25 %)."]
    );
    assert_eq!(
        said(1.0, 0.0, 40),
        [
            "copy: median: no difference beyond ±1 % between new and old (95 % interval of the difference 0 % to 0 %)."
        ]
    );
    let noisy = compared("copy", 1.02, 0.3, 12);
    assert_eq!(noisy.verdict, Verdict::Inconclusive);
    let said_of_noise = sentence(&noisy);
    assert!(
        said_of_noise
            .starts_with("copy: median: this run cannot tell new from old (95 % interval of"),
        "{said_of_noise}"
    );
    assert_eq!(
        said(0.5, 0.0, 3),
        ["copy: nothing is known of new against old: 3 pairs, 6 needed."]
    );
}

#[test]
fn a_difference_that_may_be_drift_is_said_with_its_size_and_the_reason() {
    let mut found = compared("copy", 1.25, 0.0, 40);
    found.verdict = Verdict::Small;
    let bound = latency::report::Differences {
        range: [-0.4, 0.3],
        median_ci95: Some([-0.4, 0.3]),
        ..found.control.clone().expect("a control")
    };
    found.control = Some(bound);
    assert_eq!(
        sentence(&found),
        "copy: median: new differs from old by +25 % (95 % interval of the difference +25 % to +25 %), and that may \
         be drift: old differs from itself by up to 40 %."
    );
    found.control = None;
    assert!(sentence(&found).ends_with("drift: either run drifted by as much within itself."));
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
            "median: new takes less time than old in 2 of 5: b by 50 % (50 % to 50 %); a by 10 % (10 % to 10 %).",
            "median: new takes more time than old in 1 of 5: d by 100 % (100 % to 100 %).",
            "median: no difference beyond the margin in 1 of 5, not told apart in 1 of 5.",
        ]
    );
    let mut other = rows.to_vec();
    other[1].target = "newest".to_owned();
    let said = findings(&other);
    assert!(
        said[0].starts_with("median: less time in 2 of 5: b: newest than old by 50 %"),
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
        said[0].starts_with("numbers: median: b is 200 % higher than a"),
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
