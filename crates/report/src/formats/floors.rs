//! Times that are mostly not the work: reading the clock, waking a thread, starting a process.
//!
//! Each row, and each table, brings the floors of the run that measured it. One that another tool measured has none.

use std::collections::BTreeMap;

use latency::clock::FLOORS_MIN;
use latency::report::{Cell, Column, FloorKind, Latency, Report, Table, Timing, Unit};

use crate::units::duration;

/// The shortest time of which this floor is a small part.
fn least_ns(floor_ns: u64) -> u64 {
    floor_ns.saturating_mul(FLOORS_MIN)
}

/// The shortest time of a row that can be told: below it, a single operation is mostly the clock, or less than the step
/// of its stamps.
pub(super) fn row_told_from(row: &Latency) -> Option<u64> {
    clock_told_from(row).max(stamp_told_from(row))
}

fn stamp_told_from(row: &Latency) -> Option<u64> {
    row.floor(FloorKind::Stamp).map(|floor| floor.ns)
}

fn clock_told_from(row: &Latency) -> Option<u64> {
    let of_singles =
        row.batch == Some(1) && matches!(row.timing, Timing::Actual | Timing::Intended);
    let floor = row.floor(FloorKind::Clock).filter(|_| of_singles);
    floor.map(|floor| least_ns(floor.ns))
}

/// The same of the times of single operations in a table.
pub(super) fn table_told_from(table: &Table) -> Option<u64> {
    table.clock_floor_ns.map(least_ns)
}

/// A time, or that it is below what can be told.
pub(super) fn timed(ns: f64, least_ns: Option<u64>) -> String {
    match least_ns {
        Some(least) if ns < least as f64 => format!("<{}", duration(least as f64)),
        _ => duration(ns),
    }
}

/// Whether a table has percentiles or extremes of single operations here.
pub(super) fn of_singles(column: &Column) -> bool {
    let key = column.key.as_str();
    let parts = ["p50", "p90", "p99"];
    let percentile = key.split('_').any(|part| parts.contains(&part));
    column.unit == Unit::Nanoseconds && percentile && !key.contains("mean")
}

/// What is to be said of the floors of a report: which times are too short to tell, and which rows hold much that is
/// no work.
pub(super) fn remarks(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = untold(report)
        .into_iter()
        .map(|least| {
            let least = duration(least as f64);
            format!("<{least}: too short to time one by one (less than {FLOORS_MIN} clock floors)")
        })
        .collect();
    lines.extend(below_stamps(report).into_iter().map(|(step, labels)| {
        let step = duration(step as f64);
        format!(
            "<{step}: the stamps have steps of {step}: {}",
            labels.join(", ")
        )
    }));
    for (kind, floors) in [
        (FloorKind::Wake, "wake-ups of a thread"),
        (FloorKind::Start, "process starts"),
    ] {
        lines.extend(below(report, kind).into_iter().map(|(ns, labels)| {
            format!(
                "less than {FLOORS_MIN} {floors} ({} each), so part of it is not the work: {}",
                duration(ns as f64),
                labels.join(", ")
            )
        }));
    }
    lines
}

/// The rows with times below the step of their stamps, by that step.
fn below_stamps(report: &Report) -> BTreeMap<u64, Vec<String>> {
    let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for row in &report.latencies {
        if let Some(step) = stamp_told_from(row)
            && row.min_ns.is_some_and(|ns| ns < step)
        {
            found.entry(step).or_default().push(row.label());
        }
    }
    found
}

/// The rows whose mean is less than 20 floors of this kind, by the floor that they have.
fn below(report: &Report, kind: FloorKind) -> BTreeMap<u64, Vec<String>> {
    let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for row in &report.latencies {
        let (Some(floor), Some(mean)) = (row.floor(kind), row.mean_ns) else {
            continue;
        };
        if mean < least_ns(floor.ns) as f64 {
            found.entry(floor.ns).or_default().push(row.label());
        }
    }
    found
}

