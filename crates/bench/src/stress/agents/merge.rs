//! The reports of agents as one outcome: histograms added up, every agent in a table, and what is wrong with any.

use latency::report::{
    Cell, Environment, GeneratorLate, Latency, LatencyName, Load, Report, Resources, SlowSample,
    Table, Unit, Validation, finite,
};
use report::{Before, ExitStatus, Outcome, units};

use super::lead::{Ended, Member};
use super::part::SharedPlan;
use crate::Error;

/// The share of starts that may be late before an agent counts as late itself.
pub const LATE_SHARE_MAX: f64 = 0.01;

const COLUMNS: [(&str, Unit); 9] = [
    ("agent", Unit::Text),
    ("verdict", Unit::Text),
    ("late_starts", Unit::Share),
    ("blocks", Unit::Count),
    ("response_p50_ns", Unit::Nanoseconds),
    ("response_p99_ns", Unit::Nanoseconds),
    ("response_max_ns", Unit::Nanoseconds),
    ("rate_per_s", Unit::PerSecond),
    ("achieved_per_s", Unit::PerSecond),
];

/// Where the rate stands in them.
const RATE: usize = 7;

const MACHINES: [(&str, Unit); 5] = [
    ("agent", Unit::Text),
    ("start_within_ns", Unit::Nanoseconds),
    ("cpus", Unit::Count),
    ("processor", Unit::Text),
    ("kernel", Unit::Text),
];

/// What is wrong with an agent, which fails the run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentComplaint {
    /// It ended without a report.
    #[error("agent {name} is not in this report: it {reason}")]
    Gone {
        /// Which.
        name: String,
        /// Why.
        reason: String,
    },
    /// It did not start its blocks when they were due.
    #[error(
        "agent {name} was late: {} of its blocks started over {above} after they were due, and at most {} may",
        units::percent(*.share), units::percent(LATE_SHARE_MAX)
    )]
    Late {
        /// Which.
        name: String,
        /// The share of its starts that were late.
        share: f64,
        /// From when on one is late.
        above: String,
    },
    /// Its own run failed.
    #[error("agent {name} ended with {code}{}", .found.as_ref().map(|found| format!(": {found}")).unwrap_or_default())]
    Failed {
        /// Which.
        name: String,
        /// Its exit code.
        code: u8,
        /// What it found.
        found: Option<String>,
    },
}

impl AgentComplaint {
    fn status(&self) -> ExitStatus {
        match self {
            Self::Gone { .. } => ExitStatus::Partial,
            Self::Late { .. } => ExitStatus::Gate,
            // Whoever stopped it did not stop this run.
            Self::Failed { code, .. } if *code == ExitStatus::Interrupted.code() => {
                ExitStatus::Partial
            }
            Self::Failed { code, .. } => {
                let same = |status: &ExitStatus| status.code() == *code;
                let found = ExitStatus::ALL.into_iter().find(same);
                found.unwrap_or(ExitStatus::Failure)
            }
        }
    }
}

/// Adds the reports of all agents to an outcome. Histograms are added, so that each is what one recorder of all values
/// would have; minimum, maximum and the percentiles are those of all. `was_stopped`: whether the user ended the run early.
///
/// # Errors
///
/// If reports of one version do not add up.
pub fn merge(
    members: &[Member],
    plan: &SharedPlan,
    was_stopped: bool,
    outcome: &mut Outcome,
) -> Result<Vec<AgentComplaint>, Error> {
    let mut table = Table::new("agents", &COLUMNS);
    let mut machines = Table::new("machines of the agents", &MACHINES);
    let mut complaints = Vec::new();
    let mut reports: Vec<(&Member, &Report)> = Vec::new();
    let rate = plan.rate_per_s() / members.len().max(1) as f64;
    for member in members {
        let name = member.name();
        match member.ended() {
            Some(Ended::Reported(report)) => {
                reports.push((member, report));
                let found = judge(name, report, plan, was_stopped);
                table.rows.push(row(member, report, &found));
                machines.rows.push(machine(member, report));
                complaints.extend(found);
            }
            other => {
                let reason = match other {
                    Some(Ended::Gone(reason)) => reason.clone(),
                    _ => "did not report".to_owned(),
                };
                let none = Cell::from(None::<u64>);
                let mut cells = vec![none; COLUMNS.len()];
                (cells[0], cells[1]) = (name.into(), "GONE".into());
                cells[RATE] = rate.into();
                table.rows.push(cells);
                let name = name.to_owned();
                complaints.push(AgentComplaint::Gone { name, reason });
            }
        }
    }
    add_up(&reports, plan, outcome)?;
    outcome.findings.insert(0, sentence(members.len(), &table));
    outcome.tables.insert(0, table);
    outcome.tables.push(machines);
    if reports.len() < members.len() || reports.iter().any(|(_, report)| !report.complete) {
        outcome.complete = false;
    }
    // A wrong answer is worse than a missing one, and that is worse than a late one.
    let worst = [ExitStatus::Failure, ExitStatus::Partial, ExitStatus::Gate];
    let has = |status: &ExitStatus| complaints.iter().any(|one| one.status() == *status);
    let others = complaints.iter().map(AgentComplaint::status);
    let status = worst.into_iter().find(has).or(others.max());
    outcome.status = match (was_stopped, status) {
        (true, _) => ExitStatus::Interrupted,
        (false, Some(status)) => status,
        (false, None) => outcome.status,
    };
    Ok(complaints)
}

