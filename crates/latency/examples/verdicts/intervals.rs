//! Coverage of intervals and errors of gates.
//!
//! *Before* is what a recorder without buckets gives: it knows nothing of dependence. Of a mean it is the normal
//! interval of independent values, whatever the tail.

use std::time::Instant;

use perfkit_latency::report::{Cell, GateVerdict, Latency, Table, Unit};
use perfkit_latency::{BucketPolicy, Gate, LatencyName, Recorder, Spec};

use crate::Size;
use crate::process::Process;

/// Values of a run.
const VALUES: usize = 2_000;
/// How far a limit lies from the truth, beyond what the histogram rounds to.
const OFF: f64 = 0.002;
const STATISTICS: [(&str, Option<f64>); 4] = [
    ("p50", Some(50.0)),
    ("p90", Some(90.0)),
    ("p99", Some(99.0)),
    ("mean", None),
];

/// Counts over the runs of a case, before and today.
#[derive(Default, Clone, Copy)]
struct Counts {
    covered: [u64; 2],
    none: [u64; 2],
    width: [f64; 2],
    passed: [u64; 2],
    failed: [u64; 2],
}

pub(crate) fn tables(size: Size) -> Vec<Table> {
    let mut coverage = Table::new(
        "coverage of 95 % intervals",
        &[
            ("process", Unit::Text),
            ("statistic", Unit::Text),
            ("covered_before", Unit::Share),
            ("covered_today", Unit::Share),
            ("no_interval_today", Unit::Share),
            ("width_ratio", Unit::Ratio),
        ],
    );
    let mut gates = Table::new(
        "errors of gates",
        &[
            ("process", Unit::Text),
            ("statistic", Unit::Text),
            ("passed_wrongly_before", Unit::Share),
            ("passed_wrongly_today", Unit::Share),
            ("failed_wrongly_before", Unit::Share),
            ("failed_wrongly_today", Unit::Share),
        ],
    );
    for (process_name, process) in Process::ALL {
        let mut all = [Counts::default(); STATISTICS.len()];
        for seed in 0..size.runs {
            let values = process.times(seed, VALUES);
            let rows = [BucketPolicy::Off, BucketPolicy::Adaptive { max: 512 }]
                .map(|policy| row(&values, policy));
            for (counts, (name, p)) in all.iter_mut().zip(STATISTICS) {
                counts.add(&rows, name, p, process.truth(p));
            }
        }
        let share = |count: u64| Cell::from(count as f64 / size.runs as f64);
        for (counts, (name, _)) in all.iter().zip(STATISTICS) {
            let of_known = |at: usize| {
                let known = size.runs - counts.none[at];
                Cell::from((known > 0).then(|| counts.covered[at] as f64 / known as f64))
            };
            let known = (size.runs - counts.none[1]) as f64;
            let mean = |at: usize, known: f64| counts.width[at] / known;
            let ratio = mean(1, known) / mean(0, size.runs as f64);
            coverage.rows.push(vec![
                process_name.into(),
                name.into(),
                of_known(0),
                of_known(1),
                share(counts.none[1]),
                (known > 0.0).then_some(ratio).into(),
            ]);
            gates.rows.push(vec![
                process_name.into(),
                name.into(),
                share(counts.passed[0]),
                share(counts.passed[1]),
                share(counts.failed[0]),
                share(counts.failed[1]),
            ]);
        }
    }
    vec![coverage, gates]
}

fn row(values: &[u64], policy: BucketPolicy) -> Latency {
    let spec = Spec::new(LatencyName::Service, "call")
        .buckets(policy)
        .slowest(0);
    let mut recorder = Recorder::new(spec, Instant::now());
    values.iter().for_each(|ns| recorder.record_ns(*ns));
    recorder.finish().latency()
}

impl Counts {
    fn add(&mut self, rows: &[Latency; 2], name: &str, p: Option<f64>, truth: f64) {
        for (at, row) in rows.iter().enumerate() {
            let judge = |limit: f64| judged(row, name, p.is_none() && at == 0, limit as u64);
            let (below, interval) = judge(truth * (1.0 - OFF));
            let (above, _) = judge(truth * (1.0 + OFF));
            self.passed[at] += u64::from(below == GateVerdict::Pass);
            self.failed[at] += u64::from(above == GateVerdict::Fail);
            match interval {
                Some([low, high]) => {
                    self.covered[at] +=
                        u64::from((low as f64) <= truth && truth <= high as f64 + 1.0);
                    self.width[at] += (high - low) as f64;
                }
                None => self.none[at] += 1,
            }
        }
    }
}

/// The verdict of a gate and the interval it rests on.
fn judged(
    row: &Latency,
    name: &str,
    plain_mean: bool,
    limit_ns: u64,
) -> (GateVerdict, Option<[u64; 2]>) {
    if plain_mean {
        let (mean, stdev) = (row.mean_ns.unwrap_or(0.0), row.stdev_ns.unwrap_or(0.0));
        let half = 1.96 * stdev / (row.n as f64).sqrt();
        let (low, high) = ((mean - half).max(0.0), mean + half);
        let limit = limit_ns as f64;
        let verdict = match (high <= limit, low > limit) {
            (true, _) => GateVerdict::Pass,
            (_, true) => GateVerdict::Fail,
            _ => GateVerdict::Inconclusive,
        };
        return (verdict, Some([low as u64, high as u64]));
    }
    let gate: Gate = match format!("{name}<={limit_ns}ns").parse() {
        Ok(gate) => gate,
        Err(_) => return (GateVerdict::Inconclusive, None),
    };
    let result = gate.decide(std::slice::from_ref(row));
    (result.verdict, result.ci95_ns)
}
