//! `perfkit betree join`: answers in the order of their blocks, those of several shards as one line an event.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use files::output::Output;
use latency::report::{Table, Unit};
use report::units::counted;
use report::{ExitStatus, Outcome};
use tokio::time::{Instant, sleep};
use workers::{Merge, MergeError, Merged, Message, Pushed, WHOLE, join_lines, pause};

use crate::commands::betree::workers::access::{Pair, pair};
use crate::commands::betree::workers::answers::Answers;
use crate::commands::betree::workers::flags::JoinArgs;
use crate::commands::betree::workers::patience::{Next, Patience};
use crate::commands::nats::{failed, runtime};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::session::{Session, Setup};
use crate::term::{message, signal};

/// How often to look whether somebody wants the end.
const LOOK: Duration = Duration::from_millis(50);
/// The most epochs that are told apart.
const EPOCHS_MAX: usize = 1000;
/// Failures in a row after which a server is given up.
const FAILURES_MAX: u64 = 20;
/// The most names of shards that are told though they were not asked for.
const OTHERS_MAX: usize = 10;

/// What was joined.
#[derive(Debug, Default)]
struct Joined {
    blocks: u64,
    lines: u64,
    bytes: u64,
    dead: u64,
    /// Answers that were there before.
    repeated: u64,
    /// Answers to blocks that were counted as dead before.
    late: u64,
    /// Answers to blocks of another stream, or of shards that were not asked for.
    others: u64,
    /// Names of shards that were not asked for and answered.
    other_shards: BTreeSet<String>,
    /// The states of the expressions that answered, in the order of their first answers, each with how many it gave.
    epochs: Vec<(String, u64)>,
    /// Answers of epochs beyond the first ones.
    more_epochs: u64,
}

impl Joined {
    fn answered_by(&mut self, epoch: &str) {
        // The last one answers most likely again.
        match self.epochs.iter().rposition(|(known, _)| known == epoch) {
            Some(at) => self.epochs[at].1 += 1,
            None if self.epochs.len() < EPOCHS_MAX => self.epochs.push((epoch.to_owned(), 1)),
            None => self.more_epochs += 1,
        }
    }

    /// Counts an answer that is not wanted.
    fn passed_over(&mut self, shard: Option<&str>) {
        self.others += 1;
        if self.other_shards.len() < OTHERS_MAX {
            self.other_shards.extend(shard.map(str::to_owned));
        }
    }

