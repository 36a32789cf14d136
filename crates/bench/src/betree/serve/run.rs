//! Loads expressions, runs the load, and reports.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use betree::workload::shapes::{self, Conjunctions, Drawer, Plain, Shape, SimpleIndex};
use latency::report::{Table, Unit};
use latency::{Pacer, Recorder, Schedule, SplitMix64};
use report::Outcome;

use super::Plan;
use super::client::Client;
use super::load::{Loop, Pace, Request};
use crate::{Checks, Context, Error};

/// Events that requests are made of; they come again and again.
const EVENTS: usize = 20_000;
/// Subscriptions that come and go while events are matched. Their ids follow on the constant ones.
const CHANGING: u64 = 1_000;
/// How often it is asked whether the run has to stop.
const LOOK: Duration = Duration::from_millis(20);
/// Expressions of a request while they are loaded.
const LOADED_AT_A_TIME: usize = 5_000;

fn shape(plan: &Plan) -> Result<Shape, Error> {
    let named = shapes::named();
    let names: Vec<&str> = named.iter().map(|shape| shape.name.as_str()).collect();
    let unknown = || {
        let (name, names) = (&plan.shape, names.join("', '"));
        Error::settings(format!("there is no shape '{name}'; there are '{names}'"))
    };
    let found = named.iter().find(|shape| shape.name == plan.shape);
    found.cloned().ok_or_else(unknown)
}

/// The domains that the matcher must have.
///
/// # Errors
/// A shape that does not exist.
pub fn domains(plan: &Plan) -> Result<String, Error> {
    Ok(shape(plan)?.domains())
}

/// Measures a matcher that listens at `address`, and adds what was found to the outcome.
///
/// # Errors
/// [`Error::Failed`] where the matcher cannot be reached or refuses what it must not. A run that the watcher stops
/// has what was measured until then.
pub fn run(
    plan: &Plan,
    address: SocketAddr,
    context: Context<'_>,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let mut drawer = Drawer::new(shape(plan)?, plan.seed);
    let expressions: Vec<Conjunctions> =
        (0..plan.expressions).map(|_| drawer.expression()).collect();
    let begun = Instant::now();
    fill(drawer.shape(), &expressions, address, context)?;
    let filling = begun.elapsed();
    let events: Vec<Plain> = (0..EVENTS).map(|_| drawer.event()).collect();
    let requests = requests(drawer.shape(), &events, plan.batch as usize);
    let changes = changes(&mut drawer, plan);
    // Connections take turns, each a fraction of its period after the one before.
    let rate = plan.rate / f64::from(plan.batch);
    let schedules = Schedule::uniform_turns(rate, plan.connections as usize)
        .map_err(|error| Error::settings(error.to_string()))?;
    let stop = AtomicBool::new(false);
    let pace = Pace {
        run: context.run,
        stop: &stop,
        address,
        duration: plan.duration,
        start: Instant::now() + Duration::from_millis(50),
    };
    let (readers, writer) = std::thread::scope(|scope| {
        let readers: Vec<_> = schedules
            .into_iter()
            .enumerate()
            .map(|(at, schedule)| {
                let requests = &requests;
                let first = at * requests.len() / plan.connections as usize;
                scope.spawn(move || pace.send(schedule, "match", requests, first))
            })
            .collect();
        let writer = Schedule::uniform(plan.changes_rate)
            .ok()
            .map(|schedule| scope.spawn(|| pace.send(schedule, "change", &changes, 0)));
        let running = || {
            let writes = writer.as_ref().is_some_and(|thread| !thread.is_finished());
            writes || readers.iter().any(|thread| !thread.is_finished())
        };
        while running() {
            stop.store(context.watch.is_stopped(), Relaxed);
            std::thread::sleep(LOOK);
        }
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<Loop, Error>>| {
            let panicked = |_| Error::broken("a thread panicked");
            thread.join().map_err(panicked)?
        };
        let readers: Result<Vec<Loop>, Error> = readers.into_iter().map(join).collect();
        (readers, writer.map(join).transpose())
    });
    let (readers, writer) = (readers?, writer?);
    let mut checks = Checks::default();
    check(
        &expressions,
        &events,
        plan.batch as usize,
        &readers,
        &mut checks,
    );
    // Every change is one that the matcher takes.
    if let Some(writer) = &writer {
        checks.add(writer.done, writer.refused);
    }
    report(plan, filling, pace.start, (readers, writer), outcome)?;
    let method = "an inverted index that shares no code with betree";
    checks.conclude(method, outcome, context.watch.is_stopped());
    Ok(())
}

/// Puts all expressions into the matcher.
fn fill(
    shape: &Shape,
    expressions: &[Conjunctions],
    address: SocketAddr,
    context: Context<'_>,
) -> Result<(), Error> {
    let failed = |error| Error::new(format!("cannot reach the matcher at {address}: {error}"));
    let mut client = Client::connect(address).map_err(failed)?;
    context.watch.expect(expressions.len() as u64);
    for (at, part) in expressions.chunks(LOADED_AT_A_TIME).enumerate() {
        context.watch.check()?;
        let first = at * LOADED_AT_A_TIME;
        let lines = (first as u64 + 1..).zip(part);
        let body: String = lines
            .map(|(id, expression)| line(shape, id, expression))
            .collect();
        let (status, answer) = client
            .ask("POST", "/expressions", body.as_bytes())
            .map_err(failed)?;
        if status != 200 {
            let answer: String = String::from_utf8_lossy(answer).chars().take(500).collect();
            return Err(
                Error::new(format!("the matcher refused expressions: {answer}"))
                    .help("start it with the domains of the same shape"),
            );
        }
        context.watch.advance(part.len() as u64);
    }
    context.watch.finish();
    Ok(())
}