/// The shortest times that can be told, each once, where something is shorter.
fn untold(report: &Report) -> Vec<u64> {
    let rows = report.latencies.iter().filter_map(|row| {
        let least = clock_told_from(row)?;
        row.min_ns.is_some_and(|ns| ns < least).then_some(least)
    });
    let tables = report.tables.iter().filter_map(|table| {
        let least = table_told_from(table)?;
        is_short(table, least).then_some(least)
    });
    let mut found: Vec<u64> = rows.chain(tables).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a table has a time of single operations below this.
fn is_short(table: &Table, least_ns: u64) -> bool {
    let columns = table.columns.iter().enumerate();
    let columns = columns.filter(|(_, column)| of_singles(column));
    let mut cells =
        columns.flat_map(|(at, _)| table.rows.iter().filter_map(move |row| row.get(at)));
    cells.any(|cell| match cell {
        Cell::Integer(ns) => u64::try_from(*ns).is_ok_and(|ns| ns < least_ns),
        Cell::Number(ns) => *ns < least_ns as f64,
        Cell::Null | Cell::Text(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use latency::report::RowFloor;
    use latency::{LatencyName, Recorder, Spec};

    use super::*;
    use crate::{Outcome, Run, RunOptions};

    fn report(change: impl FnOnce(&mut Outcome)) -> Report {
        let mut options = RunOptions::new("tool", "1", "test");
        options.floors = false;
        let mut outcome = Outcome::new("test");
        change(&mut outcome);
        Run::start(options).expect("started").finish(outcome).report
    }

    fn row(ns: u64, floors: &[(FloorKind, u64)]) -> Latency {
        let spec = Spec::new(LatencyName::Service, "call");
        let mut recorder = Recorder::new(spec, Instant::now());
        recorder.record_ns(ns);
        let mut row = recorder.finish().latency();
        let floors = floors.iter();
        row.floors = floors.map(|&(kind, ns)| RowFloor { kind, ns }).collect();
        row
    }

    #[test]
    fn times_below_twenty_clock_floors_of_their_own_run_are_not_told() {
        let clock = |ns| [(FloorKind::Clock, ns)];
        let least = |row: &Latency| row_told_from(row);
        assert_eq!(least(&row(40, &clock(25))), Some(500));
        assert_eq!(least(&row(40, &[])), None);
        assert_eq!(least(&row(40, &[(FloorKind::Start, 25)])), None);
        assert_eq!(least(&row(40, &clock(u64::MAX))), Some(u64::MAX));
        let mut means = row(40, &clock(25));
        (means.timing, means.batch) = (Timing::BatchMean, Some(100));
        assert_eq!(least(&means), None);
        assert_eq!(timed(499.0, Some(500)), "<500 ns");
        assert_eq!(timed(500.0, Some(500)), "500 ns");
        assert_eq!(timed(3.0, None), "3 ns");
        // Two runs on two machines, and a file of another tool.
        let all = report(|outcome| {
            outcome.latencies = vec![row(40, &clock(25)), row(40, &clock(50)), row(40, &[])];
            let mut table = Table::new("t", &[("p50_ns", Unit::Nanoseconds)]);
            table.rows.push(vec![3_u64.into()]);
            outcome.tables.push(table);
        });
        let said = remarks(&all);
        let begins = |at: usize, with: &str| said[at].starts_with(with);
        assert!(
            said.len() == 2 && begins(0, "<500 ns: ") && begins(1, "<1 µs: "),
            "{said:?}"
        );
    }

    #[test]
    fn times_below_the_step_of_their_stamps_are_not_told() {
        let second = 1_000_000_000;
        let floors = [(FloorKind::Clock, 0), (FloorKind::Stamp, second)];
        assert_eq!(row_told_from(&row(0, &floors)), Some(second));
        assert_eq!(row_told_from(&row(0, &floors[..1])), Some(0));
        let said = |ns| {
            remarks(&report(|outcome| {
                outcome.latencies = vec![row(ns, &floors)]
            }))
        };
        assert_eq!(said(0), ["<1 s: the stamps have steps of 1 s: service"]);
        assert!(said(second).is_empty());
    }

    #[test]
    fn tables_have_the_floor_of_their_run_or_none() {
        let table = |floor: Option<u64>| {
            let mut table = Table::new("t", &[("p50_ns", Unit::Nanoseconds)]);
            table.rows.push(vec![40_u64.into()]);
            table.clock_floor_ns = floor;
            report(|outcome| outcome.tables.push(table))
        };
        assert!(remarks(&table(None)).is_empty() && remarks(&table(Some(2))).is_empty());
        assert_eq!(remarks(&table(Some(3))).len(), 1);
    }

    #[test]
    fn rows_of_wake_ups_and_processes_say_how_much_of_them_is_no_work() {
        let said = |ns| {
            let start = [(FloorKind::Clock, 20), (FloorKind::Start, 600_000)];
            let wake = [(FloorKind::Wake, 600_000)];
            remarks(&report(|outcome| {
                outcome.latencies = vec![row(ns, &start), row(ns, &wake), row(ns, &start)];
            }))
        };
        assert_eq!(
            said(3_000_000),
            [
                "less than 20 wake-ups of a thread (600 µs each), so part of it is not the work: service",
                "less than 20 process starts (600 µs each), so part of it is not the work: service, service",
            ]
        );
        assert!(said(12_000_000).is_empty());
    }
}