    fn epochs(&self) -> Table {
        let columns = [("epoch", Unit::Text), ("answers", Unit::Count)];
        let mut table = Table::new("epochs", &columns);
        let more = (self.more_epochs > 0).then(|| ("(more)".to_owned(), self.more_epochs));
        for (epoch, count) in self.epochs.iter().cloned().chain(more) {
            table.rows.push(vec![epoch.into(), count.into()]);
        }
        table
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
    let session = Session::start(&Setup::filter_of(name, argv, &args.output))?;
    let pair = pair(&args.events, &args.from, &args.broker)?;
    let mut joined = Joined::default();
    let ended = runtime()?.block_on(join(args, &pair, &mut joined));
    let mut outcome = Outcome::new("join");
    outcome.ops = Some(joined.lines);
    outcome.bytes_out = joined.bytes;
    outcome.bytes_content = joined.bytes;
    outcome.did(joined.lines, ["event", "events"]);
    outcome.did(joined.blocks, ["block", "blocks"]);
    if joined.dead > 0 {
        outcome.did(joined.dead, ["dead letter", "dead letters"]);
        outcome.status = ExitStatus::Partial;
        outcome.complete = false;
    }
    if joined.repeated > 0 {
        outcome.did(joined.repeated, ["repeated answer", "repeated answers"]);
    }
    let params = &mut outcome.workload.params;
    params.insert("dead_letters".to_owned(), joined.dead.into());
    params.insert("repeated_answers".to_owned(), joined.repeated.into());
    params.insert("late_answers".to_owned(), joined.late.into());
    params.insert("other_answers".to_owned(), joined.others.into());
    params.insert("shards".to_owned(), (args.shards.len() as u64).into());
    outcome.tables.push(joined.epochs());
    if joined.late > 0 && args.output.terminal.wants_warnings() {
        let late = counted(joined.late, ["block was", "blocks were"]);
        message::remark(&format!(
            "{late} answered after being counted as a dead letter: join again, with a larger --hold if that does not help"
        ));
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

async fn join(args: &JoinArgs, pair: &Pair<'_>, joined: &mut Joined) -> Result<End> {
    let tells = args.output.terminal.wants_warnings();
    let mut answers = Answers::open(args, pair, tells).await?;
    let (first, last) = (answers.first(), answers.last());
    let shards: HashMap<&str, usize> = args
        .shards
        .iter()
        .enumerate()
        .map(|(at, name)| (name.as_str(), at))
        .collect();
    let hold = usize::try_from(args.hold).unwrap_or(usize::MAX);
    let mut merge = Merge::new(shards.len(), first, hold);
    let mut to = Output::stdout(context())
        .map_err(|error| Failure::io("write", Path::new("standard output"), &error))?;
    let wrong = |error| cannot_join(args, error);
    let mut lines = Vec::new();
    let mut failures = 0;
    let mut patience = Patience::new(args.timeout, Instant::now());
    while merge.next() <= last {
        if signal::interrupted() {
            return Ok(End::Interrupted);
        }
        match patience.look(Instant::now()) {
            Next::Wait => {}
            Next::Say if tells => message::remark(&format!(
                "{}; it is waited for{}",
                lacks(args, &merge),
                passed_over(joined)
            )),
            Next::Say => {}
            Next::GiveUp => return Err(gives_up(args, &merge, joined)),
        }
        let got = tokio::select! {
            got = answers.next() => got,
            () = sleep(LOOK) => continue,
        };
        let message = match got {
            Ok(message) => message,
            Err(error) if error.is_passing() && failures < FAILURES_MAX => {
                failures += 1;
                sleep(pause(failures)).await;
                continue;
            }
            Err(error) => return Err(failed(error)),
        };
        failures = 0;
        if !take(message, &answers, &shards, &mut merge, joined).map_err(wrong)? {
            continue;
        }
        patience.hear(Instant::now());
        while let Some((_, merged)) = merge.pop() {
            patience.go_on(Instant::now());
            let Merged::Answers(parts) = merged else {
                joined.dead += 1;
                continue;
            };
            lines.clear();
            join_lines(&parts, &mut lines).map_err(wrong)?;
            joined.blocks += 1;
            joined.lines += lines.iter().filter(|byte| **byte == b'\n').count() as u64;
            joined.bytes += lines.len() as u64;
            match to.write_all(&lines) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                    return Ok(End::Closed);
                }
                Err(error) => {
                    return Err(Failure::io("write", Path::new("standard output"), &error));
                }
            }
        }
    }
    Ok(End::All)
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
        joined.passed_over(name.filter(|_| number.is_some()));
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

/// Answers that are there and not asked for, if any.
fn passed_over(joined: &Joined) -> String {
    let shards: Vec<&str> = joined.other_shards.iter().map(String::as_str).collect();
    match (joined.others, shards.join(", ")) {
        (0, _) => String::new(),
        (count, shards) if shards.is_empty() => {
            format!(" ({count} answers are to blocks of other streams)")
        }
        (count, shards) => {
            format!(" ({count} answers are not of --shards or to other streams: of shard {shards})")
        }
    }
}

fn gives_up(args: &JoinArgs, merge: &Merge, joined: &Joined) -> Failure {
    let time = args.timeout.unwrap_or_default();
    let message = format!(
        "{}, and no answer has come for {time:?}{}",
        lacks(args, merge),
        passed_over(joined)
    );
    Failure::new(message).help(
        "see that workers of this shard run, and that --shards, --from and --dead-letters are theirs; a longer --timeout \
         waits for slow ones",
    )
}
