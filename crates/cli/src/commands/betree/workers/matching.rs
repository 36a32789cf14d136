//! `perfkit betree match --from`: a worker on a broker, until it is asked to stop.

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::time::Duration;

use betree::{Batch, Buffers};
use latency::report::LatencyName;
use report::units::counted;
use report::{ExitStatus, Outcome};
use tokio::time::sleep;
use workers::settings::Common;
use workers::{Bounds, Limits, Once, Options, Tally, WHOLE};

use crate::args::threads;
use crate::commands::betree::flags::{MatchArgs, MatchFormat};
use crate::commands::betree::matching::times;
use crate::commands::betree::workers::access::{Pair, pair};
use crate::commands::betree::workers::broker::Broker;
use crate::commands::betree::workers::epochs::{Current, first};
use crate::commands::betree::workers::losses::Losses;
use crate::commands::betree::workers::numbers::{Number, Numbers};
use crate::commands::betree::workers::open::{self, DELIVERIES};
use crate::commands::betree::workers::refusals;
use crate::commands::betree::workers::teller::Teller;
use crate::commands::betree::workers::threads::{Counts, Threads, serve};
use crate::commands::nats::{failed, runtime};
use crate::failure::{Failure, Result};
use crate::io::ready::Ready;
use crate::session::{Session, Setup};
use crate::term::live::Live;
use crate::term::{message, signal};

/// How often to look whether somebody wants the end.
const LOOK: Duration = Duration::from_millis(20);
/// Work that a thread may have ahead of it: longer than blocks take from and to a server nearby.
const AHEAD: Duration = Duration::from_millis(20);
/// How often to ask the server whether all is done.
const ASK: Duration = Duration::from_millis(500);

/// The numbers of `--metrics`.
const NUMBERS: [Number; 16] = [
    ("events", "Events that were matched", true),
    ("events_refused", "Events that could not be read", true),
    ("matches", "Ids that were found", true),
    ("deliveries", "Blocks that were given out to it", true),
    (
        "deliveries_again",
        "Those that had been given out before",
        true,
    ),
    ("answers", "Answers that were stored", true),
    ("answers_refused", "Answers that were there before", true),
    (
        "attempts_failed",
        "Attempts after which a block was given back",
        true,
    ),
    ("dead_letters", "Blocks that are dead letters", true),
    ("blocks_lost", "Blocks that the stream removed before", true),
    (
        "publications_repeated",
        "Publications that were repeated",
        true,
    ),
    ("block_bytes", "Bytes of blocks that were answered", true),
    ("answer_bytes", "Bytes of their answers", true),
    ("roll_outs", "Newer snapshots that were taken", true),
    (
        "roll_outs_failed",
        "Newer snapshots that could not be used",
        true,
    ),
    ("blocks_in_flight", "Blocks that it has now", false),
];

/// Who sees what a worker does while it goes on.
struct Seen<'a> {
    numbers: Numbers<{ NUMBERS.len() }>,
    live: Option<&'a Live>,
    current: &'a Current,
}

impl Seen<'_> {
    fn see(&self, (tally, in_flight): (Tally, usize), counts: Counts, lost: u64) {
        let rollouts = self.current.rollouts();
        self.numbers.set([
            counts.events,
            counts.refused,
            counts.matches,
            tally.taken,
            tally.again,
            tally.answered,
            tally.refused,
            tally.returned,
            tally.dead,
            lost,
            tally.republished,
            tally.bytes_in,
            tally.bytes_out,
            rollouts.done,
            rollouts.failed,
            in_flight as u64,
        ]);
        if let Some(live) = self.live {
            let done = counted(tally.answered + tally.refused, ["block", "blocks"]);
            let mut now = format!("{done} answered, {in_flight} in hand");
            for (count, names) in [
                (tally.dead, ["dead letter", "dead letters"]),
                (lost, ["block lost", "blocks lost"]),
                (counts.refused, ["event refused", "events refused"]),
            ] {
                if count > 0 {
                    now += &format!(", {}", counted(count, names));
                }
            }
            live.now(now);
        }
    }
}

/// What the worker came to.
struct Worked {
    tally: Tally,
    ended: Option<workers::Error>,
    lost: u64,
    /// Whether it was asked to end before all was done, which it should wait for.
    is_cut_short: bool,
    once: Once,
    ack_wait: Duration,
    server: String,
}

