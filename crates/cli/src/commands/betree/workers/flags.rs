//! Flags of `betree feed`, `betree join` and of `betree match --from`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use files::conflicts::{Files, Stdout};
use workers::{Once, WHOLE};

use crate::args::broker::{Address, BrokerArgs, WaitArgs};
use crate::args::live::LiveArgs;
use crate::args::metrics::MetricsArgs;
use crate::args::nats::AccessArgs;
use crate::args::output::OutputArgs;
use crate::args::units;
use crate::failure::{Failure, Result};

/// How strongly an answer is given once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnceArg {
    /// By message ids, within the duplicate window of the stream
    Window,
    /// By one subject per answer, as long as the stream keeps the answer
    Always,
}

impl From<OnceArg> for Once {
    fn from(arg: OnceArg) -> Self {
        match arg {
            OnceArg::Window => Self::Window,
            OnceArg::Always => Self::Always,
        }
    }
}

/// `betree match` as a worker.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Workers")]
pub(crate) struct WorkerArgs {
    /// Match blocks of this stream, until SIGTERM: nats://HOST[:PORT]/STREAM, tls://… or kafka://HOST[:PORT]/TOPIC
    ///
    /// Any number of workers share the blocks. A block is acknowledged once its answer is stored; the blocks of a
    /// worker that dies are given to others.
    #[arg(long, value_name = "URL", requires_all = ["to", "snapshot"],
          conflicts_with_all = ["events", "expressions"])]
    pub(crate) from: Option<Address>,
    /// Publish answers to this stream
    #[arg(long, value_name = "URL", requires = "from")]
    pub(crate) to: Option<Address>,
    /// How an event is answered once: window or always
    ///
    /// window: the server remembers ids of answers for the duplicate window of the stream; an outage that is longer may
    /// repeat answers. always: each answer has a subject of its own, of which the stream keeps one message; a second
    /// answer is refused as long as the first is kept, for an index entry per block. Settings of the streams that
    /// cannot keep the promise are refused. By default window; on Kafka always, by transactions.
    #[arg(
        long,
        value_name = "HOW",
        value_enum,
        hide_possible_values = true,
        requires = "from"
    )]
    pub(crate) once: Option<OnceArg>,
    /// Name of the consumer that workers share, which is created if it is new
    #[arg(
        long,
        value_name = "NAME",
        default_value = "match",
        requires = "from",
        hide_short_help = true
    )]
    pub(crate) consumer: String,
    /// Which part of the expressions this worker has; each part needs a consumer of its own
    #[arg(
        long,
        value_name = "NAME",
        default_value = WHOLE,
        value_parser = shard_name,
        requires = "from",
        hide_short_help = true
    )]
    pub(crate) shard: String,
    /// Take each newer --snapshot without stopping: of a file that is replaced, or of a bucket, nats://HOST/BUCKET
    ///
    /// Looks every second. A block is answered by the snapshot that is there when it is taken, and each answer says by
    /// which (its epoch). In a bucket (see betree roll-out) a snapshot has the name of the --shard. A newer one that cannot
    /// be used is told and counted, and changes nothing.
    #[arg(long, requires = "from", conflicts_with = "epoch")]
    pub(crate) follow: bool,
    /// Name of this state of the expressions, in every answer; by default a hash of the snapshot
    #[arg(long, value_name = "NAME", requires = "from", hide_short_help = true)]
    pub(crate) epoch: Option<String>,
    /// How long the server waits for a sign of life before it gives a block to another worker
    ///
    /// Of a new consumer; an existing one keeps its own. On Kafka it is the session timeout of this worker.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = units::duration,
          requires = "from", hide_short_help = true)]
    pub(crate) ack_wait: Duration,
    /// Stream for blocks that failed five times; by default STREAM-dead of --from
    #[arg(long, value_name = "STREAM", requires = "from", hide_short_help = true)]
    pub(crate) dead_letters: Option<String>,
    /// Create the streams of --to and --dead-letters if they do not exist
    #[arg(long, requires = "from")]
    pub(crate) create: bool,
    /// Copies of a stream that is created, in a cluster
    #[arg(long, value_name = "N", default_value_t = 1, requires = "from", hide_short_help = true,
          value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) replicas: u8,
    /// Let these expressions and flags replace those of the workers before, all of which have been stopped
    ///
    /// A consumer remembers the expressions and the flags that decide an answer, and refuses a worker with others:
    /// answers of both kinds would be mixed. A worker that still runs with those before notices within seconds, and ends
    /// with 1.
    #[arg(
        long,
        requires = "from",
        overrides_with = "_no_take_over",
        hide_short_help = true
    )]
    pub(crate) take_over: bool,
    #[arg(long = "no-take-over", overrides_with = "take_over", hide = true)]
    pub(crate) _no_take_over: bool,
    /// Stop once every block of the stream is done
    ///
    /// Blocks that are fed later are not waited for. A signal before that ends it with 130.
    #[arg(long, requires = "from")]
    pub(crate) until_done: bool,
    /// Time to finish blocks once a signal asks to stop; then others get them
    ///
    /// Where the server is away, so that nothing can be stored, they are left at once.
    #[arg(long, value_name = "TIME", default_value = "25s", value_parser = units::duration,
          requires = "from", hide_short_help = true)]
    pub(crate) grace: Duration,
    /// End with 1 once the first N blocks have failed and none was answered; 0: go on
    ///
    /// They are events of another kind, or of other domains, and all others would be dead letters, too.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        requires = "from",
        hide_short_help = true
    )]
    pub(crate) give_up_after: usize,
    /// Write the name of the consumer to FILE once blocks are taken, and remove it at the end
    #[arg(long, value_name = "FILE", requires = "from", hide_short_help = true)]
    pub(crate) ready_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
    #[command(flatten)]
    pub(crate) broker: BrokerArgs,
}

