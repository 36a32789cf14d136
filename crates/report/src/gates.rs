//! Gates over the rows of a report: whether a run can have them, and what they make of it.

use latency::Gate;
use latency::report::{GateVerdict, LatencyName, Report};

use crate::{Asked, Error, ExitStatus};

/// Refuses gates and an exported row that a run with these `rows` will not have, before it is run for
/// nothing.
///
/// # Errors
///
/// [`Error::NoRow`] for the first of them.
pub fn check_rows(gates: &[Gate], row: Option<&str>, rows: &[LatencyName]) -> Result<(), Error> {
    let has = |name: &str| rows.iter().any(|row| row.as_str() == name);
    let lacks = |asked: Asked, row: Option<&str>| Error::NoRow {
        asked,
        row: row.map(str::to_owned),
        rows: rows.to_vec(),
    };
    for gate in gates {
        let name = gate.name().map(LatencyName::as_str);
        if !gate.is_latency() {
            continue;
        }
        if rows.is_empty() || name.is_some_and(|name| !has(name)) {
            return Err(lacks(Asked::Gate(gate.to_string()), name));
        }
    }
    match row {
        Some(row) if !has(row) => Err(lacks(Asked::Row(row.to_owned()), Some(row))),
        _ => Ok(()),
    }
}

/// Decides the gates over a report, and puts the verdicts into it.
pub fn decide(gates: &[Gate], report: &mut Report) {
    let decided: Vec<_> = gates
        .iter()
        .map(|gate| gate.decide_report(report))
        .collect();
    report.gates = decided;
}

/// How a run that went well ends by the gates of its report. With `undecided_passes` a gate that the samples
/// cannot decide passes.
#[must_use]
pub fn status(report: &Report, undecided_passes: bool) -> ExitStatus {
    let any = |verdict| report.gates.iter().any(|gate| gate.verdict == verdict);
    if any(GateVerdict::Fail) {
        ExitStatus::Gate
    } else if !undecided_passes && any(GateVerdict::Inconclusive) {
        ExitStatus::Inconclusive
    } else {
        ExitStatus::Ok
    }
}

/// A line for each gate that made a run end with `status`: what was asked, and what was found.
#[must_use]
pub fn reasons(report: &Report, status: ExitStatus) -> Vec<String> {
    let (verdict, how) = match status {
        ExitStatus::Gate => (GateVerdict::Fail, "missed"),
        ExitStatus::Inconclusive => (GateVerdict::Inconclusive, "not decided"),
        _ => return Vec::new(),
    };
    let decisive = report.gates.iter().filter(|gate| gate.verdict == verdict);
    let lines = decisive.map(|gate| format!("{} {how}: {}", gate.gate, gate.reason));
    lines.collect()
}
