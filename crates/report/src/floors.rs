//! The floors of what a run measured: given to its rows and tables, which keep them wherever they are read.

use latency::report::{Environment, FloorKind, Latency, RowFloor, Timing};

use crate::Outcome;

/// Gives each row and table of a run the floors of its kind: the clock's, that of waking a thread where operations
/// were due at times of their own, and that of starting a process where they were processes.
pub(crate) fn measured(outcome: &mut Outcome, environment: &mut Environment) {
    let is_due = |row: &Latency| row.timing == Timing::Intended && row.n > 0;
    if outcome.latencies.iter().any(is_due) {
        environment.wake_floor_ns = latency::wake_floor().map(|floor| floor.p50_ns);
    }
    environment.start_floor_ns = outcome.start_floor_ns;
    for row in &mut outcome.latencies {
        let kinds = [
            (FloorKind::Clock, environment.clock_floor_ns),
            (
                FloorKind::Wake,
                environment.wake_floor_ns.filter(|_| is_due(row)),
            ),
            (FloorKind::Start, environment.start_floor_ns),
        ];
        for (kind, ns) in kinds {
            if row.floor(kind).is_none() {
                row.floors.extend(ns.map(|ns| RowFloor { kind, ns }));
            }
        }
    }
    // It times short operations in batches: its tables are of means.
    if outcome.workload.kind != "compress-bench" {
        for table in outcome.tables.iter_mut().filter(|table| table.has_times()) {
            table.clock_floor_ns = table.clock_floor_ns.or(environment.clock_floor_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use latency::report::{Table, Unit};
    use latency::{LatencyName, Recorder, Spec};

    use super::*;
    use crate::{Run, RunOptions};

    fn row(timing: Timing) -> Latency {
        let spec = Spec::new(LatencyName::Service, "call").timing(timing);
        let mut recorder = Recorder::new(spec, Instant::now());
        recorder.record_ns(40);
        recorder.finish().latency()
    }

    fn finished(floors: bool, change: impl FnOnce(&mut Outcome)) -> latency::Report {
        let mut options = RunOptions::new("tool", "1", "test");
        options.floors = floors;
        let mut outcome = Outcome::new("test");
        let times = [("p50", Unit::Nanoseconds)];
        outcome.tables.push(Table::new("t", &times));
        outcome
            .tables
            .push(Table::new("counts", &[("n", Unit::Count)]));
        change(&mut outcome);
        Run::start(options).expect("started").finish(outcome).report
    }

    fn kinds(row: &Latency) -> Vec<FloorKind> {
        row.floors.iter().map(|floor| floor.kind).collect()
    }

    #[test]
    fn every_row_has_the_floors_of_its_kind() {
        use FloorKind::{Clock, Start, Wake};
        let report = finished(true, |outcome| {
            outcome.latencies = vec![row(Timing::Actual), row(Timing::Intended)];
        });
        let found: Vec<_> = report.latencies.iter().map(kinds).collect();
        assert_eq!(found, [vec![Clock], vec![Clock, Wake]]);
        let environment = &report.environment;
        assert_eq!(report.tables[0].clock_floor_ns, environment.clock_floor_ns);
        assert_eq!(report.tables[1].clock_floor_ns, None);
        assert!(environment.clock_floor_ns.is_some() && environment.wake_floor_ns.is_some());
        // No thread is woken, and no process started, where no row is of that.
        let report = finished(true, |outcome| {
            outcome.latencies = vec![row(Timing::Actual)]
        });
        let environment = &report.environment;
        assert_eq!(
            (environment.wake_floor_ns, environment.start_floor_ns),
            (None, None)
        );
        let report = finished(true, |outcome| {
            outcome.latencies = vec![row(Timing::Actual)];
            outcome.start_floor_ns = Some(700_000);
        });
        assert_eq!(kinds(&report.latencies[0]), [Clock, Start]);
        assert_eq!(report.environment.start_floor_ns, Some(700_000));
    }

    #[test]
    fn rows_that_were_read_keep_the_floors_that_they_have() {
        let then = RowFloor {
            kind: FloorKind::Clock,
            ns: 7,
        };
        let report = finished(false, |outcome| {
            outcome.latencies = vec![row(Timing::Actual), row(Timing::Intended)];
            outcome.latencies[0].floors.push(then);
            outcome.tables[0].clock_floor_ns = Some(8);
            outcome.tables.push(Table::new("of another tool", &[]));
        });
        assert_eq!(report.latencies[0].floors, [then]);
        assert!(report.latencies[1].floors.is_empty());
        let tables: Vec<_> = report
            .tables
            .iter()
            .map(|table| table.clock_floor_ns)
            .collect();
        assert_eq!(tables, [Some(8), None, None]);
        assert_eq!(report.environment.clock_floor_ns, None);
    }
}