/// Runs the command.
pub(crate) fn run(args: &MatchArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let own = &args.workers;
    let (Some(from), Some(to), Some(path)) = (&own.from, &own.to, &args.tree.snapshot) else {
        // The parser of the arguments asks for them.
        return Err(Failure::usage("--from needs --to and --snapshot"));
    };
    let ready = Ready::clear(own.ready_file.as_deref())?;
    check_shard(args)?;
    let threads = threads(args.threads)?.max(1);
    let tells = args.analysis.terminal.wants_warnings();
    let numbers = Numbers::start("perfkit_worker", &NUMBERS, &own.metrics, tells)?;
    let live = Live::start(args.live.live, "match");
    let session = Session::start(&Setup {
        live: live.as_ref().map(Live::rows),
        rows: &[LatencyName::Service, LatencyName::Hold],
        ..Setup::filter_of(name, argv, &args.analysis)
    })?;
    let pair = pair(from, to, &own.broker)?;
    let runtime = runtime()?;
    let (state, follower) = runtime.block_on(first(args, path))?;
    let common = open::common(args, &state);
    let batches = state.wants_batches(args);
    let current = Current::new(state);
    let (matching, queue) = Threads::new(&current);
    let (worked, counts, finished) = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                let times = times(&session, batches);
                let (current, queue) = (&current, &queue);
                scope.spawn(move || serve(args, (current, batches), times, queue))
            })
            .collect();
        let seen = Seen {
            numbers,
            live: live.as_ref(),
            current: &current,
        };
        let worked = runtime.block_on(async {
            let follows = async {
                match follower {
                    Some(follower) => follower.follow(args, &current, scope, tells).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                worked = work(args, (&pair, common), (&matching, &ready, &seen), threads) => worked,
                () = follows => Err(Failure::new("the look for newer snapshots has ended")),
            }
        });
        let counts = matching.counts();
        // Without it, threads have nothing to wait for.
        drop(matching);
        let finished: Vec<_> = handles
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect();
        (worked, counts, finished)
    });
    // What still waits for a server ends with the process.
    runtime.shutdown_background();
    let worked = worked?;
    drop(live);
    let mut outcome = Outcome::new("match");
    describe(
        &mut outcome,
        args,
        (&current, batches, threads),
        (&worked, counts),
    );
    let mut all = finished.into_iter().flatten();
    if let Some(mut times) = all.next() {
        for other in all {
            // All are made alike.
            let _ = times.merge(other);
        }
        for recorder in [times.searches, times.reads, times.holds] {
            if !recorder.is_empty() {
                outcome.add(&recorder.finish());
            }
        }
    }
    session.finish(outcome)
}

/// Refuses a shard whose answers `join` could not put together with those of others.
fn check_shard(args: &MatchArgs) -> Result<()> {
    let shard = &args.workers.shard;
    if shard == WHOLE {
        return Ok(());
    }
    if args.format != MatchFormat::Json {
        let message = format!(
            "--shard {shard} needs --format json: other lines do not say which event they are of, so that join could not put \
             those of several shards together"
        );
        return Err(Failure::usage(message));
    }
    let best = [
        ("--top", args.top.is_some()),
        ("--first", args.first.is_some()),
    ];
    match best.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::usage(format!(
            "{flag} with --shard {shard}: each shard would give its own, and join gives all of them"
        ))
        .help(
            "leave it out and choose from what join writes, or match all expressions in one worker",
        )),
    }
}