impl WorkerArgs {
    /// Refuses what only a worker does.
    pub(in crate::commands::betree) fn check_unused(&self) -> Result<()> {
        match self.metrics.address()? {
            None => Ok(()),
            Some(_) => Err(Failure::usage("--metrics needs --from")
                .help("see `betree serve` for a matcher with metrics, or --live")),
        }
    }

    /// The stream of dead letters of this stream of blocks.
    pub(super) fn dead_name(&self, stream: &str) -> String {
        dead_letters(self.dead_letters.as_deref(), stream)
    }

    pub(crate) fn files<'a>(&'a self, files: Files<'a>) -> Files<'a> {
        let files = self.broker.files(files);
        match &self.ready_file {
            Some(path) => files.writes("--ready-file", path),
            None => files,
        }
    }
}

/// Feed events into a stream, in blocks.
///
/// Publishes lines to a stream of NATS JetStream, or a topic of Kafka, in blocks of up to 64 KiB, each stored once: the stream remembers the
/// last block of each file, so that a feeder that was killed goes on where it was, and repeats and loses nothing. A pipe
/// is fed as it comes: what has waited for 5 ms goes out.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit betree feed --create --to nats://127.0.0.1/EVENTS events.ndjson
  tail -F events.ndjson | perfkit betree feed --to nats://127.0.0.1/EVENTS -
  perfkit betree feed --creds feeder.creds --to tls://nats.example.com/EVENTS --source day-1 events.ndjson")]
pub(crate) struct FeedArgs {
    /// Events, one per line; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) events: PathBuf,
    /// The stream: nats://HOST[:PORT]/STREAM, tls://… or kafka://HOST[:PORT]/TOPIC
    #[arg(long, value_name = "URL")]
    pub(crate) to: Address,
    /// Name of this source, by which the stream knows where to go on
    ///
    /// By default it is made of the path and the inode of the file. State it where the same file has another path
    /// after a restart, as in containers. A pipe has no name unless it is stated, and is never gone on with.
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Length of a block; a line that is longer is a block of its own
    #[arg(long, value_name = "SIZE", default_value = "64K", value_parser = units::size)]
    pub(crate) block: u64,
    /// Longest time that a line of a pipe waits for others
    #[arg(long, value_name = "TIME", default_value = "5ms", value_parser = units::duration, hide_short_help = true)]
    pub(crate) linger: Duration,
    /// Create the stream if it does not exist
    #[arg(long)]
    pub(crate) create: bool,
    /// Copies of a stream that is created, in a cluster
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true,
          value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) replicas: u8,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
    #[command(flatten)]
    pub(crate) broker: BrokerArgs,
}

impl FeedArgs {
    pub(crate) fn files(&self) -> Files<'_> {
        let files = self.output.files().reads("FILE", &self.events);
        self.broker.files(files)
    }
}

/// Give workers another snapshot, without stopping them.
///
/// Puts a snapshot into a bucket of NATS, in the place of the one before, after it was checked. Workers with --follow
/// look for a newer one every second, and answer each block with the one that is there when they take it. Its name in
/// answers, the epoch, is printed: a hash of the file.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit betree build --domains domains --expressions expressions -o s.snap
  perfkit betree roll-out --create --to nats://127.0.0.1/SNAPSHOTS s.snap
  perfkit betree match --follow --snapshot nats://127.0.0.1/SNAPSHOTS --from nats://127.0.0.1/EVENTS --to nats://127.0.0.1/MATCHES
  perfkit betree roll-out --shard a --to nats://127.0.0.1/SNAPSHOTS a.snap")]
pub(crate) struct RollOutArgs {
    /// Snapshot from `betree build`
    #[arg(value_name = "SNAP")]
    pub(crate) snapshot: PathBuf,
    /// The bucket: nats://HOST[:PORT]/BUCKET or tls://…
    #[arg(long, value_name = "URL")]
    pub(crate) to: workers::nats::Address,
    /// Which part of the expressions it is, as workers name it
    #[arg(long, value_name = "NAME", default_value = WHOLE, value_parser = shard_name)]
    pub(crate) shard: String,
    /// Create the bucket if it does not exist
    #[arg(long)]
    pub(crate) create: bool,
    /// Copies of a bucket that is created, in a cluster
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true,
          value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) replicas: u8,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

