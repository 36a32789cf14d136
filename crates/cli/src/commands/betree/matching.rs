//! `perfkit betree match`: a line of matches for each line of events, by one thread or several.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use betree::{Batch, Buffers};
use files::display;
use files::output::Output;
use latency::report::{Input, LatencyName};
use latency::{Recorder, Spec};
use ordered::Pool;
use report::{ExitStatus, Outcome, names};

use crate::args::threads;
use crate::commands::betree::flags::{MatchArgs, MatchFormat};
use crate::commands::betree::lines::{Block, Limit, Lines};
use crate::commands::betree::print::Form;
use crate::commands::betree::priorities;
use crate::commands::betree::snapshot::{self, Tree};
use crate::commands::betree::worker::{Job, Made, Times, Worker};
use crate::commands::stop::{Stop, of_threads, stopped};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::session::{Session, Setup};
use crate::term::live::{self, Live};
use crate::term::progress::Progress;
use crate::term::{message, signal};

/// The most expressions of a batch: it takes 256 bytes each.
pub(super) const BATCH_EXPRESSIONS_MAX: usize = 1 << 16;
/// The longest line of `--format bitmap`.
const BITMAP_BITS_MAX: u64 = 1 << 28;

/// Blocks of a file.
const FILE: Limit = Limit {
    lines: usize::MAX,
    bytes: 256 << 10,
    waits: true,
};
/// Blocks of a pipe: who waits at its other end gets an answer to each event as it comes.
const PIPE: Limit = Limit {
    lines: usize::MAX,
    bytes: 64 << 10,
    waits: false,
};
/// Blocks of a file whose events are searched at once.
const BATCH: Limit = Limit {
    lines: Batch::EVENTS_MAX,
    bytes: 8 << 20,
    waits: true,
};

/// Runs the command.
pub(super) fn run(args: &MatchArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let threads = threads(args.threads)?;
    #[cfg(feature = "workers")]
    args.workers.check_unused()?;
    let live = live(args)?;
    let session = Session::start(&Setup {
        live: live.as_ref().map(Live::rows),
        rows: &[LatencyName::Service, LatencyName::Hold],
        ..Setup::filter_of(name, argv, &args.analysis)
    })?;
    let wants_progress = args.analysis.terminal.wants_progress() && live.is_none();
    let tree = snapshot::load(&args.tree, wants_progress)?;
    let (snapshot, bits) = (&tree.snapshot, checked_bits(args, &tree)?);
    let origin = display(&args.events).to_string();
    let priorities = args.priorities.as_deref();
    let priorities = priorities
        .map(|path| priorities::load(path, &tree))
        .transpose()?;
    let mut lines = Lines::open(&args.events)?;
    let to = Output::stdout(context())
        .map_err(|error| Failure::io("write", Path::new("standard output"), &error))?;
    let file_bytes = std::fs::metadata(&args.events)
        .ok()
        .filter(std::fs::Metadata::is_file)
        .map(|found| found.len());
    let is_faster = snapshot.lockstep_len() * 2 > snapshot.len();
    let is_small = snapshot.len() <= BATCH_EXPRESSIONS_MAX;
    let finds_all = args.first.is_none() && args.top.is_none();
    let job = Job {
        args,
        snapshot,
        form: Form {
            format: args.format,
            has_event_id: args.event_id.is_some(),
            names: &tree.names,
            bits,
        },
        priorities: priorities.as_ref(),
        batches: file_bytes.is_some() && is_faster && is_small && finds_all,
        origin: &origin,
        ends_early: true,
    };
    if let (Some(live), Some(bytes)) = (&live, file_bytes) {
        live.expect(bytes);
    }
    let limit = match (job.batches, file_bytes) {
        (true, _) => BATCH,
        (false, Some(_)) => FILE,
        (false, None) => PIPE,
    };
    let new_worker = || Worker::new(job, times(&session, job.batches));
    let mut receiver = Receiver {
        worker: None,
        new_worker: &new_worker,
        to,
        live: live.as_ref(),
        progress: Progress::start(
            wants_progress && !std::io::stdout().is_terminal(),
            file_bytes,
        ),
        written: 0,
        events: 0,
        refused: 0,
        matches: 0,
    };
    let ended = Pool::new().name("match").run_until(
        &signal::interrupted,
        (0..threads.max(1)).map(|_| new_worker()).collect(),
        |block, stop| lines.block(block, limit, &|| stop.is_set()),
        |worker: &mut Worker<'_>, block: &mut Block, made| worker.block(block, made),
        |block, made| receiver.take(block, made),
    );
    let mut outcome = Outcome::new("match");
    outcome.bytes_in = lines.bytes();
    outcome.bytes_content = lines.bytes();
    outcome.workload.inputs.push(Input {
        path: names::path(&args.events),
        bytes: lines.bytes(),
        xxh64: None,
    });
    outcome.workload.inputs_total = 1;
    let params = &mut outcome.workload.params;
    for (name, value) in [
        ("expressions", snapshot.len() as u64),
        ("expressions_in_lockstep", snapshot.lockstep_len() as u64),
        ("budget_reductions", args.budget),
        ("events_refused", receiver.refused),
        ("matches", receiver.matches),
        ("events_a_batch", job.events_a_batch()),
        ("threads", threads.into()),
    ] {
        params.insert(name.to_owned(), value.into());
    }
    params.insert("isa".to_owned(), Buffers::new().isa().name().into());
    receiver.conclude(ended.workers, &mut outcome);
    drop(live);
    outcome.did(snapshot.len() as u64, ["expression", "expressions"]);
    if let Err(error) = ended.result {
        stopped(
            of_threads(error, "a thread that matches events"),
            &mut outcome,
        );
    }
    if signal::interrupted() {
        outcome.status = ExitStatus::Interrupted;
        outcome.complete = false;
    }
    session.finish(outcome)
}

