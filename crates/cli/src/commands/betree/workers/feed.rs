//! `perfkit betree feed`: lines of a file or a pipe, in blocks, into a stream.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use latency::report::{Input, LatencyName};
use latency::{Recorder, Spec};
use report::units::counted;
use report::{ExitStatus, Outcome, names};
use tokio::time::sleep;
use workers::{Cut, Cutter, Published, pause};

use crate::commands::absent::interrupted;
use crate::commands::betree::workers::access::pair;
use crate::commands::betree::workers::feeder::Feeder;
use crate::commands::betree::workers::flags::FeedArgs;
use crate::commands::betree::workers::numbers::{Number, Numbers};
use crate::commands::betree::workers::source::Source;
use crate::commands::nats::{failed, runtime};
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};
use crate::term::live::Live;
use crate::term::{message, signal};

/// How often to look whether somebody wants the end.
const LOOK: Duration = Duration::from_millis(50);
/// How long a block that is on its way is waited for then.
const STOP: Duration = Duration::from_secs(1);

/// What was fed.
#[derive(Debug, Default)]
struct Fed {
    blocks: u64,
    events: u64,
    bytes: u64,
    /// Blocks that the stream had.
    known: u64,
    /// Publications that were repeated.
    republished: u64,
    /// Where it began.
    offset: u64,
}

/// The numbers of `--metrics`.
const NUMBERS: [Number; 6] = [
    ("events", "Events that were fed", true),
    ("blocks", "Blocks that are stored", true),
    ("blocks_known", "Those that the stream had", true),
    ("bytes", "Bytes of the source that are stored", true),
    (
        "publications_repeated",
        "Publications that were repeated",
        true,
    ),
    (
        "source_byte",
        "Up to which byte the source is stored",
        false,
    ),
];

/// Who sees what is fed while it goes on.
struct Seen<'a> {
    numbers: &'a Numbers<{ NUMBERS.len() }>,
    live: Option<&'a Live>,
}

