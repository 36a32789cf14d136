//! The parts of the transport, one after the other.

use std::time::Duration;

use fixcore::io::{Choice, Connections, Options};
use fixcore::workload::Sample;
use latency::report::{Cell, Table, Unit};

use crate::fix::plan::Plan;
use crate::fix::sides::{self, Called, Pair};
use crate::fix::transport::cpus::cpus;
use crate::fix::transport::{carry, rings, round};
use crate::{Checks, Context, Error};
use report::Outcome;

/// Connections that are carried at a time.
const CONNECTIONS: usize = 64;
/// Messages of a turn, as a multiple of those of a batch.
const MESSAGES: u64 = 10;

/// Runs the part.
pub(crate) fn run(
    plan: &Plan,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<(), Error> {
    let uring = interfaces(plan.choice, outcome)?;
    if uring {
        rings::run(plan, context, outcome, checks)?;
    }
    connections(plan, context, uring, outcome, checks)?;
    round_trips(plan, context, uring, outcome, checks)
}

/// Whether there are rings, and what was refused.
fn interfaces(choice: Choice, outcome: &mut Outcome) -> Result<bool, Error> {
    let options = Options::default().choice(choice);
    let connections = Connections::open(&options)
        .map_err(|error| Error::new(format!("cannot carry connections: {error}")))?;
    let backend = connections.backend();
    let columns = [("interface", Unit::Text), ("state", Unit::Text)];
    let mut table = Table::new("interfaces", &columns);
    for refused in connections.refused() {
        let name = format!("io_uring {}", refused.setup.name());
        table
            .rows
            .push(vec![name.into(), refused.to_string().into()]);
    }
    table
        .rows
        .push(vec![backend.name().into(), "in use".into()]);
    outcome.tables.push(table);
    Ok(backend != fixcore::io::Backend::Epoll)
}

/// Messages and answers of many connections, by both interfaces.
fn connections(
    plan: &Plan,
    context: Context<'_>,
    uring: bool,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<(), Error> {
    let columns = [
        ("sockets", Unit::Text),
        ("interface", Unit::Text),
        ("message_ns", Unit::Nanoseconds),
        ("messages_per_s", Unit::PerSecond),
        ("calls_per_message", Unit::Ratio),
        ("by_epoll", Unit::Ratio),
    ];
    let mut table = Table::new("64 connections, answered on one thread", &columns);
    let other = if uring { Choice::Uring } else { Choice::Epoll };
    for sockets in carry::Sockets::ALL {
        let mut counts = [carry::Carried::default(); 2];
        let [epoll, target] = &mut counts;
        let turn = |choice| carry::Plan {
            sockets,
            connections: CONNECTIONS,
            messages: (u64::from(plan.batch_size) * MESSAGES).max(CONNECTIONS as u64),
            choice,
            cpus: cpus(&plan.cpus),
        };
        let called = Called {
            operation: sockets.name(),
            base: "epoll",
            target: if uring { "io_uring" } else { "epoll again" },
        };
        let turns: (sides::Turn<'_>, sides::Turn<'_>) = (
            &mut |recorder| carry::turn(&turn(Choice::Epoll), epoll, recorder),
            &mut |recorder| carry::turn(&turn(other), target, recorder),
        );
        let pair = sides::measure(context, plan.batches, called, turns, outcome)?;
        for (name, ns, count) in [
            (called.base, pair.base_ns, &counts[0]),
            (called.target, pair.target_ns, &counts[1]),
        ] {
            checks.add(count.messages, count.wrong);
            table.rows.push(vec![
                sockets.name().into(),
                name.into(),
                ns.into(),
                (1e9 / ns).into(),
                (count.syscalls as f64 / count.messages as f64).into(),
                (pair.base_ns / ns).into(),
            ]);
        }
    }
    outcome.tables.push(table);
    Ok(())
}

/// Round trips of one connection, by threads that poll.
fn round_trips(
    plan: &Plan,
    context: Context<'_>,
    uring: bool,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<(), Error> {
    let columns = [
        ("client", Unit::Text),
        ("server", Unit::Text),
        ("plain_ns", Unit::Nanoseconds),
        ("median_ns", Unit::Nanoseconds),
        ("by_plain", Unit::Ratio),
        ("plain_p99_ns", Unit::Nanoseconds),
        ("p99_ns", Unit::Nanoseconds),
    ];
    let mut table = Table::new(
        "a round trip that polls, over TCP, compared with plain to plain",
        &columns,
    );
    let choice = if uring { Choice::Uring } else { Choice::Epoll };
    let options = Options::default().choice(choice);
    let message = Sample::NewOrder.bytes();
    let name = if uring { "io_uring" } else { "epoll" };
    for ends in [[false, true], [true, true]] {
        let mut wrong = [0; 2];
        let [plain, ours] = &mut wrong;
        let number = u64::from(plan.batch_size);
        let trips = |ends| round::Trips {
            ends,
            message: &message,
            number,
            time_max: Duration::MAX,
            cpus: cpus(&plan.cpus),
        };
        let target = format!("{} to {name}", if ends[0] { name } else { "plain" });
        let called = Called {
            operation: "round trip",
            base: "plain to plain",
            target: &target,
        };
        let turns: (sides::Turn<'_>, sides::Turn<'_>) = (
            &mut |recorder| round::turn(&trips([None; 2]), plain, recorder),
            &mut |recorder| {
                let ends = ends.map(|is_ours| is_ours.then_some(&options));
                round::turn(&trips(ends), ours, recorder)
            },
        );
        let pair = sides::measure(context, plan.batches, called, turns, outcome)?;
        checks.add(2 * number * u64::from(plan.batches), wrong.iter().sum());
        let client = if ends[0] { name } else { "plain" };
        table.rows.push(trip(client, name, &pair));
    }
    outcome.tables.push(table);
    Ok(())
}

/// A row: both medians, and one by the other; of the same trips the slowest hundredth.
fn trip(client: &str, server: &str, pair: &Pair) -> Vec<Cell> {
    vec![
        client.into(),
        server.into(),
        sides::percentile(&pair.base, 50.0),
        sides::percentile(&pair.target, 50.0),
        pair.by_base(),
        sides::percentile(&pair.base, 99.0),
        sides::percentile(&pair.target, 99.0),
    ]
}
