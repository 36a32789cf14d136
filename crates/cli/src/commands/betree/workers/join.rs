//! `perfkit betree join`: answers in the order of their blocks, those of several shards as one line an event.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use files::output::Output;
use latency::report::{Table, Unit};
use report::{ExitStatus, Outcome};
use tokio::time::sleep;
use workers::nats::{Access, Connection, Facts, Reader};
use workers::{Block, Merge, Merged, join_lines, pause};

use crate::commands::betree::workers::flags::JoinArgs;
use crate::commands::nats::{access, connect, failed, runtime};
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

/// What was joined.
#[derive(Debug, Default)]
struct Joined {
    blocks: u64,
    lines: u64,
    bytes: u64,
    dead: u64,
    /// Answers to blocks of another stream, or of shards that were not asked for.
    others: u64,
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
    let access = access(&args.access)?;
    let mut joined = Joined::default();
    let ended = runtime()?.block_on(join(args, &access, &mut joined));
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
    let params = &mut outcome.workload.params;
    params.insert("dead_letters".to_owned(), joined.dead.into());
    params.insert("other_answers".to_owned(), joined.others.into());
    params.insert("shards".to_owned(), (args.shards.len() as u64).into());
    outcome.tables.push(joined.epochs());
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

async fn join(args: &JoinArgs, access: &Access, joined: &mut Joined) -> Result<End> {
    let tells = args.output.terminal.wants_warnings();
    let blocks = connect(&args.blocks, access, tells).await?;
    let answers = match args.from.is_same_cluster(&args.blocks) {
        true => blocks.clone(),
        false => connect(&args.from, access, tells).await?,
    };
    let facts = blocks.stream(args.blocks.stream()).await.map_err(failed)?;
    let answered = answers.stream(args.from.stream()).await.map_err(failed)?;
    let dead = dead_letters(args, &blocks).await?;
    let mut readers = Readers::open(&answers, &answered, &blocks, dead.as_ref()).await?;
    let shards: HashMap<&str, usize> = args
        .shards
        .iter()
        .enumerate()
        .map(|(at, name)| (name.as_str(), at))
        .collect();
    let window = usize::try_from(args.window).unwrap_or(usize::MAX);
    let mut merge = Merge::new(shards.len(), facts.first_sequence.max(1), window);
    let mut to = Output::stdout(context())
        .map_err(|error| Failure::io("write", Path::new("standard output"), &error))?;
    let wrong = |error: workers::MergeError| {
        Failure::new(error.to_string())
            .help("see that --blocks, --from and --shards belong together, and raise --window")
    };
    let mut lines = Vec::new();
    let mut failures = 0;
    while merge.next() <= facts.last_sequence {
        if signal::interrupted() {
            return Ok(End::Interrupted);
        }
        let (is_dead, got) = tokio::select! {
            got = readers.next() => got,
            () = sleep(LOOK) => continue,
        };
        let block = match got {
            Ok(block) => block,
            Err(error) if error.is_passing() && failures < FAILURES_MAX => {
                failures += 1;
                sleep(pause(failures)).await;
                continue;
            }
            Err(error) => return Err(failed(error)),
        };
        failures = 0;
        let place = block
            .labels
            .answers
            .as_ref()
            .filter(|place| place.stream == facts.identity);
        let shard = block
            .labels
            .shard
            .as_deref()
            .and_then(|name| shards.get(name));
        let (Some(place), Some(shard)) = (place, shard) else {
            joined.others += 1;
            continue;
        };
        match is_dead {
            true => merge.bury(place.sequence),
            false if place.sequence < facts.first_sequence => joined.others += 1,
            false => {
                joined.answered_by(block.labels.epoch.as_deref().unwrap_or_default());
                merge
                    .push(place.sequence, *shard, block.bytes)
                    .map_err(wrong)?;
            }
        }
        while let Some((_, merged)) = merge.pop() {
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

/// The stream of dead letters. That there is none is an error only if it was asked for.
async fn dead_letters(args: &JoinArgs, blocks: &Connection) -> Result<Option<Facts>> {
    let name = args.dead_letters.clone();
    let is_asked = name.is_some();
    let name = name.unwrap_or_else(|| format!("{}-dead", args.blocks.stream()));
    match blocks.stream(&name).await {
        Ok(facts) => Ok(Some(facts)),
        Err(error) if is_asked => Err(failed(error)),
        Err(_) => Ok(None),
    }
}

struct Readers {
    answers: Reader,
    dead: Option<Reader>,
}

impl Readers {
    async fn open(
        answers: &Connection,
        answered: &Facts,
        blocks: &Connection,
        dead: Option<&Facts>,
    ) -> Result<Self> {
        Ok(Self {
            answers: Reader::open(answers, answered).await.map_err(failed)?,
            dead: match dead {
                Some(facts) => Some(Reader::open(blocks, facts).await.map_err(failed)?),
                None => None,
            },
        })
    }

    /// The next message, and whether it is a dead letter.
    async fn next(&mut self) -> (bool, workers::Result<Block>) {
        let block = |got: workers::Result<(_, Block)>| got.map(|(_, block)| block);
        let Some(dead) = &mut self.dead else {
            return (false, block(self.answers.next().await));
        };
        tokio::select! {
            got = self.answers.next() => (false, block(got)),
            got = dead.next() => (true, block(got)),
        }
    }
}
