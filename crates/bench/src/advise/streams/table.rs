//! The tables: a row a way, what waiting for memory has cost, and the advice.

use latency::Recording;
use latency::report::{Table, Unit};

use super::Shown;
use super::way::Way;

const COLUMNS: [(&str, Unit); 14] = [
    ("way", Unit::Text),
    ("completed", Unit::Count),
    ("wall_ns", Unit::Nanoseconds),
    ("cpu_ns", Unit::Nanoseconds),
    ("ratio", Unit::Ratio),
    ("stream_p50_ns", Unit::Nanoseconds),
    ("stream_max_ns", Unit::Nanoseconds),
    ("overtaken_by", Unit::Count),
    ("stall_p50_ns", Unit::Nanoseconds),
    ("stall_p99_ns", Unit::Nanoseconds),
    ("stall_max_ns", Unit::Nanoseconds),
    ("excess_p99_ns", Unit::Nanoseconds),
    ("call_late_p99_ns", Unit::Nanoseconds),
    ("contexts_bytes", Unit::Bytes),
];

const MEMORY_COLUMNS: [(&str, Unit); 4] = [
    ("budget_bytes", Unit::Bytes),
    ("waited", Unit::Count),
    ("longest_wait_ns", Unit::Nanoseconds),
    ("beyond_budget", Unit::Count),
];

/// The table of the ways, and that of waits for memory.
pub(super) fn tables(ways: &[Shown]) -> [Table; 2] {
    let idle = ways.iter().find(|shown| shown.found.way == Way::Idle);
    let idle_p99 = idle.and_then(|idle| percentile(&idle.stall, 99.0));
    let mut streams = Table::new("streams", &COLUMNS);
    let mut memory = Table::new("context_memory", &MEMORY_COLUMNS);
    for shown in ways {
        let (found, stall) = (&shown.found, &shown.stall);
        let p99 = percentile(stall, 99.0);
        let excess = p99
            .zip(idle_p99)
            .map(|(own, idle)| own.saturating_sub(idle));
        let works = found.way != Way::Idle && found.wall_ns.is_some();
        streams.rows.push(vec![
            found.way.name().into(),
            works.then_some(found.completed).into(),
            found.wall_ns.into(),
            found.cpu_ns.into(),
            found.ratio.into(),
            found.stream_p50_ns.into(),
            found.stream_max_ns.into(),
            works.then_some(found.overtaken).into(),
            percentile(stall, 50.0).into(),
            p99.into(),
            stall.latency().max_ns.into(),
            excess.into(),
            percentile(&shown.late, 99.0).into(),
            found.contexts_bytes.into(),
        ]);
        if found.way == Way::Async && works {
            memory.rows.push(vec![
                found.stats.budget_bytes.into(),
                found.stats.waited.into(),
                found.stats.longest_wait_ns.into(),
                found.stats.beyond_budget.into(),
            ]);
        }
    }
    [streams, memory]
}

/// What to do, as a table of one cell.
pub(super) fn advice(sentence: String) -> Table {
    let mut table = Table::new("advice", &[("advice", Unit::Text)]);
    table.rows.push(vec![sentence.into()]);
    table
}

fn percentile(recording: &Recording, p: f64) -> Option<u64> {
    recording.latency().percentile(p)
}
