//! Gates over the rows of a report: whether a run can have them, and what they make of it.

use latency::Gate;
use latency::report::{GateResult, GateVerdict, Latency, LatencyName, Report, StatedTimes};

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

/// Refuses gates on a series that a report which was read does not have: a name that is misspelt.
///
/// # Errors
///
/// [`Error::NoSeries`] for the first of them.
pub fn check_series(gates: &[Gate], rows: &[Latency], stated: &[StatedTimes]) -> Result<(), Error> {
    let labels = rows.iter().filter_map(|row| row.series.as_deref());
    let mut known: Vec<&str> = Vec::new();
    for name in labels.chain(stated.iter().map(|row| row.name.as_str())) {
        if known.last() != Some(&name) {
            known.push(name);
        }
    }
    let is_misspelt = |gate: &&Gate| gate.series().is_some_and(|series| !known.contains(&series));
    match gates.iter().find(is_misspelt) {
        Some(gate) => Err(Error::NoSeries {
            gate: gate.to_string(),
            series: gate.series().unwrap_or_default().to_owned(),
            known: known.into_iter().map(str::to_owned).collect(),
        }),
        None => Ok(()),
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
/// cannot decide passes; one on a row or a number that the report does not have never does.
#[must_use]
pub fn status(report: &Report, undecided_passes: bool) -> ExitStatus {
    status_of(&report.gates, undecided_passes)
}

fn status_of(gates: &[GateResult], undecided_passes: bool) -> ExitStatus {
    if gates.iter().any(|gate| gate.verdict == GateVerdict::Fail) {
        ExitStatus::Gate
    } else if gates
        .iter()
        .any(|gate| is_undecided(gate, undecided_passes))
    {
        ExitStatus::Inconclusive
    } else {
        ExitStatus::Ok
    }
}

pub(crate) fn is_undecided(gate: &GateResult, undecided_passes: bool) -> bool {
    gate.verdict == GateVerdict::Inconclusive && (!undecided_passes || is_about_nothing(gate))
}

/// Whether the report has nothing that the gate could be about.
fn is_about_nothing(gate: &GateResult) -> bool {
    gate.row.is_none() && gate.value_ns.is_none() && gate.value.is_none()
}

/// A line for each gate that made a run end with `status`, or was missed by one that ended otherwise: what was
/// asked, and what was found.
#[must_use]
pub fn reasons(report: &Report, status: ExitStatus) -> Vec<String> {
    reasons_of(&report.gates, status)
}

fn reasons_of(gates: &[GateResult], status: ExitStatus) -> Vec<String> {
    let (verdict, how) = match status {
        ExitStatus::Inconclusive => (GateVerdict::Inconclusive, "not decided"),
        _ => (GateVerdict::Fail, "missed"),
    };
    let decisive = gates.iter().filter(|gate| gate.verdict == verdict);
    let lines = decisive.map(|gate| format!("{} {how}: {}", gate.gate, gate.reason));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(verdict: GateVerdict, row: Option<&str>, value: Option<f64>) -> GateResult {
        GateResult {
            gate: "p99<=1ms".to_owned(),
            row: row.map(str::to_owned),
            value_ns: None,
            ci95_ns: None,
            limit_ns: None,
            value,
            limit: None,
            verdict,
            reason: String::new(),
        }
    }

    #[test]
    fn what_the_report_does_not_have_is_never_excused() {
        let too_few = || result(GateVerdict::Inconclusive, Some("service"), None);
        let no_row = || result(GateVerdict::Inconclusive, None, None);
        let number = || result(GateVerdict::Inconclusive, None, Some(0.5));
        let passed = || result(GateVerdict::Pass, Some("service"), None);
        for (gates, strict, lenient) in [
            (vec![], ExitStatus::Ok, ExitStatus::Ok),
            (vec![passed()], ExitStatus::Ok, ExitStatus::Ok),
            (vec![too_few()], ExitStatus::Inconclusive, ExitStatus::Ok),
            (vec![number()], ExitStatus::Inconclusive, ExitStatus::Ok),
            (
                vec![no_row()],
                ExitStatus::Inconclusive,
                ExitStatus::Inconclusive,
            ),
            (
                vec![passed(), no_row()],
                ExitStatus::Inconclusive,
                ExitStatus::Inconclusive,
            ),
        ] {
            assert_eq!(status_of(&gates, false), strict);
            assert_eq!(status_of(&gates, true), lenient);
        }
    }

    #[test]
    fn a_missed_gate_is_named_whatever_else_went_wrong() {
        let missed = result(GateVerdict::Fail, Some("service"), None);
        let undecided = result(GateVerdict::Inconclusive, Some("service"), None);
        let gates = [undecided, missed];
        for status in [ExitStatus::Gate, ExitStatus::Partial, ExitStatus::Failure] {
            let lines = reasons_of(&gates, status);
            assert_eq!(lines.len(), 1, "{status:?}");
            assert!(lines[0].starts_with("p99<=1ms missed"), "{lines:?}");
        }
        let undecided = &gates[..1];
        assert_eq!(reasons_of(undecided, ExitStatus::Inconclusive).len(), 1);
        assert_eq!(reasons_of(undecided, ExitStatus::Partial).len(), 0);
    }
}
