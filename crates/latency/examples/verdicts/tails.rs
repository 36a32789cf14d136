//! Verdicts on the percentiles above the median: how often they are wrong, and which slow tails they find that leave the
//! median as it is.

use perfkit_latency::SplitMix64;
use perfkit_latency::compare::{self, Names, Options, Sides};
use perfkit_latency::report::{Comparison, Table, Unit, Verdict};

use crate::Size;
use crate::process::{Process, unit};

/// The share of the target's times that are slow.
const SLOW: f64 = 0.03;
/// By which factor.
const FACTORS: [f64; 4] = [1.0, 2.0, 3.0, 10.0];
/// Times of each side.
const TIMES: [usize; 2] = [500, 2_000];

/// Runs in rounds with a control; of the target, a share of the times is slow.
fn compared(process: Process, seed: u64, n: usize, factor: f64) -> Comparison {
    let side = |nth: u64| -> Vec<f64> {
        let times = process.times(seed * 3 + nth, n).into_iter();
        times.map(|ns| ns as f64).collect()
    };
    let [base, mut target, control] = [0, 1, 2].map(side);
    let mut rng = SplitMix64::new(!seed);
    for ns in &mut target {
        if unit(&mut rng) < SLOW {
            *ns *= factor;
        }
    }
    let names = Names {
        row: "row",
        baseline: "base",
        target: "target",
    };
    let sides = Sides {
        base: &base,
        target: &target,
        control: Some(&control),
        bucket_ops: 1,
    };
    compare::interleaved_with(names, sides, Options::default().singles(true))
}

/// The share of comparisons that each verdict on a percentile has, and on the median.
#[derive(Default)]
struct Found {
    median_worse: u64,
    p90_worse: u64,
    p99_worse: u64,
    wrong: u64,
}

impl Found {
    fn add(&mut self, found: &Comparison, factor: f64) {
        let is = |p: f64, verdict: Verdict| {
            let tail = found.tails.iter().find(|tail| tail.p == p);
            u64::from(tail.is_some_and(|tail| tail.verdict == verdict))
        };
        self.median_worse += u64::from(found.verdict == Verdict::Worse);
        self.p90_worse += is(90.0, Verdict::Worse);
        self.p99_worse += is(99.0, Verdict::Worse);
        let wrong = found.tails.iter().any(|tail| match tail.verdict {
            Verdict::Better => true,
            Verdict::Worse => factor <= 1.0,
            Verdict::NoDifference | Verdict::Small | Verdict::Inconclusive => false,
        });
        self.wrong += u64::from(wrong);
    }
}

pub(crate) fn table(size: Size) -> Table {
    let mut table = Table::new(
        "verdicts on tails",
        &[
            ("process", Unit::Text),
            ("times", Unit::Count),
            ("slow", Unit::Text),
            ("median_worse", Unit::Share),
            ("p90_worse", Unit::Share),
            ("p99_worse", Unit::Share),
            ("wrong", Unit::Share),
        ],
    );
    // Where the tail has no mean either, as of the last one, no number of times like these finds anything.
    let processes = Process::ALL.into_iter().take(Process::ALL.len() - 1);
    for (name, process) in processes {
        for n in TIMES {
            for factor in FACTORS {
                let mut found = Found::default();
                for seed in 0..size.runs {
                    found.add(&compared(process, seed, n, factor), factor);
                }
                let share = |count: u64| (count as f64 / size.runs as f64).into();
                let slow = match factor {
                    1.0 => "none".to_owned(),
                    _ => format!("3 % take {factor} times as long"),
                };
                table.rows.push(vec![
                    name.into(),
                    (n as u64).into(),
                    slow.into(),
                    share(found.median_worse),
                    share(found.p90_worse),
                    share(found.p99_worse),
                    share(found.wrong),
                ]);
            }
        }
    }
    table
}