impl RollOutArgs {
    pub(crate) fn files(&self) -> Files<'_> {
        let files = self.output.files().reads("SNAP", &self.snapshot);
        self.access.files(files.stdout(Stdout::Data))
    }
}

/// Put answers in the order of their blocks.
///
/// Reads the answers of workers and writes their lines to standard output in the order of the stream of blocks, as
/// `betree match` without a broker does. With several shards, each event has the ids of all. Ends with the last block
/// that the stream has now. Blocks that became dead letters are left out, named, and exit 3. A block that was answered
/// twice in the same words is counted; two different answers are an error.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit betree join --events nats://127.0.0.1/EVENTS --from nats://127.0.0.1/MATCHES > matches
  perfkit betree join --events nats://127.0.0.1/EVENTS --from nats://127.0.0.1/MATCHES --shards a,b
  perfkit betree join --events nats://127.0.0.1/EVENTS --from nats://127.0.0.1/MATCHES --hold 1G --timeout 10m")]
pub(crate) struct JoinArgs {
    /// The stream of blocks of events
    #[arg(long, value_name = "URL")]
    pub(crate) events: Address,
    /// The stream of answers
    #[arg(long, value_name = "URL")]
    pub(crate) from: Address,
    /// The shards of the workers
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = WHOLE,
        value_parser = shard_name
    )]
    pub(crate) shards: Vec<String>,
    /// Stream of dead letters; by default that of --events with -dead
    #[arg(long, value_name = "STREAM", hide_short_help = true)]
    pub(crate) dead_letters: Option<String>,
    /// The most answers that wait for others before them
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = units::size, hide_short_help = true)]
    pub(crate) hold: u64,
    /// Give up when no answer has come for so long; by default it waits for ever
    ///
    /// The server and the streams are waited for as --wait says. After five seconds without an answer to the block that is due, it says which block lacks which shard.
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) timeout: Option<Duration>,
    /// Do not fail where the stream has removed blocks that have no answer
    ///
    /// They are said and counted in any case. Without it the exit code is 3.
    #[arg(long, overrides_with = "_no_allow_removed", hide_short_help = true)]
    pub(crate) allow_removed: bool,
    #[arg(
        long = "no-allow-removed",
        overrides_with = "allow_removed",
        hide = true
    )]
    pub(crate) _no_allow_removed: bool,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
    #[command(flatten)]
    pub(crate) broker: BrokerArgs,
}

impl JoinArgs {
    /// The stream of dead letters.
    pub(super) fn dead_name(&self) -> String {
        dead_letters(self.dead_letters.as_deref(), self.events.stream())
    }

    pub(crate) fn files(&self) -> Files<'_> {
        let files = self.output.files().stdout(Stdout::Data);
        self.broker.files(files)
    }
}

/// The stream of dead letters of a stream of blocks, unless another one is stated.
fn dead_letters(stated: Option<&str>, stream: &str) -> String {
    stated.map_or_else(|| format!("{stream}-dead"), str::to_owned)
}

/// A name of a shard. One that is empty, or begins or ends with a blank, is a slip in a list.
fn shard_name(text: &str) -> std::result::Result<String, String> {
    match text.trim() == text && !text.is_empty() && !text.contains(',') {
        true => Ok(text.to_owned()),
        false => {
            Err("a name of a shard has a character, no comma, and no blank at its ends".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use crate::args::Cli;

    fn parses(line: &str) -> bool {
        Cli::try_parse_from(line.split_whitespace()).is_ok()
    }

    #[test]
    fn a_worker_needs_both_streams_and_a_snapshot() {
        let whole = "perfkit betree match --from nats://a/IN --to nats://a/OUT --snapshot s";
        assert!(parses(whole));
        assert!(parses(&format!("{whole} --once always --until-done")));
        for wrong in [
            "perfkit betree match --from nats://a/IN --snapshot s",
            "perfkit betree match --from nats://a/IN --to nats://a/OUT --expressions e",
            "perfkit betree match --snapshot s --to nats://a/OUT",
            "perfkit betree match --snapshot s --once always",
            &format!("{whole} --events e"),
            &format!("{whole} --once twice"),
            "perfkit betree match --from nats://me:secret@a/IN --to nats://a/OUT --snapshot s",
        ] {
            assert!(!parses(wrong), "{wrong}");
        }
    }

    #[test]
    fn secrets_are_in_files() {
        let whole = "perfkit betree feed --to nats://a/IN";
        assert!(parses(&format!("{whole} --user me --password-file p")));
        assert!(parses(&format!("{whole} --creds c --tls-ca ca")));
        for wrong in [
            "--password p",
            "--token t",
            "--creds c --token-file t",
            "--creds c --user me",
        ] {
            assert!(!parses(&format!("{whole} {wrong}")), "{wrong}");
        }
    }
}
