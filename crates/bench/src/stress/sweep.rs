//! Open loops at several rates, one after another: how response times exceed service times, and where the
//! machine is saturated. A closed loop before them measures the capacity.

use std::time::Duration;

use latency::report::{Cell, LoadModel, Table, Unit};
use stress::{Finding, Pace};

use super::plan::pair_name;
use super::plan::{Plan, Rate};
use super::rank::{Control, ranking, tail};
use super::row::Row;
use super::runner::{Runner, add_load, add_volume};
use crate::Error;
use report::Outcome;

/// The longest duration of the closed loop.
const CALIBRATION_MAX: Duration = Duration::from_secs(3);

const COLUMNS: [(&str, Unit); 14] = [
    ("load", Unit::Share),
    ("verdict", Unit::Text),
    ("rate_per_s", Unit::PerSecond),
    ("achieved_per_s", Unit::PerSecond),
    ("late_starts", Unit::Share),
    ("backlog_max", Unit::Count),
    ("response_p50_ns", Unit::Nanoseconds),
    ("response_p99_ns", Unit::Nanoseconds),
    ("response_p99_9_ns", Unit::Nanoseconds),
    ("compress_p50_ns", Unit::Nanoseconds),
    ("compress_p99_ns", Unit::Nanoseconds),
    ("decompress_p50_ns", Unit::Nanoseconds),
    ("decompress_p99_ns", Unit::Nanoseconds),
    ("rss_bytes_max", Unit::Bytes),
];

/// Runs the closed loop, then each rate, or as many as possible until an interrupt.
pub(crate) fn measure(
    plan: &Plan,
    runner: &mut Runner<'_>,
    outcome: &mut Outcome,
) -> Result<Vec<Row>, Error> {
    let Some(pair) = plan.pairs.first() else {
        return Ok(Vec::new());
    };
    let run = |pace, duration, label: &str| {
        plan.run
            .clone()
            .pool(pair.1)
            .pace(pace)
            .duration(duration)
            .label(Some(label.to_owned()))
    };
    let duration = plan.run.duration;
    let closed = run(Pace::Closed, duration.min(CALIBRATION_MAX), "closed loop");
    let (found, _) = runner.run(&closed, &pair.0, Some("closed loop".to_owned()))?;
    let row = Row::new(&found, pair.1);
    let capacity = row.blocks_per_s();
    if !(capacity.is_finite() && capacity > 0.0) {
        let nothing = format!("{} did no block in its closed loop", pair_name(pair));
        return match runner.watch.is_stopped() {
            true => Ok(vec![row]),
            false => Err(Error::new(nothing).help("give it more time with --duration")),
        };
    }
    runner.follow.capacity(capacity);
    let mut rows = vec![row];
    outcome
        .tables
        .push(ranking(&rows, &Control::default(), None));
    let mut table = Table::new("rates", &COLUMNS);
    table.rows.push(cells(&found, None, 1.0, capacity));
    for rate in &plan.rates {
        if runner.watch.is_stopped() {
            break;
        }
        let per_s = match rate {
            Rate::PerSecond(per_s) => *per_s,
            Rate::Share(share) => share * capacity,
        };
        let label = match rate {
            Rate::PerSecond(per_s) => format!("{per_s}/s"),
            Rate::Share(share) => format!("{} %", (share * 1e4).round() / 1e2),
        };
        let open = run(plan.paced(per_s), duration, &label);
        let (found, _) = runner.run(&open, &pair.0, Some(label))?;
        table
            .rows
            .push(cells(&found, Some(per_s), per_s / capacity, capacity));
        add_volume(&found, &open, outcome);
        add_load(&found.load, outcome);
        outcome.add(&found.latencies.end_to_end);
        rows.push(Row::new(&found, pair.1));
    }
    outcome.tables.push(table);
    Ok(rows)
}

/// How long the runs take together.
pub(crate) fn duration(plan: &Plan) -> Duration {
    let (each, rates) = (plan.run.duration, plan.rates.len());
    let open = each.saturating_mul(u32::try_from(rates).unwrap_or(u32::MAX));
    each.min(CALIBRATION_MAX).saturating_add(open)
}

fn cells(found: &Finding, rate: Option<f64>, share: f64, capacity: f64) -> Vec<Cell> {
    let load = &found.load;
    let open = load.model == LoadModel::Open;
    let verdict = match (open, load.saturated) {
        (false, _) => "closed",
        (true, true) => "SATURATED",
        (true, false) => "held",
    };
    let latency = &found.latencies;
    let response: [Option<u64>; 3] = match open {
        true => tail(&latency.end_to_end.latency()),
        // A closed loop has no due times.
        false => [None; 3],
    };
    let [compress, decompress] =
        [&latency.compress, &latency.decompress].map(|one| tail(&one.latency()));
    let rss = found.samples.iter().filter_map(|sample| sample.rss_bytes);
    let mut cells: Vec<Cell> = vec![
        share.into(),
        verdict.into(),
        rate.into(),
        load.rate_achieved_per_s.unwrap_or(capacity).into(),
        load.late_start_ratio.into(),
        load.backlog_max.into(),
    ];
    cells.extend(response.map(Cell::from));
    cells.extend(compress.into_iter().take(2).map(Cell::from));
    cells.extend(decompress.into_iter().take(2).map(Cell::from));
    cells.push(rss.max().into());
    cells
}
