//! All parts of a plan, and their report.

use latency::compare::Names;
use latency::report::{Latency, LatencyName, Timing};
use latency::{Recorder, Schedule, Spec};
use report::{Outcome, verdicts};

use super::open::Recorders;
use super::side::{Kind, Visit};
use super::tables::{Echoed, Opened, Resends};
use super::{Plan, SESSIONS_MAX, closed, memory, open, resend, tables};
use crate::{Checks, Context, Error, Paired, paired};

/// Messages of a turn that warms up.
const WARM: u64 = 500;

/// Measures the parts of a plan, and adds their tables, distributions and comparisons to the outcome.
///
/// # Errors
/// [`Error::Stopped`] if the watcher stops it, [`Error::Settings`] for a number of sessions that cannot be,
/// [`Error::Io`] if a store cannot be made, and [`Error::Failed`] if an engine fails or cannot be reached.
pub fn run(plan: &Plan, context: Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
    if let Some(wrong) = plan
        .sessions
        .iter()
        .find(|n| !(1..=SESSIONS_MAX).contains(*n))
    {
        return Err(Error::settings(format!(
            "{wrong} sessions: expected 1 to {SESSIONS_MAX}"
        )));
    }
    let mut checks = Checks::default();
    let grown = memory::measure(plan, context.watch)?;
    let (mut echoed, mut opened) = (Vec::new(), Vec::new());
    for sessions in &plan.sessions {
        echoed.extend(echo(plan, *sessions, context, outcome, &mut checks)?);
        if let Some(rate) = plan.rate {
            opened.extend(open_loop(
                plan,
                *sessions,
                rate,
                context,
                outcome,
                &mut checks,
            )?);
        }
    }
    outcome.tables.push(tables::echo(plan, &echoed));
    if let Some(rate) = plan.rate {
        outcome.tables.push(tables::open(plan, rate, &opened));
    }
    if plan.resend > 0 {
        let rows = resends(plan, context, outcome, &mut checks)?;
        outcome.tables.push(tables::resends(plan, &rows));
    }
    if !grown.is_empty() {
        outcome.tables.push(tables::memory(plan, &grown));
    }
    let method = "every answer with the order that was sent, numbers in order";
    checks.conclude(method, outcome, context.watch.is_stopped());
    outcome.findings = verdicts::findings(&outcome.comparisons);
    Ok(())
}

/// All sides: the first is the baseline, and the control is the same once more.
fn sides(plan: &Plan, first: Option<Kind>) -> Vec<Kind> {
    let mut sides: Vec<Kind> = first.into_iter().collect();
    sides.extend(plan.transports.iter().copied().map(Kind::Acceptor));
    sides.extend(plan.other.iter().map(|_| Kind::Other));
    let first = sides.first().copied();
    sides.extend(first);
    sides
}

fn recorder(context: Context<'_>, name: LatencyName, what: &str, sessions: u32) -> Recorder {
    let series = match sessions {
        1 => format!("{what}, 1 session"),
        _ => format!("{what}, {sessions} sessions"),
    };
    let timing = match name {
        LatencyName::Response => Timing::Intended,
        _ => Timing::Actual,
    };
    let operation = if name == LatencyName::Hold {
        "call"
    } else {
        "message"
    };
    let spec = Spec::new(name, operation).series(series).timing(timing);
    Recorder::new(context.run.spec(spec), context.run.started())
}

/// Finishes a recorder; the last side is a control, which is not shown.
fn finish(recorder: Recorder, is_control: bool, outcome: &mut Outcome) -> Option<Latency> {
    if recorder.is_empty() {
        return None;
    }
    let recording = recorder.finish();
    if !is_control {
        outcome.ops = Some(outcome.ops.unwrap_or(0) + recording.latency().n);
        outcome.add(&recording);
    }
    Some(recording.latency())
}

