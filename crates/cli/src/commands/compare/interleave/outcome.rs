//! What the rounds came to: comparisons with their control, distributions and a table.

use bench::Paired;
use latency::compare::{self, Names, Options, Sides};
use latency::report::{Cell, Comparison, Table, Unit};
use latency::{RSS_FLOOR_PARAM, Recording};
use report::Outcome;
use report::units::{bytes, counted};

use super::measured::Measured;
use super::side::{Side, Turns};
use crate::args::limit::{CPU, RSS};
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
    let measured = Measured::of(wall, sides.each_ref().map(|side| &side.turns));
    for (row, series) in measured.rows(batch) {
        if !is_compared(row, args) || series.base.is_empty() {
            continue;
        }
        let names = Names {
            row,
            baseline: &names[0],
            target: &names[1],
        };
        let of = |of: fn(&Done) -> &Recording| sides.each_ref().map(|side| of(side).latency());
        let mut comparison = match row {
            RSS => peaks(names, series, options, rss_floor_bytes),
            CPU => {
                compare::interleaved_rows(names, series, of(|done| &done.cpu).each_ref(), options)
            }
            _ => {
                compare::interleaved_rows(names, series, of(|done| &done.wall).each_ref(), options)
            }
        };
        if let Some(looks) = looks.filter(|_| comparison.pairs > 0) {
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
    let rounds = args.samples.then(|| measured.table());
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
    outcome.tables.extend(rounds);
    outcome
}

/// Whether a row is compared: times are, and memory where a limit is about it.
fn is_compared(row: &str, args: &CompareArgs) -> bool {
    let mut limits = args.fail_on_regression.iter();
    row != RSS || limits.any(|limit| limit.covers(row))
}

/// Compares peaks of memory, which are no times. What may be the copy in which a run started says nothing of the run.
fn peaks(names: Names<'_>, sides: Sides<'_>, options: Options, floor_bytes: u64) -> Comparison {
    let found = compare::interleaved_with(names, sides, options.singles(false));
    let is_unknown = |peak: &f64| *peak <= floor_bytes as f64;
    let unknown = sides.base.iter().chain(sides.target).any(is_unknown);
    let medians = [found.baseline_median_ns, found.target_median_ns]
        .map(|median| median.filter(|_| !unknown));
    let mut found = Comparison {
        baseline_median_ns: None,
        target_median_ns: None,
        baseline_median: medians[0],
        target_median: medians[1],
        ..found
    };
    if unknown {
        found.leave_out(&format!(
            "a peak up to {} may be that of perfkit, in a copy of which programs start",
            bytes(floor_bytes as f64)
        ));
    }
    found
}

/// A side whose runs are over.
struct Done {
    name: &'static str,
    line: String,
    wall: Recording,
    cpu: Recording,
    turns: Turns,
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
            turns: side.turns,
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
