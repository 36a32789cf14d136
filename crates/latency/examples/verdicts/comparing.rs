//! False verdicts and power of comparisons, once and while they run.
//!
//! The machine drifts as a random walk that all sides of a round share, and each side has noise of its own. *Before*
//! is the rule that said "no difference" wherever the resolution was 5 % or finer.

use perfkit_latency::SplitMix64;
use perfkit_latency::compare::{self, Looks, Names, Options, Regression, Sides};
use perfkit_latency::report::{Comparison, Table, Unit, Verdict};

use crate::Size;
use crate::process::normal;

/// The true differences.
const EFFECTS: [f64; 6] = [0.0, 0.005, 0.01, 0.02, 0.05, 0.1];
/// Drift from round to round, and noise of a side.
const DRIFT: f64 = 0.01;
const NOISE: f64 = 0.03;
/// The margin up to which a difference counts as none.
const MARGIN: f64 = 0.01;
/// Rounds of a comparison that grows, at most, and between two looks of one that is looked at too often.
const GROWN: usize = 400;
const PEEK: usize = 10;
/// Values of a run, their autocorrelation, and the deviation of each.
const UNPAIRED: [(usize, f64, f64); 5] = [
    (100, 0.9, 0.2),
    (400, 0.9, 0.2),
    (100, 0.9, 0.05),
    (30, 0.0, 0.02),
    (100, 0.0, 0.05),
];
const NAMES: Names<'static> = Names {
    row: "row",
    baseline: "base",
    target: "target",
};

/// Three sides of a run: baseline, target, control.
type Run = [Vec<f64>; 3];

fn run(seed: u64, rounds: usize, effect: f64) -> Run {
    let mut rng = SplitMix64::new(seed);
    let mut sides: Run = Default::default();
    let mut drift = 0.0;
    for _ in 0..rounds {
        drift += DRIFT * normal(&mut rng);
        for (side, factor) in sides.iter_mut().zip([1.0, 1.0 + effect, 1.0]) {
            side.push(1e6 * factor * (drift + NOISE * normal(&mut rng)).exp());
        }
    }
    sides
}

fn compared(run: &Run, rounds: usize, options: Options, control: bool) -> Comparison {
    let [base, target, again] = run;
    let sides = Sides {
        base: &base[..rounds],
        target: &target[..rounds],
        control: control.then_some(&again[..rounds]),
        bucket_ops: 1,
    };
    compare::interleaved_with(NAMES, sides, options)
}

/// The rule of before on the same numbers.
fn before(found: &Comparison) -> Verdict {
    let interval = found
        .difference
        .as_ref()
        .and_then(|found| found.median_ci95);
    let Some([low, high]) = interval else {
        return Verdict::Inconclusive;
    };
    let control = found.control.as_ref();
    let [least, most] = control
        .and_then(|found| found.median_ci95)
        .unwrap_or([0.0; 2]);
    let bound = least.abs().max(most.abs());
    if high < -bound {
        Verdict::Better
    } else if low > bound {
        Verdict::Worse
    } else if ((high - low) / 2.0).max(bound) <= 0.05 {
        Verdict::NoDifference
    } else {
        Verdict::Inconclusive
    }
}

/// Shares of verdicts.
#[derive(Default)]
struct Verdicts([u64; 5]);

impl Verdicts {
    fn add(&mut self, verdict: Verdict) {
        let at = match verdict {
            Verdict::Worse => 0,
            Verdict::Better => 1,
            Verdict::NoDifference => 2,
            Verdict::Small => 3,
            Verdict::Inconclusive => 4,
        };
        self.0[at] += 1;
    }

    fn shares(&self, runs: u64) -> [f64; 5] {
        self.0.map(|count| count as f64 / runs as f64)
    }
}

pub(crate) fn tables(size: Size) -> Vec<Table> {
    vec![verdicts(size), growing(size), unpaired(size)]
}