/// The view of the run, if there shall be one: not between matches.
fn live(args: &MatchArgs) -> Result<Option<Live>> {
    let wanted = args.live.live;
    if wanted && live::meets_output() {
        return Err(
            Failure::usage("--live cannot be shown where the matches are printed")
                .help("write them to a file: > matches"),
        );
    }
    Ok(Live::start(wanted, "match"))
}

impl Job<'_> {
    /// Events that are searched at once, or all if there are fewer.
    fn events_a_batch(&self) -> u64 {
        match self.batches {
            true => Batch::EVENTS_MAX as u64,
            false => 1,
        }
    }
}

/// The bits of a line of `--format bitmap`, 0 if there are none.
pub(super) fn checked_bits(args: &MatchArgs, tree: &Tree) -> Result<usize> {
    let bits = tree.lines;
    if args.format == MatchFormat::Bitmap && bits > BITMAP_BITS_MAX {
        let message = format!("the greatest id, {bits}, is too large for a bitmap");
        return Err(Failure::new(message).help("choose another --format"));
    }
    Ok(usize::try_from(bits).unwrap_or(0))
}

/// The recorders of a thread.
pub(super) fn times(session: &Session, batches: bool) -> Times {
    let recorder = |name, operation: &str, series: &str| {
        let spec = Spec::new(name, operation).series(series);
        Recorder::new(session.spec(spec), session.run_start())
    };
    let operation = if batches { "batch" } else { "event" };
    Times {
        searches: recorder(LatencyName::Service, operation, "search"),
        reads: recorder(LatencyName::Service, "event", "read"),
        holds: recorder(LatencyName::Hold, "step", "search"),
    }
}

/// Takes what threads made, in the order of the events.
struct Receiver<'a, 'w> {
    /// For what is left of blocks whose output became too long.
    worker: Option<Worker<'a>>,
    new_worker: &'w dyn Fn() -> Worker<'a>,
    to: Output,
    live: Option<&'w Live>,
    progress: Progress,
    written: u64,
    events: u64,
    refused: u64,
    matches: u64,
}

impl<'a> Receiver<'a, '_> {
    fn take(&mut self, block: &mut Block, made: &mut Made) -> std::result::Result<(), Stop> {
        self.progress.add(block.len() as u64);
        if let Some(live) = self.live {
            live.advance(block.len() as u64);
        }
        loop {
            self.events += made.events;
            self.matches += made.matches;
            self.refused += made.refused.len() as u64;
            let written = self.write(&made.out);
            let refused = made.refused.iter();
            refused.for_each(|refused| message::failure(&refused.failure));
            written?;
            if let Some(failure) = made.failure.take() {
                return Err(failure.into());
            }
            if made.rest.is_none() || signal::interrupted() {
                break;
            }
            let worker = self.worker.get_or_insert_with(self.new_worker);
            worker.block(block, made);
        }
        // What is left of an interrupted block is not for the next one.
        made.rest = None;
        match block.error.take() {
            Some(failure) => Err(failure.into()),
            None => Ok(()),
        }
    }

    fn write(&mut self, out: &[u8]) -> std::result::Result<(), Stop> {
        if out.is_empty() {
            return Ok(());
        }
        match self.to.write_all(out) {
            Ok(()) => {
                self.written += out.len() as u64;
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Stop::Closed),
            Err(error) => Err(Failure::io("write", Path::new("standard output"), &error).into()),
        }
    }

    fn conclude(self, workers: Vec<Worker<'a>>, outcome: &mut Outcome) {
        self.progress.finish();
        outcome.bytes_out = self.written;
        outcome.ops = Some(self.events);
        outcome.did(self.events, ["event", "events"]);
        outcome.did(self.matches, ["match", "matches"]);
        if self.refused > 0 {
            outcome.did(self.refused, ["event refused", "events refused"]);
            outcome.complete = false;
            outcome.status = match self.events {
                0 => ExitStatus::Failure,
                _ => ExitStatus::Partial,
            };
        }
        let workers: Vec<_> = workers.into_iter().chain(self.worker).collect();
        let memoised: u64 = workers.iter().map(Worker::memoised).sum();
        let params = &mut outcome.workload.params;
        params.insert("tests_memoised".to_owned(), memoised.into());
        let mut all = workers.into_iter().map(|worker| worker.times);
        let Some(mut times) = all.next() else {
            return;
        };
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
}
