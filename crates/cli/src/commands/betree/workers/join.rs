//! `perfkit betree join`: answers in the order of their blocks, those of several shards as one line an event.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use files::output::Output;
use latency::report::LatencyName;
use latency::{Recorder, Spec};
use report::units::counted;
use report::{ExitStatus, Outcome};
use tokio::time::{Instant, sleep};
use workers::{Merge, MergeError, Merged, Message, Pushed, WHOLE, join_lines, pause};

use crate::commands::absent::interrupted;
use crate::commands::betree::workers::access::{Pair, pair};
use crate::commands::betree::workers::answers::Answers;
use crate::commands::betree::workers::flags::JoinArgs;
use crate::commands::betree::workers::joined::Joined;
use crate::commands::betree::workers::numbers::{Number, Numbers};
use crate::commands::betree::workers::patience::{Next, Patience};
use crate::commands::nats::{failed, runtime};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::session::{Session, Setup};
use crate::term::live::{self, Live};
use crate::term::{message, signal};

/// How often to look whether somebody wants the end.
const LOOK: Duration = Duration::from_millis(50);
/// How often to look whether blocks without answers are still there.
const GONE: Duration = Duration::from_secs(1);
/// Failures in a row after which a server is given up.
const FAILURES_MAX: u64 = 20;

/// The numbers of `--metrics`.
const NUMBERS: [Number; 8] = [
    ("events", "Events that were written", true),
    ("blocks", "Blocks that were joined", true),
    ("bytes", "Bytes that were written", true),
    ("dead_letters", "Blocks that are dead letters", true),
    ("answers_repeated", "Answers that were there before", true),
    ("answers_other", "Answers that were not asked for", true),
    ("next_block", "The block that is due", false),
    ("last_block", "The last block that is joined", false),
];

/// Who sees what is joined while it goes on.
struct Seen<'a> {
    numbers: &'a Numbers<{ NUMBERS.len() }>,
    live: Option<&'a Live>,
    /// How long it took to join and write a block.
    joins: Recorder,
}

impl Seen<'_> {
    fn see(&self, joined: &Joined, next: u64, last: u64) {
        self.numbers.set([
            joined.lines,
            joined.blocks,
            joined.bytes,
            joined.dead(),
            joined.repeated,
            joined.others,
            next,
            last,
        ]);
        if let Some(live) = self.live {
            let blocks = counted(joined.blocks, ["block", "blocks"]);
            live.now(format!("{blocks} joined, block {next} of {last} is due"));
        }
    }
}

/// Why it ended.
enum End {
    All,
    Closed,
    Interrupted,
}

/// Runs the command.
pub(crate) fn run(args: &JoinArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let tells = args.output.terminal.wants_warnings();
    if args.live.live && live::meets_output() {
        return Err(
            Failure::usage("--live cannot be shown where the answers are printed")
                .help("write them to a file: > matches"),
        );
    }
    let numbers = Numbers::start("perfkit_join", &NUMBERS, &args.metrics, tells)?;
    let live = Live::start(args.live.live, "join");
    let session = Session::start(&Setup {
        live: live.as_ref().map(Live::rows),
        rows: &[LatencyName::Service],
        ..Setup::filter_of(name, argv, &args.output)
    })?;
    let spec = Spec::new(LatencyName::Service, "block").series("join");
    let mut seen = Seen {
        numbers: &numbers,
        live: live.as_ref(),
        joins: Recorder::new(session.spec(spec), session.run_start()),
    };
    let twice = |at: &usize| args.shards[..*at].contains(&args.shards[*at]);
    if let Some(at) = (1..args.shards.len()).find(twice) {
        return Err(
            Failure::usage(format!("--shards names '{}' twice", args.shards[at]))
                .help("name each shard of the workers once"),
        );
    }
    let pair = pair(&args.events, &args.from, &args.broker)?;
    let mut joined = Joined::default();
    let ended = runtime()?.block_on(join(args, &pair, &mut joined, &mut seen));
    let joins = seen.joins;
    drop(live);
    let mut outcome = Outcome::new("join");
    joined.describe(&mut outcome, args);
    if !joins.is_empty() {
        outcome.add(&joins.finish());
    }
    match ended {
        Ok(End::All | End::Closed) => {}
        Ok(End::Interrupted) => {
            outcome.status = ExitStatus::Interrupted;
            outcome.complete = false;
        }
        Err(failure) => {
            message::failure(&failure);
            outcome.status = failure.exit_status();
            outcome.complete = false;
        }
    }
    session.finish(outcome)
}

