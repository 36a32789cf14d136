//! Tables of the runs under load: a row per recipe, size and mode, and the worst of each mode.

use latency::report::{Cell, Table, Unit};
use latency::{Recorder, Recording};

use crate::advise::stall::load::Load;
use crate::advise::stall::probe::{Mode, Stalls};

const COLUMNS: [(&str, Unit); 15] = [
    ("recipe", Unit::Text),
    ("size_bytes", Unit::Bytes),
    ("mode", Unit::Text),
    ("due", Unit::Count),
    ("completed", Unit::Count),
    ("response_p50_ns", Unit::Nanoseconds),
    ("response_p99_ns", Unit::Nanoseconds),
    ("offload_response_ratio", Unit::Ratio),
    ("stall_p50_ns", Unit::Nanoseconds),
    ("stall_p99_ns", Unit::Nanoseconds),
    ("stall_max_ns", Unit::Nanoseconds),
    ("stalls_over_1ms_ratio", Unit::Share),
    ("excess_p99_ns", Unit::Nanoseconds),
    ("excess_max_ns", Unit::Nanoseconds),
    ("call_late_p99_ns", Unit::Nanoseconds),
];

const WORST_COLUMNS: [(&str, Unit); 4] = [
    ("mode", Unit::Text),
    ("excess_p99_ns", Unit::Nanoseconds),
    ("excess_max_ns", Unit::Nanoseconds),
    ("completed_ratio", Unit::Share),
];

/// A stall that every user would notice.
const LONG_NS: u64 = 1_000_000;

/// The tables so far.
pub(crate) struct Tables {
    stalls: Table,
    worst: Vec<Worst>,
}

/// The worst of a mode over all cells.
#[derive(Default)]
struct Worst {
    p99_ns: u64,
    max_ns: u64,
    due: u64,
    completed: u64,
}

/// The result of one mode, in numbers.
struct Found {
    mode: Mode,
    due: u64,
    response: Option<Recording>,
    stall: Recording,
    late: Recording,
}

impl Tables {
    pub(crate) fn new() -> Self {
        Self {
            stalls: Table::new("stalls", &COLUMNS),
            worst: Mode::ALL.iter().map(|_| Worst::default()).collect(),
        }
    }

    /// Adds a load in every mode, in order. The first is idle, the base of the excess.
    pub(crate) fn add(&mut self, load: &Load, cell: Vec<Stalls>) {
        let found: Vec<Found> = Mode::ALL.into_iter().zip(cell).map(Found::new).collect();
        let Some(idle) = found.first() else {
            return;
        };
        let offload = found.iter().find(|found| found.mode == Mode::Offload);
        let offload_ns = offload.and_then(|found| found.response_ns(50.0));
        for (found, worst) in found.iter().zip(&mut self.worst) {
            let over = found.excess_over(idle);
            worst.add(found, over);
            self.stalls.rows.push(found.row(load, over, offload_ns));
        }
    }

    pub(crate) fn finish(self) -> [Table; 2] {
        let mut table = Table::new("worst_stalls", &WORST_COLUMNS);
        for (mode, worst) in Mode::ALL.into_iter().zip(&self.worst).skip(1) {
            let completed = worst.completed as f64 / worst.due.max(1) as f64;
            table.rows.push(vec![
                mode.name().into(),
                worst.p99_ns.into(),
                worst.max_ns.into(),
                completed.into(),
            ]);
        }
        [self.stalls, table]
    }
}

impl Worst {
    fn add(&mut self, found: &Found, [p99_ns, max_ns]: [Option<u64>; 2]) {
        self.p99_ns = self.p99_ns.max(p99_ns.unwrap_or(0));
        self.max_ns = self.max_ns.max(max_ns.unwrap_or(0));
        self.due += found.due;
        self.completed += found.completed();
    }
}

impl Found {
    fn new((mode, stalls): (Mode, Stalls)) -> Self {
        Self {
            mode,
            due: stalls.due,
            response: (mode != Mode::Idle).then(|| stalls.response.finish()),
            stall: Recorder::finish(stalls.delays.stall),
            late: stalls.delays.late.finish(),
        }
    }

    fn completed(&self) -> u64 {
        self.response.as_ref().map_or(0, Recording::n)
    }

    fn response_ns(&self, p: f64) -> Option<u64> {
        percentile(self.response.as_ref()?, p)
    }

    /// How much the 99th percentile and the maximum exceed those of the idle run.
    fn excess_over(&self, idle: &Self) -> [Option<u64>; 2] {
        let excess = |own: Option<u64>, idle: Option<u64>| Some(own?.saturating_sub(idle?));
        [
            excess(percentile(&self.stall, 99.0), percentile(&idle.stall, 99.0)),
            excess(max(&self.stall), max(&idle.stall)),
        ]
    }

    fn over_long(&self) -> f64 {
        let long = self.stall.histogram().count_between(LONG_NS, u64::MAX);
        long as f64 / self.stall.n().max(1) as f64
    }

    fn row(
        &self,
        load: &Load,
        [over_p99, over_max]: [Option<u64>; 2],
        offload_ns: Option<u64>,
    ) -> Vec<Cell> {
        let p50_ns = self.response_ns(50.0);
        let times_lower = match (offload_ns, p50_ns) {
            (Some(offload), Some(own)) => Some(offload as f64 / own.max(1) as f64),
            _ => None,
        };
        vec![
            load.recipe.name().into(),
            (load.bytes as u64).into(),
            self.mode.name().into(),
            self.due.into(),
            self.completed().into(),
            p50_ns.into(),
            self.response_ns(99.0).into(),
            times_lower.into(),
            percentile(&self.stall, 50.0).into(),
            percentile(&self.stall, 99.0).into(),
            max(&self.stall).into(),
            self.over_long().into(),
            over_p99.into(),
            over_max.into(),
            percentile(&self.late, 99.0).into(),
        ]
    }
}

/// A percentile, if there are enough samples.
fn percentile(recording: &Recording, p: f64) -> Option<u64> {
    recording.latency().percentile(p)
}

fn max(recording: &Recording) -> Option<u64> {
    recording.latency().max_ns
}