/// A line of `POST /expressions`.
fn line(shape: &Shape, id: u64, expression: &Conjunctions) -> String {
    let text = shapes::text(shape, expression);
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    let constants = shapes::campaign(expression)
        .map(|id| format!(",\"constants\":{{\"campaign_id\":{id}}}"))
        .unwrap_or_default();
    format!("{{\"id\":{id},\"expr\":\"{text}\"{constants}}}\n")
}

/// Batches of events.
fn requests(shape: &Shape, events: &[Plain], batch: usize) -> Vec<Request> {
    let whole = events.chunks(batch);
    let body = |events: &[Plain]| {
        let lines = events.iter().map(|event| shapes::json(shape, event) + "\n");
        lines.collect::<String>().into_bytes()
    };
    whole
        .map(|events| ("POST", "/match".to_owned(), body(events)))
        .collect()
}

/// Changes of subscriptions that no check looks at: half of them new or replaced, the others removed and put back.
fn changes(drawer: &mut Drawer, plan: &Plan) -> Vec<Request> {
    let mut random = SplitMix64::new(plan.seed);
    let first = u64::from(plan.expressions) + 1;
    let mut present = vec![false; CHANGING as usize];
    let mut out = Vec::new();
    for _ in 0..8 * CHANGING {
        let at = random.below(CHANGING);
        let path = |query: &str| format!("/expressions/{}{query}", first + at);
        let there = &mut present[at as usize];
        if *there && random.below(2) == 0 {
            *there = false;
            out.push(("DELETE", path(""), Vec::new()));
            continue;
        }
        *there = true;
        let expression = drawer.expression();
        let query = shapes::campaign(&expression).map(|id| format!("?campaign_id={id}"));
        let text = shapes::text(drawer.shape(), &expression);
        out.push(("PUT", path(&query.unwrap_or_default()), text.into_bytes()));
    }
    // As it was at the start, so that they can come again.
    for at in (0..CHANGING).filter(|at| present[*at as usize]) {
        out.push(("DELETE", format!("/expressions/{}", first + at), Vec::new()));
    }
    out
}

/// Compares kept answers with those of the simple index.
fn check(
    expressions: &[Conjunctions],
    events: &[Plain],
    batch: usize,
    readers: &[Loop],
    checks: &mut Checks,
) {
    let mut simple = SimpleIndex::new(expressions);
    let constant = expressions.len() as u64;
    let mut found = Vec::new();
    for (request, answer) in readers.iter().flat_map(|reader| &reader.kept) {
        let answer = String::from_utf8_lossy(answer);
        let mut lines = answer.lines();
        for event in events.iter().skip(request * batch).take(batch) {
            let ids = lines.next().and_then(ids);
            simple.search(event, &mut found);
            found.sort_unstable();
            let right = ids.is_some_and(|ids| {
                let known = ids.iter().all(|id| (1..=constant + CHANGING).contains(id));
                let constant = ids.iter().filter(|id| **id <= constant);
                known
                    && constant
                        .copied()
                        .eq(found.iter().map(|at| u64::from(*at) + 1))
            });
            checks.that(right);
        }
        if lines.next().is_some() {
            checks.that(false);
        }
    }
    for reader in readers {
        checks.add(reader.refused, reader.refused);
    }
}

/// The ids of a line of matches.
fn ids(line: &str) -> Option<Vec<u64>> {
    let (_, rest) = line.split_once("\"ids\":[")?;
    let ids = rest.strip_suffix("]}")?;
    let ids = ids.split(',').filter(|id| !id.is_empty());
    ids.map(|id| id.parse().ok()).collect()
}

fn report(
    plan: &Plan,
    filling: Duration,
    start: Instant,
    (readers, writer): (Vec<Loop>, Option<Loop>),
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let done: u64 = readers.iter().map(|reader| reader.done).sum();
    let end = readers.iter().map(|reader| reader.last_end).max();
    let elapsed = end.map_or(Duration::ZERO, |end| end.saturating_duration_since(start));
    let pacers = readers.iter().map(|reader| &reader.pacer);
    if let Some(load) = Pacer::load_of(pacers, done, elapsed) {
        outcome.load = load;
    }
    let events = done * u64::from(plan.batch);
    outcome.ops = Some(events);
    let mut merged: [Option<Recorder>; 2] = [None, None];
    for reader in readers {
        for (all, one) in merged.iter_mut().zip([reader.response, reader.service]) {
            match all {
                Some(all) => all.merge(one).map_err(Error::broken)?,
                None => *all = Some(one),
            }
        }
    }
    let mut changes = 0;
    let writer = writer.map(|writer| {
        changes = writer.done;
        [writer.response, writer.service]
    });
    let all = merged.into_iter().flatten();
    for recorder in all.chain(writer.into_iter().flatten()) {
        if !recorder.is_empty() {
            outcome.add(&recorder.finish());
        }
    }
    let per_s = |count: u64| (count as f64 / elapsed.as_secs_f64().max(1e-9)) as u64;
    let columns = [
        ("expressions", Unit::Count),
        ("loading_ns", Unit::Nanoseconds),
        ("events", Unit::Count),
        ("events_per_s", Unit::Count),
        ("changes", Unit::Count),
        ("changes_per_s", Unit::Count),
    ];
    let mut table = Table::new("served", &columns);
    let loading_ns = u64::try_from(filling.as_nanos()).unwrap_or(u64::MAX);
    table.rows.push(vec![
        u64::from(plan.expressions).into(),
        loading_ns.into(),
        events.into(),
        per_s(events).into(),
        changes.into(),
        per_s(changes).into(),
    ]);
    outcome.tables.push(table);
    Ok(())
}