async fn work(
    args: &MatchArgs,
    (pair, common): (&Pair<'_>, Common),
    looks: (&Threads<'_>, &Ready<'_>, &Seen<'_>),
    threads: u32,
) -> Result<Worked> {
    let own = &args.workers;
    let tells = args.analysis.terminal.wants_warnings();
    match pair {
        Pair::Nats(from, to, access) => {
            let worker = open::nats(args, (from, to), access, common, tells).await?;
            let once = own.once.map_or(Once::Window, Once::from);
            work_on(args, (&worker, once), looks, threads).await
        }
        #[cfg(feature = "kafka")]
        Pair::Kafka(from, to, access) => {
            let worker = open::kafka(own, (from, to), access, common, tells).await?;
            work_on(args, (&worker, Once::Always), looks, threads).await
        }
    }
}

async fn work_on<B: Broker>(
    args: &MatchArgs,
    (worker, once): (&B, Once),
    (matching, ready, seen): (&Threads<'_>, &Ready<'_>, &Seen<'_>),
    threads: u32,
) -> Result<Worked> {
    let own = &args.workers;
    let tells = args.analysis.terminal.wants_warnings();
    let options = Options {
        limits: Limits {
            ack_wait: worker.ack_wait(),
            deliveries: DELIVERIES,
        },
        in_flight: Bounds {
            least: 2 * threads as usize + B::IN_FLIGHT_MORE,
            most: B::IN_FLIGHT_MAX,
            ahead: AHEAD * threads,
            asked_part: B::ASKED_PART,
        },
        shard: own.shard.clone(),
        grace: own.grace,
        failures_max: own.give_up_after,
    };
    ready.write(&own.consumer)?;
    seen.numbers.set_well(true);
    let teller = Teller::new(tells);
    let losses = RefCell::new(Losses::default());
    let is_cut_short = Cell::new(false);
    let stop = async {
        let mut asked = tokio::time::Instant::now();
        loop {
            sleep(LOOK).await;
            losses.borrow_mut().add(worker.take_lost());
            seen.see(teller.seen(), matching.counts(), losses.borrow().count);
            if signal::interrupted() {
                seen.numbers.set_well(false);
                is_cut_short.set(own.until_done);
                return;
            }
            if own.until_done && asked.elapsed() >= ASK {
                if worker.has_left().await == Ok(false) {
                    return;
                }
                asked = tokio::time::Instant::now();
            }
        }
    };
    let (tally, ended) = workers::work(worker, matching, &options, stop, &teller).await;
    let server = worker.server();
    worker.close(tally.is_away).await;
    let mut losses = losses.into_inner();
    losses.add(worker.take_lost());
    losses.tell();
    teller.end();
    refusals::end(matching.counts().refused);
    Ok(Worked {
        tally,
        ended,
        lost: losses.count,
        is_cut_short: is_cut_short.get(),
        once,
        ack_wait: worker.ack_wait(),
        server,
    })
}

fn describe(
    outcome: &mut Outcome,
    args: &MatchArgs,
    (current, batches, threads): (&Current, bool, u32),
    (worked, counts): (&Worked, Counts),
) {
    let (state, rollouts) = (current.get(), current.rollouts());
    let snapshot = state.snapshot();
    let tally = &worked.tally;
    outcome.bytes_in = tally.bytes_in;
    outcome.bytes_content = tally.bytes_in;
    outcome.bytes_out = tally.bytes_out;
    outcome.ops = Some(counts.events);
    outcome.did(counts.events, ["event", "events"]);
    // What went wrong stands first: a short line leaves out what comes last.
    for (count, names) in [
        (
            tally.refused,
            ["second answer refused", "second answers refused"],
        ),
        (tally.dead, ["dead letter", "dead letters"]),
        (worked.lost, ["block lost", "blocks lost"]),
        (counts.refused, ["event refused", "events refused"]),
        (
            tally.left,
            ["block left to others", "blocks left to others"],
        ),
    ] {
        if count > 0 {
            outcome.did(count, names);
        }
    }
    outcome.did(counts.matches, ["match", "matches"]);
    outcome.did(tally.answered, ["block answered", "blocks answered"]);
    outcome.did(snapshot.len() as u64, ["expression", "expressions"]);
    let params = &mut outcome.workload.params;
    let once = match worked.once {
        Once::Window => "window",
        Once::Always => "always",
    };
    for (name, text) in [
        ("once", once),
        ("shard", args.workers.shard.as_str()),
        ("epoch", &state.epoch),
        ("server", worked.server.as_str()),
        ("isa", Buffers::new().isa().name()),
    ] {
        params.insert(name.to_owned(), text.into());
    }
    let events_a_batch = if batches { Batch::EVENTS_MAX as u64 } else { 1 };
    for (name, value) in [
        ("expressions", snapshot.len() as u64),
        ("budget_reductions", args.budget),
        ("events_a_batch", events_a_batch),
        ("threads", threads.into()),
        (
            "ack_wait_ms",
            u64::try_from(worked.ack_wait.as_millis()).unwrap_or(u64::MAX),
        ),
        ("deliveries", tally.taken),
        ("deliveries_again", tally.again),
        ("blocks_in_flight_most", tally.in_flight_most),
        ("answers_stored", tally.answered),
        ("answers_refused", tally.refused),
        ("attempts_failed", tally.returned),
        ("dead_letters", tally.dead),
        ("blocks_lost", worked.lost),
        ("publications_repeated", tally.republished),
        ("progress_reports", tally.progress),
        ("blocks_left", tally.left),
        ("events_refused", counts.refused),
        ("roll_outs", rollouts.done),
        ("roll_outs_failed", rollouts.failed),
    ] {
        params.insert(name.to_owned(), value.into());
    }
    if rollouts.done > 0 {
        outcome.did(rollouts.done, ["roll-out", "roll-outs"]);
    }
    if rollouts.failed > 0 {
        outcome.did(rollouts.failed, ["roll-out failed", "roll-outs failed"]);
    }
    let unfinished = [
        tally.dead,
        tally.left,
        worked.lost,
        counts.refused,
        rollouts.failed,
    ];
    if unfinished.iter().any(|count| *count > 0) {
        outcome.status = ExitStatus::Partial;
        outcome.complete = false;
    }
    if worked.is_cut_short {
        outcome.status = ExitStatus::Interrupted;
        outcome.complete = false;
    }
    let tells = args.analysis.terminal.wants_warnings();
    if tally.refused > tally.answered && tells {
        let had = counted(tally.refused, ["block had an answer", "blocks had answers"]);
        message::note(
            &format!("{had} already, which stand as they are"),
            "for answers of other expressions or flags, name another stream (--to)",
        );
    }
    if tally.left > 0 && tells {
        let left = counted(tally.left, ["block was", "blocks were"]);
        match tally.is_away {
            true => message::note(
                &format!("{left} not acknowledged, as the server is away; others get them"),
                "they wait for the ack wait of the consumer, once the server is back",
            ),
            false => message::note(
                &format!("{left} not acknowledged before the grace period ended; others get them"),
                "give them more time with --grace",
            ),
        }
    }
    if let Some(error) = &worked.ended {
        let failure = failed(error.clone());
        message::failure(&failure);
        outcome.status = failure.exit_status();
        outcome.complete = false;
    }
}
