//! What the rounds came to: comparisons with their control, distributions and a table.

use bench::Paired;
use latency::compare::{self, Names, Options, Sides};
use latency::report::{Cell, Table, Unit};
use latency::{RSS_FLOOR_PARAM, Recording};
use report::Outcome;
use report::units::counted;

use super::side::Side;
use crate::commands::compare::flags::CompareArgs;

/// What a run came to besides its times.
pub(super) struct Found {
    /// The wall time of each round.
    pub(super) wall: Paired,
    /// Of the look that ended the run.
    pub(super) options: Options,
    pub(super) batch: u64,
    pub(super) complete: bool,
    pub(super) looks: Option<u32>,
    pub(super) start_floor_ns: Option<u64>,
    /// Up to which peak memory may be that of the copy in which a run started.
    pub(super) rss_floor_bytes: u64,
}

/// The comparisons of the three sides and their distributions.
pub(super) fn outcome(sides: [Side; 3], args: &CompareArgs, found: &Found) -> Outcome {
    let &Found {
        ref wall,
        options,
        batch,
        complete,
        looks,
        start_floor_ns,
        rss_floor_bytes,
    } = found;
    let mut outcome = Outcome::new("compare, interleaved");
    outcome.complete = complete;
    outcome.start_floor_ns = start_floor_ns;
    if !complete {
        outcome.status = report::ExitStatus::Interrupted;
    }
    outcome.ops = Some(sides.iter().map(|side| side.wall.n()).sum());
    let params = &mut outcome.workload.params;
    params.insert("batch".to_owned(), batch.into());
    params.insert("warmup".to_owned(), args.warmup.into());
    if let Some(looks) = looks {
        params.insert("looks".to_owned(), looks.into());
        params.insert("confidence".to_owned(), options.confidence.into());
    }
    let names = sides.each_ref().map(Side::title);
    let sides = sides.map(Done::of);
    let [base, target, _] = sides
        .each_ref()
        .map(|side| Some([side.failures, side.wall.latency().n]));
    let failing = compare::failing([base, target]);
    let rows = [
        ("wall", sides.each_ref().map(|side| side.wall.latency())),
        ("cpu", sides.each_ref().map(|side| side.cpu.latency())),
    ];
    let wall = [0, 1, 2].map(|side| wall.side(side));
    let cpu = sides.each_ref().map(|side| side.cpu_buckets.as_slice());
    for ((row, latencies), [base, target, control]) in rows.iter().zip([wall, cpu]) {
        let names = Names {
            row,
            baseline: &names[0],
            target: &names[1],
        };
        let sides = Sides {
            base,
            target,
            control: Some(control),
            bucket_ops: batch,
        };
        if !base.is_empty() {
            let mut comparison =
                compare::interleaved_rows(names, sides, latencies.each_ref(), options);
            if let Some(looks) = looks {
                comparison.reason += &format!(
                    "; {} rounds, {}, 5 % error over all of them",
                    comparison.pairs,
                    counted(looks.into(), ["look", "looks"])
                );
            }
            if let Some(why) = &failing {
                comparison.leave_out(why);
            }
            outcome.comparisons.push(comparison);
        }
    }
    let mut table = Table::new("runs", &COLUMNS);
    outcome
        .workload
        .params
        .insert(RSS_FLOOR_PARAM.to_owned(), rss_floor_bytes.into());
    for side in sides {
        let params = &mut outcome.workload.params;
        params.insert(side.name.to_owned(), side.line.into());
        let row = side.wall.latency();
        table.rows.push(vec![
            side.name.into(),
            row.n.into(),
            side.failures.into(),
            median(&side.wall),
            row.min_ns.into(),
            row.max_ns.into(),
            median(&side.cpu),
            Some(side.rss_max_bytes)
                .filter(|bytes| *bytes > rss_floor_bytes)
                .into(),
        ]);
        outcome.add(&side.wall);
        if side.failures > 0 {
            let runs = counted(row.n, ["run", "runs"]);
            let count = match failing {
                Some(_) => "and the times are not compared",
                None => "and their times count",
            };
            let finding = format!(
                "{} of {runs} of the {} failed, {count}",
                side.failures, side.name
            );
            outcome.findings.push(finding);
        }
    }
    outcome.tables.push(table);
    outcome
}

/// A side whose runs are over.
struct Done {
    name: &'static str,
    line: String,
    wall: Recording,
    cpu: Recording,
    cpu_buckets: Vec<f64>,
    rss_max_bytes: u64,
    failures: u64,
}

impl Done {
    fn of(side: Side) -> Self {
        Self {
            name: side.name,
            line: side.line(),
            wall: side.wall.finish(),
            cpu: side.cpu.finish(),
            cpu_buckets: side.cpu_buckets,
            rss_max_bytes: side.rss_max_bytes,
            failures: side.failures,
        }
    }
}

const COLUMNS: [(&str, Unit); 8] = [
    ("side", Unit::Text),
    ("runs", Unit::Count),
    ("failures", Unit::Count),
    ("wall_p50_ns", Unit::Nanoseconds),
    ("wall_min_ns", Unit::Nanoseconds),
    ("wall_max_ns", Unit::Nanoseconds),
    ("cpu_p50_ns", Unit::Nanoseconds),
    ("rss_max_bytes", Unit::Bytes),
];

/// The sample's own median, whether or not it earns an interval.
fn median(recording: &Recording) -> Cell {
    let histogram = recording.histogram();
    (!histogram.is_empty())
        .then(|| histogram.value_at_quantile(0.5))
        .into()
}
