//! Techniques of rings that a round trip shows: each trip is timed by itself.

use std::time::Duration;

use fixcore::io::{Backend, Choice, Connections, Options, Receives, Setup};
use fixcore::workload::Sample;

use crate::Error;
use crate::fix::sides::{Called, Turn};
use crate::fix::techniques::bench::{Bench, MULTISHOT, POLLED, REGISTERED, Samples, Technique};
use crate::fix::transport::{Trips, cpus, turn};

/// Bytes of a message that is long enough for registered memory.
const LONG_BYTES: usize = 4_000;
/// A turn is over after this time: with three threads that poll on two processors a trip takes milliseconds.
const TURN_MAX: Duration = Duration::from_secs(2);

/// All three.
pub(super) fn rows(bench: &mut Bench<'_>) -> Result<(), Error> {
    let ring = || Options::default().choice(Choice::Uring).connections_max(1);
    let order = Sample::NewOrder.bytes();
    let polled = ring().setup(Setup::Polled);
    row(
        bench,
        POLLED,
        ("calls", "SQPOLL"),
        [&ring(), &polled],
        &order,
    )?;
    let big = || ring().buffer_bytes(2 * LONG_BYTES);
    let registered = big().registered(true);
    let refused = match Connections::open(&registered) {
        Ok(connections) if !connections.is_registered() => Some(
            "the process may not lock the buffers in memory (see `ulimit -l`), so sends are copies",
        ),
        _ => None,
    };
    match refused {
        Some(why) => bench.refused(REGISTERED, why),
        None => row(
            bench,
            REGISTERED,
            ("copied", "registered"),
            [&big(), &registered],
            &long(),
        )?,
    }
    let single = ring().receives(Receives::Single);
    row(
        bench,
        MULTISHOT,
        ("single", "multishot"),
        [&single, &ring()],
        &order,
    )
}

/// A message with a long text.
fn long() -> Vec<u8> {
    let text = "x".repeat(LONG_BYTES - 100);
    let body = format!("35=B\x0149=A\x0156=B\x0134=1\x0152=20260105-10:00:00\x01148={text}\x01");
    let mut out = Vec::new();
    fixcore::frame::write(b"FIX.4.4", body.as_bytes(), &mut out);
    out
}

/// Round trips to servers with these options.
fn row(
    bench: &mut Bench<'_>,
    technique: Technique,
    (base, target): (&str, &str),
    options: [&Options; 2],
    message: &[u8],
) -> Result<(), Error> {
    for options in options {
        match Connections::open(options) {
            Ok(connections) if connections.backend() == Backend::Epoll => {
                bench.refused(technique, "the system has no io_uring");
                return Ok(());
            }
            Ok(_) => {}
            Err(error) => {
                bench.refused(technique, &error.to_string());
                return Ok(());
            }
        }
    }
    let called = Called {
        operation: technique.0,
        base,
        target,
    };
    let (ops, cpus) = (bench.ops(), cpus(&bench.plan.cpus));
    let trips = |options| Trips {
        ends: [None, Some(options)],
        message,
        number: ops.next() as u64,
        time_max: TURN_MAX,
        cpus,
    };
    let mut wrong = [0; 2];
    let [off, on] = &mut wrong;
    let turns: (Turn<'_>, Turn<'_>) = (
        &mut |recorder| turn(&trips(options[0]), off, recorder),
        &mut |recorder| turn(&trips(options[1]), on, recorder),
    );
    let pair = bench.technique(technique, Samples::Single, called, turns)?;
    bench
        .checks
        .add(pair.base.n + pair.target.n, wrong.iter().sum());
    Ok(())
}