fn judge(
    name: &str,
    report: &Report,
    plan: &SharedPlan,
    was_stopped: bool,
) -> Option<AgentComplaint> {
    let name = name.to_owned();
    let share = report.load.late_start_ratio.unwrap_or(0.0);
    let interrupted = ExitStatus::Interrupted.code();
    match report.exit_code {
        // The lead stopped it, and says why itself; a run of any length can be late.
        code if code != 0 && code != interrupted => Some(AgentComplaint::Failed {
            name,
            code,
            found: report.findings.first().cloned(),
        }),
        _ if share > LATE_SHARE_MAX => Some(AgentComplaint::Late {
            name,
            share,
            above: units::duration(plan.late_above().as_nanos() as f64),
        }),
        code if code == interrupted && !was_stopped => Some(AgentComplaint::Failed {
            name,
            code,
            found: Some("it was stopped early".to_owned()),
        }),
        _ => None,
    }
}

fn row(member: &Member, report: &Report, found: &Option<AgentComplaint>) -> Vec<Cell> {
    let load = &report.load;
    let verdict = match found {
        Some(AgentComplaint::Late { .. }) => "LATE",
        Some(_) => "FAILED",
        None if load.saturated => "SATURATED",
        None => "in time",
    };
    let response = report
        .latencies
        .iter()
        .find(|row| row.name == LatencyName::Response);
    let percentile = |p| response.and_then(|row| row.percentile(p));
    vec![
        member.name().into(),
        verdict.into(),
        load.late_start_ratio.into(),
        response_n(report).into(),
        percentile(50.0).into(),
        percentile(99.0).into(),
        response.and_then(|row| row.max_ns).into(),
        load.rate_target_per_s.into(),
        load.rate_achieved_per_s.into(),
    ]
}

/// Where an agent ran, and within which time it heard of the start.
fn machine(member: &Member, report: &Report) -> Vec<Cell> {
    let round_trip = member
        .round_trip()
        .map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    let Environment {
        logical_cpus,
        cpu_model,
        kernel,
        ..
    } = &report.environment;
    let text = |text: &Option<String>| text.clone().map_or(Cell::from(None::<u64>), Cell::from);
    vec![
        member.name().into(),
        round_trip.into(),
        logical_cpus.map(u64::from).into(),
        text(cpu_model),
        text(kernel),
    ]
}

/// The verdict on all agents.
fn sentence(of: usize, table: &Table) -> String {
    let said = |verdict: &str| {
        let is = |row: &&Vec<Cell>| row.get(1) == Some(&Cell::from(verdict));
        table.rows.iter().filter(is).count()
    };
    let in_time = said("in time");
    let others = [
        ("LATE", "late"),
        ("GONE", "gone"),
        ("FAILED", "failed"),
        ("SATURATED", "saturated"),
    ];
    let agents = units::counted(of as u64, ["agent", "agents"]);
    let mut text = match in_time {
        _ if of == 0 => "no agents".to_owned(),
        all if all == of => format!("{agents}, all in time"),
        some => format!("{agents}, {some} in time"),
    };
    for (verdict, word) in others {
        match said(verdict) {
            0 => {}
            count => text += &format!(", {count} {word}"),
        }
    }
    text + "."
}