async fn join(
    args: &JoinArgs,
    pair: &Pair<'_>,
    joined: &mut Joined,
    seen: &mut Seen<'_>,
) -> Result<End> {
    let tells = args.output.terminal.wants_warnings();
    let mut answers = Answers::open(args, pair, tells).await?;
    let shards: HashMap<&str, usize> = args
        .shards
        .iter()
        .enumerate()
        .map(|(at, name)| (name.as_str(), at))
        .collect();
    let hold = usize::try_from(args.hold).unwrap_or(usize::MAX);
    let mut merge = Merge::new(shards.len(), answers.first(), hold);
    merge.lose_below(answers.kept_from());
    joined.removed = answers.removed();
    seen.numbers.set_well(true);
    let ended = follow(args, &shards, &mut answers, &mut merge, (joined, seen)).await;
    joined.lost = merge.lost().to_vec();
    ended
}

/// Writes what is complete until the last block is written.
async fn follow(
    args: &JoinArgs,
    shards: &HashMap<&str, usize>,
    answers: &mut Answers,
    merge: &mut Merge,
    (joined, seen): (&mut Joined, &mut Seen<'_>),
) -> Result<End> {
    let tells = args.output.terminal.wants_warnings();
    let mut to = Output::stdout(context())
        .map_err(|error| Failure::io("write", Path::new("standard output"), &error))?;
    let wrong = |error| cannot_join(args, error);
    let mut failures = 0;
    let mut patience = Patience::new(args.timeout, Instant::now());
    let mut looked = Instant::now();
    // All answers that there are now are read, whatever is joined by then: one may contradict another.
    while merge.next() <= answers.last() || !merge.is_settled() {
        if signal::interrupted() {
            return Ok(End::Interrupted);
        }
        seen.see(joined, merge.next(), answers.last());
        match patience.look(Instant::now()) {
            Next::Wait => {}
            Next::GiveUp if merge.next() > answers.last() => return Err(reads_no_more(args)),
            _ if merge.next() > answers.last() => {}
            Next::Say if tells => message::remark(&format!(
                "{}; it is waited for{}",
                lacks(args, merge),
                joined.passed_over()
            )),
            Next::Say => {}
            Next::GiveUp => return Err(gives_up(args, merge, joined)),
        }
        let got = tokio::select! {
            got = answers.next() => Some(got),
            () = sleep(LOOK) => None,
        };
        let is_news = match got {
            Some(Ok(message)) => {
                failures = 0;
                // Of those that were there at the start, each is wanted.
                if !merge.is_settled() {
                    patience.hear(Instant::now());
                }
                take(message, answers, shards, merge, joined).map_err(wrong)?
            }
            Some(Err(error)) if error.is_passing() && failures < FAILURES_MAX => {
                failures += 1;
                unless_interrupted(sleep(pause(failures))).await;
                continue;
            }
            Some(Err(error)) => return Err(failed(error)),
            None if merge.is_settled() && looked.elapsed() >= GONE => {
                looked = Instant::now();
                // If the server does not say, it is asked again.
                let found = unless_interrupted(answers.look_for_gone(merge)).await;
                found.is_some_and(|found| found.unwrap_or(false))
            }
            None => false,
        };
        if !is_news {
            continue;
        }
        patience.hear(Instant::now());
        let to = (&mut to, &mut seen.joins);
        if !write(to, merge, &mut patience, joined).map_err(wrong)?? {
            return Ok(End::Closed);
        }
    }
    seen.see(joined, merge.next(), answers.last());
    Ok(End::All)
}

/// What comes of it; none once somebody wants the end.
async fn unless_interrupted<T>(of: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        found = of => Some(found),
        () = interrupted() => None,
    }
}

/// Writes the blocks that are complete. False: the reader has closed the pipe.
fn write(
    (to, joins): (&mut Output, &mut Recorder),
    merge: &mut Merge,
    patience: &mut Patience,
    joined: &mut Joined,
) -> std::result::Result<Result<bool>, MergeError> {
    let mut lines = Vec::new();
    while let Some((sequence, merged)) = merge.pop() {
        patience.go_on(Instant::now());
        let begun = std::time::Instant::now();
        let parts = match merged {
            Merged::Answers(parts) => parts,
            Merged::Dead => {
                joined.died(sequence);
                continue;
            }
            Merged::Lost => continue,
        };
        lines.clear();
        join_lines(&parts, &mut lines)?;
        joined.blocks += 1;
        joined.lines += lines.iter().filter(|byte| **byte == b'\n').count() as u64;
        joined.bytes += lines.len() as u64;
        match to.write_all(&lines) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(Ok(false)),
            Err(error) => {
                let failure = Failure::io("write", Path::new("standard output"), &error);
                return Ok(Err(failure));
            }
        }
        joins.record_span(begun, std::time::Instant::now());
    }
    Ok(Ok(true))
}