impl Seen<'_> {
    fn see(&self, fed: &Fed) {
        let place = fed.offset + fed.bytes;
        self.numbers.set([
            fed.events,
            fed.blocks,
            fed.known,
            fed.bytes,
            fed.republished,
            place,
        ]);
        if let Some(live) = self.live {
            let (blocks, events) = (
                counted(fed.blocks, ["block", "blocks"]),
                counted(fed.events, ["event", "events"]),
            );
            live.now(format!("{blocks}, {events}, up to byte {place}"));
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &FeedArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let tells = args.output.terminal.wants_warnings();
    let numbers = Numbers::start("perfkit_feeder", &NUMBERS, &args.metrics, tells)?;
    let live = Live::start(args.live.live, "feed");
    let session = Session::start(&Setup {
        live: live.as_ref().map(Live::rows),
        rows: &[LatencyName::Service],
        ..Setup::filter_of(name, argv, &args.output)
    })?;
    let spec = Spec::new(LatencyName::Service, "publication").series("store");
    let mut stored = Recorder::new(session.spec(spec), session.run_start());
    let pair = pair(&args.to, &args.to, &args.broker)?;
    let mut source = Source::open(&args.events, args.source.as_deref())?;
    let source_name = source.name.clone();
    let mut fed = Fed::default();
    let fed_all = runtime()?.block_on(async {
        let (mut feeder, known) = Feeder::open(args, &pair, &source, tells).await?;
        let (offset, line) = match &known {
            Some(known) if source.is_file => source.go_on(&args.events, known)?,
            Some(_) => {
                let message = format!("the stream has blocks of a source named {}", source.name);
                return Err(Failure::new(message)
                    .help("a pipe cannot be gone on with: give it another name, or none"));
            }
            None => (0, 1),
        };
        fed.offset = offset;
        numbers.set_well(true);
        if offset > 0 && tells {
            say_known(args, (offset, line));
        }
        let longest = feeder.block_bytes_max();
        let wanted = usize::try_from(args.block)
            .unwrap_or(usize::MAX)
            .min(longest);
        let mut cutter = Cutter::new(wanted, longest, offset, line);
        if !source.is_file {
            cutter = cutter.linger(args.linger);
        }
        let feeding = Feeding {
            feeder: &mut feeder,
            cutter,
            started: Instant::now(),
            fed: &mut fed,
            cuts: Vec::new(),
            seen: Seen {
                numbers: &numbers,
                live: live.as_ref(),
            },
            stored: &mut stored,
            tells,
        };
        feeding.run(args, source).await
    });
    drop(live);
    let mut outcome = Outcome::new("feed");
    outcome.bytes_in = fed.bytes;
    outcome.bytes_content = fed.bytes;
    outcome.ops = Some(fed.events);
    outcome.workload.inputs.push(Input {
        path: names::path(&args.events),
        bytes: fed.bytes,
        xxh64: None,
    });
    outcome.workload.inputs_total = 1;
    outcome.did(fed.events, ["event", "events"]);
    outcome.did(fed.blocks, ["block", "blocks"]);
    if !stored.is_empty() {
        outcome.add(&stored.finish());
    }
    let params = &mut outcome.workload.params;
    params.insert("source".to_owned(), source_name.into());
    for (name, value) in [
        ("from_byte", fed.offset),
        ("blocks_known", fed.known),
        ("publications_repeated", fed.republished),
        ("block_bytes", args.block),
    ] {
        params.insert(name.to_owned(), value.into());
    }
    match fed_all {
        Ok(true) => {}
        Ok(false) => {
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

/// Says that the stream has a part of the file, or all of it.
fn say_known(args: &FeedArgs, (offset, line): (u64, u64)) {
    let name = files::display(&args.events);
    let length = std::fs::metadata(&args.events).map(|facts| facts.len());
    let stream = args.to.stream();
    message::remark(&match length.is_ok_and(|length| length == offset) {
        true => format!(
            "{stream} has all {offset} bytes of {name}: there is nothing to feed; to feed it once more, give it another \
             --source"
        ),
        false => {
            format!("{stream} has {name} up to byte {offset}: it is fed from there on, line {line}")
        }
    });
}

/// Until somebody has wanted the end for so long.
async fn interrupted_for(time: Duration) {
    interrupted().await;
    sleep(time).await;
}

/// Lines that are not blank.
fn events(bytes: &[u8]) -> u64 {
    let lines = bytes.split(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.iter().all(u8::is_ascii_whitespace))
        .count() as u64
}

struct Feeding<'a> {
    feeder: &'a mut Feeder,
    cutter: Cutter,
    started: Instant,
    fed: &'a mut Fed,
    /// Blocks that are stored together.
    cuts: Vec<Cut>,
    seen: Seen<'a>,
    /// How long the server took to store them.
    stored: &'a mut Recorder,
    tells: bool,
}

impl Feeding<'_> {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Feeds until the end of the source. False: somebody asked to stop before.
    async fn run(mut self, args: &FeedArgs, source: Source) -> Result<bool> {
        let long = |error: workers::LongLine| {
            let name = files::display(&args.events);
            Failure::new(format!("cannot feed {name}: {error}"))
                .help("leave the line out, or raise what the server takes: max_payload of NATS, max.message.bytes of a topic of Kafka")
        };
        let mut pieces = source.pieces()?;
        loop {
            while let Some(cut) = self.cutter.take(self.now()).map_err(long)? {
                if !self.gather(cut).await? {
                    return Ok(false);
                }
            }
            if !self.publish().await? {
                return Ok(false);
            }
            let wait = self
                .cutter
                .due()
                .map_or(LOOK, |due| due.saturating_sub(self.now()).min(LOOK));
            tokio::select! {
                piece = pieces.recv() => match piece {
                    Some(Ok(piece)) => {
                        let now = self.now();
                        self.cutter.push(&piece, now);
                    }
                    Some(Err(error)) => return Err(Failure::io("read", &args.events, &error)),
                    None => break,
                },
                () = sleep(wait) => {}
            }
            if signal::interrupted() {
                return Ok(false);
            }
        }
        while let Some(cut) = self.cutter.take_last(self.now()).map_err(long)? {
            if !self.gather(cut).await? {
                return Ok(false);
            }
        }
        self.publish().await
    }

    /// Adds a block to those that are stored together.
    async fn gather(&mut self, cut: Cut) -> Result<bool> {
        self.cuts.push(cut);
        match self.cuts.len() < self.feeder.blocks_max() {
            true => Ok(true),
            false => self.publish().await,
        }
    }

    /// Publishes the blocks that were gathered, however long the server is away. False: somebody asked to stop before
    /// they were stored.
    async fn publish(&mut self) -> Result<bool> {
        let cuts = std::mem::take(&mut self.cuts);
        if cuts.is_empty() {
            return Ok(true);
        }
        let mut failures = 0;
        loop {
            let begun = Instant::now();
            let stored = tokio::select! {
                stored = self.feeder.publish(&cuts) => stored,
                // What is stored all the same is found when the source is fed again.
                () = interrupted_for(STOP) => return Ok(false),
            };
            match stored {
                Ok(published) => {
                    self.stored.record_span(begun, Instant::now());
                    let blocks = cuts.len() as u64;
                    self.fed.blocks += blocks;
                    if published == Published::Duplicate {
                        self.fed.known += blocks;
                    }
                    for cut in cuts {
                        self.fed.bytes += cut.bytes.len() as u64;
                        self.fed.events += events(&cut.bytes);
                    }
                    self.seen.see(self.fed);
                    return Ok(true);
                }
                Err(error) if error.is_passing() => {
                    failures += 1;
                    self.fed.republished += 1;
                    self.seen.see(self.fed);
                    if self.tells && failures == 1 {
                        message::remark(&format!(
                            "a block was not stored, and is sent again: {error}"
                        ));
                    }
                    let until = self.now() + pause(failures);
                    while self.now() < until {
                        if signal::interrupted() {
                            return Ok(false);
                        }
                        sleep(LOOK).await;
                    }
                }
                Err(error) => return Err(failed(error)),
            }
            if signal::interrupted() {
                return Ok(false);
            }
        }
    }
}