fn add_up(
    reports: &[(&Member, &Report)],
    plan: &SharedPlan,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let failed = |name: &str, error: &dyn std::fmt::Display| {
        Error::new(format!(
            "the report of agent {name} does not add up: {error}"
        ))
    };
    let mut rows: Vec<Latency> = Vec::new();
    let mut load: Option<(Load, u64)> = None;
    let mut validation: Option<Validation> = None;
    let mut resources = Resources::default();
    let mut environment: Option<Environment> = None;
    for (nth, (member, report)) in reports.iter().enumerate() {
        let name = member.name();
        for row in &report.latencies {
            let same = |sum: &&mut Latency| {
                (&sum.series, sum.name, &sum.operation) == (&row.series, row.name, &row.operation)
            };
            match rows.iter_mut().find(same) {
                Some(sum) => sum.merge(row).map_err(|error| failed(name, &error))?,
                None => rows.push(Latency {
                    intervals: Vec::new(),
                    log_parts: Vec::new(),
                    buckets: row.buckets.clone().filter(|_| reports.len() == 1),
                    ..row.clone()
                }),
            }
        }
        let slow = report.slowest.iter().map(|sample| SlowSample {
            what: format!("{name}: {}", sample.what),
            ..sample.clone()
        });
        outcome.slowest.extend(slow);
        let started = response_n(report);
        load = Some(match load {
            None => (report.load.clone(), started),
            Some(sum) => add_load(sum, &report.load, started),
        });
        if let Some(own) = &report.validation {
            validation = Some(match validation {
                None => own.clone(),
                Some(sum) => Validation {
                    checked: sum.checked.saturating_add(own.checked),
                    ok: sum.ok && own.ok,
                    wrong: sum.wrong.saturating_add(own.wrong),
                    wrong_by_faults: sum.wrong_by_faults.saturating_add(own.wrong_by_faults),
                    ..sum
                },
            });
        }
        let through = &report.throughput;
        outcome.bytes_in = outcome.bytes_in.saturating_add(through.bytes_in);
        outcome.bytes_out = outcome.bytes_out.saturating_add(through.bytes_out);
        outcome.ops = Some(outcome.ops.unwrap_or(0).saturating_add(started));
        add_resources(&mut resources, &report.resources, nth == 0);
        environment = Some(match environment {
            None => report.environment.clone(),
            Some(sum) => sum.common(&report.environment),
        });
        if nth == 0 {
            outcome.workload.inputs.clone_from(&report.workload.inputs);
            outcome.workload.inputs_total = report.workload.inputs_total;
        }
    }
    outcome.latencies = rows;
    outcome.validation = validation;
    if let Some((load, _)) = load {
        outcome.load = Load {
            // What was asked for, whoever is gone.
            rate_target_per_s: finite(plan.rate_per_s()),
            ..load
        };
    }
    outcome.bytes_content = match plan.is_honest() {
        true => outcome.bytes_in,
        false => outcome.bytes_out,
    };
    let starts = reports
        .iter()
        .filter_map(|(_, report)| report.started_at.clone());
    let times = reports.iter().filter_map(|(_, report)| report.duration_ns);
    outcome.done_before = Some(Before {
        started_at: starts.min(),
        duration_ns: times.max(),
        environment: Environment {
            // They have just ended.
            stated: reports.is_empty(),
            ..environment.unwrap_or_else(Environment::unknown)
        },
        resources: (!reports.is_empty()).then_some(resources),
    });
    Ok(())
}

fn response_n(report: &Report) -> u64 {
    let mut rows = report.latencies.iter();
    rows.find(|row| row.name == LatencyName::Response)
        .map_or(0, |row| row.n)
}

/// Loads that ran at the same time, each with its number of starts.
fn add_load((sum, n): (Load, u64), other: &Load, m: u64) -> (Load, u64) {
    let add = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b);
    let late = sum.late_start_ratio.zip(other.late_start_ratio);
    let late = late.map(|(a, b)| (a * n as f64 + b * m as f64) / n.saturating_add(m).max(1) as f64);
    let generator_late = match (&sum.generator_late, &other.generator_late) {
        // Of percentiles there is no sum; the latest start is known.
        (Some(a), Some(b)) => Some(GeneratorLate {
            n: a.n.saturating_add(b.n),
            p50_ns: None,
            p99_ns: None,
            max_ns: a.max_ns.max(b.max_ns),
        }),
        (one, other) => one.clone().or_else(|| other.clone()),
    };
    let load = Load {
        rate_achieved_per_s: add(sum.rate_achieved_per_s, other.rate_achieved_per_s),
        late_start_ratio: late,
        backlog_max: sum
            .backlog_max
            .zip(other.backlog_max)
            .map(|(a, b)| a.saturating_add(b)),
        saturated: sum.saturated || other.saturated,
        generator_late,
        ..sum
    };
    (load, n.saturating_add(m))
}

/// What all processes took; the memory is that of the largest.
fn add_resources(sum: &mut Resources, other: &Resources, is_first: bool) {
    if is_first {
        *sum = other.clone();
        return;
    }
    let add = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.saturating_add(b));
    sum.cpu_user_ns = add(sum.cpu_user_ns, other.cpu_user_ns);
    sum.cpu_system_ns = add(sum.cpu_system_ns, other.cpu_system_ns);
    sum.page_faults_major = add(sum.page_faults_major, other.page_faults_major);
    sum.rss_max_bytes = sum.rss_max_bytes.max(other.rss_max_bytes);
}