/// Takes a message in; returns whether it is about a block that is joined.
fn take(
    message: Message,
    answers: &Answers,
    shards: &HashMap<&str, usize>,
    merge: &mut Merge,
    joined: &mut Joined,
) -> std::result::Result<bool, MergeError> {
    let (is_dead, block) = match message {
        Message::Answer(block) => (false, block),
        Message::Dead(block) => (true, block),
        Message::CaughtUp => {
            merge.settle();
            return Ok(true);
        }
    };
    let number = answers.number(&block);
    let name = block.labels.shard.as_deref();
    let (Some(number), Some(shard)) = (number, name.and_then(|name| shards.get(name))) else {
        joined.pass_over(name.filter(|_| number.is_some()));
        return Ok(false);
    };
    // Blocks that came later are not joined.
    if number > answers.last() {
        return Ok(false);
    }
    if is_dead {
        merge.bury(number, *shard);
    } else if number < answers.first() {
        joined.others += 1;
    } else {
        match merge.push(number, *shard, block.bytes)? {
            Pushed::New => {
                joined.answered_by(block.labels.epoch.as_deref().unwrap_or_default());
            }
            Pushed::Repeated => joined.repeated += 1,
            Pushed::Late => joined.late += 1,
            Pushed::Left => {}
        }
    }
    Ok(true)
}

/// Why answers that came are not joined, and what to do about it.
fn cannot_join(args: &JoinArgs, error: MergeError) -> Failure {
    let (message, help) = match error {
        MergeError::Differs { sequence, shard } => (
            format!(
                "block {sequence} has two different answers of shard {}",
                shard_name(args, shard)
            ),
            "workers of this shard had different expressions or flags, and an outage was longer than the duplicate window: \
             remove the wrong one of its two messages with this Perfkit-Sequence, or have the events answered into a new \
             stream with --once always",
        ),
        MergeError::Twice { sequence, shard } => (
            format!(
                "block {sequence} was answered again by shard {}, long after it was joined",
                shard_name(args, shard)
            ),
            "an outage was longer than the duplicate window of the stream of answers: remove the later of its two messages \
             with this Perfkit-Sequence, or have the events answered into a new stream with --once always",
        ),
        MergeError::TooMuch { .. } => (
            error.to_string(),
            "see that workers of every shard run, or raise --hold",
        ),
        other => (
            other.to_string(),
            "see that --events, --from and --shards belong together, and that all shards write --format json",
        ),
    };
    Failure::new(message).help(help)
}

fn shard_name(args: &JoinArgs, shard: usize) -> &str {
    args.shards.get(shard).map_or(WHOLE, String::as_str)
}

/// Which block has no answer of which shards.
fn lacks(args: &JoinArgs, merge: &Merge) -> String {
    let missing = merge.missing();
    let names: Vec<&str> = missing
        .iter()
        .filter_map(|at| args.shards.get(*at))
        .map(String::as_str)
        .collect();
    let noun = if names.len() == 1 { "shard" } else { "shards" };
    format!(
        "block {} of {} has no answer of {noun} {}",
        merge.next(),
        args.events.stream(),
        names.join(", ")
    )
}

/// All blocks are joined, but not all answers that there were are read.
fn reads_no_more(args: &JoinArgs) -> Failure {
    let (blocks, answers) = (args.events.stream(), args.from.stream());
    let time = args.timeout.unwrap_or_default();
    Failure::new(format!(
        "all blocks of {blocks} are joined, but not all answers are read that {answers} had at the start, and none has come \
         for {time:?}"
    ))
    .help(
        "one of them may contradict what was joined: see that the server answers, and join again; a longer --timeout waits for \
         a slow one",
    )
}

fn gives_up(args: &JoinArgs, merge: &Merge, joined: &Joined) -> Failure {
    let time = args.timeout.unwrap_or_default();
    let message = format!(
        "{}, and no answer has come for {time:?}{}",
        lacks(args, merge),
        joined.passed_over()
    );
    Failure::new(message).help(
        "see that workers of this shard run, and that --shards, --from and --dead-letters are theirs; a longer --timeout \
         waits for slow ones",
    )
}