/// One message in flight in each session.
fn echo(
    plan: &Plan,
    sessions: u32,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<Vec<Echoed>, Error> {
    let kinds = sides(plan, Some(Kind::Raw));
    let row = format!("echo, {sessions} sessions");
    let mut recorders: Vec<_> = kinds
        .iter()
        .map(|kind| {
            recorder(
                context,
                LatencyName::Service,
                &format!("echo, {}", kind.name(plan)),
                sessions,
            )
        })
        .collect();
    let mut rows: Vec<_> = kinds
        .iter()
        .map(|kind| Echoed::new(*kind, sessions))
        .collect();
    let messages = u64::from(plan.messages).max(u64::from(sessions));
    for kind in &kinds[..kinds.len() - 1] {
        let mut warm = recorder(context, LatencyName::Service, "warm", sessions);
        visit(plan, *kind, sessions, context)
            .run(|client| closed::turn(client, WARM, &mut warm))?;
    }
    let measured = paired(kinds.len(), plan.rounds, plan.seed, |turn| {
        let (recorder, row) = (&mut recorders[turn.side], &mut rows[turn.side]);
        let visit = visit(plan, kinds[turn.side], sessions, context);
        let (found, served) = visit.run(|client| closed::turn(client, messages, recorder))?;
        checks.add(found.messages, found.wrong);
        row.add(&found, &served);
        Ok::<_, Error>(Some(found.median_ns))
    })?;
    compare(plan, &row, &kinds, &measured, outcome);
    let last = kinds.len() - 1;
    for (at, (row, recorder)) in rows.iter_mut().zip(recorders).enumerate() {
        row.latency = finish(recorder, at == last, outcome);
    }
    Ok(rows)
}

fn visit<'a>(plan: &'a Plan, kind: Kind, sessions: u32, context: Context<'a>) -> Visit<'a> {
    Visit {
        plan,
        kind,
        sessions,
        is_durable: plan.is_durable,
        keeps_times: false,
        watch: context.watch,
    }
}

/// Compares each side with the first.
fn compare(plan: &Plan, row: &str, kinds: &[Kind], measured: &Paired, outcome: &mut Outcome) {
    let Some((first, rest)) = kinds.split_first() else {
        return;
    };
    for (side, kind) in rest.iter().enumerate().take(rest.len().saturating_sub(1)) {
        let names = Names {
            row,
            baseline: first.name(plan),
            target: kind.name(plan),
        };
        outcome
            .comparisons
            .push(measured.compare(names, side + 1, 1));
    }
}

/// Messages when they are due.
fn open_loop(
    plan: &Plan,
    sessions: u32,
    rate: f64,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<Vec<Opened>, Error> {
    let schedule = Schedule::uniform(rate).map_err(|error| Error::settings(error.to_string()))?;
    let kinds = sides(plan, Some(Kind::Raw));
    let new = |name, kind: &Kind| {
        let what = format!("open loop, {}", kind.name(plan));
        recorder(context, name, &what, sessions)
    };
    let mut recorders: Vec<_> = kinds
        .iter()
        .map(|kind| {
            let times = Recorders {
                service: new(LatencyName::Service, kind),
                response: new(LatencyName::Response, kind),
            };
            (times, new(LatencyName::Hold, kind))
        })
        .collect();
    let mut rows: Vec<_> = kinds
        .iter()
        .map(|kind| Opened::new(*kind, sessions))
        .collect();
    let measured = paired(kinds.len(), plan.rounds, plan.seed, |turn| {
        let (times, holds) = &mut recorders[turn.side];
        let visit = Visit {
            keeps_times: true,
            ..visit(plan, kinds[turn.side], sessions, context)
        };
        let schedule = schedule.clone();
        let (found, served) =
            visit.run(|client| open::turn(client, schedule, plan.duration, times))?;
        checks.add(found.messages, found.wrong);
        for ns in &served.calls_ns {
            holds.record_ns(*ns);
        }
        rows[turn.side].add(&found.load);
        Ok::<_, Error>(Some(found.median_ns))
    })?;
    let row = format!("open loop, {sessions} sessions");
    compare(plan, &row, &kinds, &measured, outcome);
    let last = kinds.len() - 1;
    for (at, (row, (times, holds))) in rows.iter_mut().zip(recorders).enumerate() {
        row.service = finish(times.service, at == last, outcome);
        row.response = finish(times.response, at == last, outcome);
        row.hold = finish(holds, at == last, outcome);
    }
    Ok(rows)
}

/// Everything sent again, out of durable stores.
fn resends(
    plan: &Plan,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<Vec<Resends>, Error> {
    let kinds = sides(plan, None);
    let messages = u64::from(plan.resend);
    let mut ask = |kind: Kind| {
        let visit = Visit {
            is_durable: true,
            ..visit(plan, kind, 1, context)
        };
        let (found, _) = visit.run(|client| resend::turn(client, messages))?;
        checks.add(2 * found.messages, found.wrong);
        Ok::<_, Error>(found.ns)
    };
    for kind in kinds.iter().take(kinds.len().saturating_sub(1)) {
        ask(*kind)?;
    }
    let measured = paired(kinds.len(), plan.rounds, plan.seed, |turn| {
        ask(kinds[turn.side]).map(Some)
    })?;
    compare(plan, "resend", &kinds, &measured, outcome);
    let rows = kinds.iter().enumerate().map(|(side, kind)| Resends {
        kind: *kind,
        messages,
        ns: measured.median(side),
    });
    Ok(rows.collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use report::{Run, RunOptions};

    use super::*;
    use crate::fix::session::Transport;

    #[test]
    #[ignore = "long: cargo xtask ci runs it"]
    fn every_side_answers_in_one_run() {
        let plan = Plan {
            sessions: vec![1, 7],
            transports: vec![Transport::Epoll, Transport::Busy],
            messages: 300,
            rounds: 2,
            rate: Some(5_000.0),
            duration: Duration::from_millis(50),
            resend: 500,
            ..Plan::default()
        };
        let run_of = Run::start(RunOptions::new("test", "0", "fix-bench")).unwrap();
        let context = Context {
            run: &run_of,
            watch: &(),
        };
        let mut outcome = Outcome::new("fix-bench");
        run(&plan, context, &mut outcome).unwrap();
        let validation = outcome.validation.unwrap();
        assert!(
            validation.ok && validation.checked > 8 * 600,
            "{validation:?}"
        );
        let lengths = outcome.tables.iter().map(|table| table.rows.len());
        assert_eq!(lengths.collect::<Vec<_>>(), [8, 8, 3, 1]);
        let none = Plan {
            sessions: vec![0],
            ..plan
        };
        let error = run(&none, context, &mut Outcome::new("fix-bench")).unwrap_err();
        assert!(error.to_string().contains("0 sessions"), "{error}");
    }
}