/// Limits on the regression of two separate runs, each of which drifts by itself.
fn unpaired(size: Size) -> Table {
    let mut table = Table::new(
        "a limit of 5 % on two separate runs that drift",
        &[
            ("values", Unit::Count),
            ("autocorrelation", Unit::Ratio),
            ("deviation", Unit::Share),
            ("true_difference", Unit::Share),
            ("rule", Unit::Text),
            ("passes", Unit::Share),
            ("fails", Unit::Share),
            ("undecided", Unit::Share),
        ],
    );
    for (values, rho, deviation) in UNPAIRED {
        for effect in [0.0, 0.04, 0.06, 0.1] {
            let mut found = [[0_u64; 3]; 2];
            for seed in 0..size.runs {
                let mut rng = SplitMix64::new(seed);
                let [base, target] = [1.0, 1.0 + effect].map(|factor| {
                    let mut state = normal(&mut rng);
                    let values = (0..values).map(|_| {
                        state = rho * state + (1.0 - rho * rho).sqrt() * normal(&mut rng);
                        1e6 * factor * (deviation * state).exp()
                    });
                    values.collect::<Vec<f64>>()
                });
                let today = compare::numbers(NAMES, &base, &target, Options::default());
                let before = Comparison {
                    drift: None,
                    ..today.clone()
                };
                for (found, comparison) in found.iter_mut().zip([before, today]) {
                    found[match Regression::of(&comparison, 0.05) {
                        Regression::Within => 0,
                        Regression::Beyond => 1,
                        Regression::Undecided => 2,
                    }] += 1;
                }
            }
            for (rule, counts) in ["before", "today"].into_iter().zip(found) {
                let mut row = vec![
                    (values as u64).into(),
                    rho.into(),
                    deviation.into(),
                    effect.into(),
                    rule.into(),
                ];
                let shares = counts.map(|count| count as f64 / size.runs as f64);
                row.extend(shares.map(Into::into));
                table.rows.push(row);
            }
        }
    }
    table
}

/// Comparisons of a fixed number of rounds.
fn verdicts(size: Size) -> Table {
    let mut table = Table::new(
        "verdicts of interleaved comparisons",
        &[
            ("rounds", Unit::Count),
            ("true_difference", Unit::Share),
            ("rule", Unit::Text),
            ("worse", Unit::Share),
            ("better", Unit::Share),
            ("no_difference", Unit::Share),
            ("small", Unit::Share),
            ("inconclusive", Unit::Share),
        ],
    );
    for rounds in [20, 100, 1_000] {
        for effect in EFFECTS {
            let mut found = [Verdicts::default(), Verdicts::default()];
            for seed in 0..size.runs {
                let comparison =
                    compared(&run(seed, rounds, effect), rounds, Options::default(), true);
                found[0].add(before(&comparison));
                found[1].add(comparison.verdict);
            }
            for (rule, found) in ["before", "today"].into_iter().zip(found) {
                let mut row = vec![(rounds as u64).into(), effect.into(), rule.into()];
                row.extend(found.shares(size.runs).map(Into::into));
                table.rows.push(row);
            }
        }
    }
    table
}

/// How a comparison that grows ended.
#[derive(Default)]
struct Ended {
    verdicts: Verdicts,
    rounds: u64,
}

/// Comparisons that are looked at while they grow.
fn growing(size: Size) -> Table {
    let mut table = Table::new(
        "comparisons that grow until the verdict stands",
        &[
            ("true_difference", Unit::Share),
            ("looks", Unit::Text),
            ("worse", Unit::Share),
            ("better", Unit::Share),
            ("no_difference", Unit::Share),
            ("wrong", Unit::Share),
            ("rounds_mean", Unit::Count),
        ],
    );
    for effect in EFFECTS {
        let ways: [(&str, bool, bool); 4] = [
            ("every 10 rounds at 95 %, no control", true, false),
            ("spent over the looks, no control", false, false),
            ("every 10 rounds at 95 %", true, true),
            ("spent over the looks", false, true),
        ];
        for (name, peeks, control) in ways {
            let mut ended = Ended::default();
            for seed in 0..size.runs {
                let (verdict, rounds) = grown(&run(seed, GROWN, effect), peeks, control);
                ended.verdicts.add(verdict);
                ended.rounds += rounds as u64;
            }
            let [worse, better, same, ..] = ended.verdicts.shares(size.runs);
            let wrong = match effect {
                0.0 => worse + better,
                _ if effect > MARGIN => better + same,
                _ => better,
            };
            table.rows.push(vec![
                effect.into(),
                name.into(),
                worse.into(),
                better.into(),
                same.into(),
                wrong.into(),
                (ended.rounds / size.runs).into(),
            ]);
        }
    }
    table
}

/// The verdict that stands, and the rounds it took.
fn grown(run: &Run, peeks: bool, control: bool) -> (Verdict, usize) {
    let mut looks = Looks::default();
    let mut last = Verdict::Inconclusive;
    for rounds in 6..=GROWN {
        let confidence = match peeks {
            true => (rounds % PEEK == 0).then_some(compare::CONFIDENCE),
            false => looks.due(rounds as f64 / GROWN as f64),
        };
        let Some(confidence) = confidence else {
            continue;
        };
        let options = Options::default().margin(MARGIN).confidence(confidence);
        last = compared(run, rounds, options, control).verdict;
        if !matches!(last, Verdict::Inconclusive | Verdict::Small) {
            return (last, rounds);
        }
    }
    (last, GROWN)
}
