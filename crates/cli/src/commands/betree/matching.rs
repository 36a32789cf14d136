//! `perfkit betree match`: a line of matches for each line of events.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use betree::{Batch, Budget, Buffers, Event, Progress, Snapshot, SubscriptionId};
use files::display;
use files::output::Output;
use latency::report::{Input, LatencyName};
use latency::{Recorder, Spec};
use report::{ExitStatus, Outcome, names};

use crate::commands::betree::flags::{MatchArgs, MatchOutput};
use crate::commands::betree::lines::{Lines, Next};
use crate::commands::betree::print::Form;
use crate::commands::betree::snapshot::{self, Tree};
use crate::commands::stop::{Stop, stopped};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::session::{Session, Setup};
use crate::term::{message, signal};

/// Output that is gathered before it is written, as long as events keep coming.
const OUTPUT_BYTES: usize = 64 * 1024;

/// The most expressions of a batch: it takes 256 bytes each.
const BATCH_EXPRESSIONS_MAX: usize = 1 << 16;
/// The longest line of `--output bitmap`.
const BITMAP_BITS_MAX: u64 = 1 << 28;

/// Runs the command.
pub(super) fn run(args: &MatchArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let session = Session::start(&Setup {
        rows: &[LatencyName::Service, LatencyName::Hold],
        ..Setup::filter_of(name, argv, &args.analysis)
    })?;
    let tree = snapshot::load(&args.tree, args.analysis.terminal.wants_progress())?;
    let (snapshot, lines_count) = (&tree.snapshot, tree.lines);
    if args.output == MatchOutput::Bitmap && lines_count > BITMAP_BITS_MAX {
        let message = format!("the greatest id, {lines_count}, is too large for a bitmap");
        return Err(Failure::new(message).help("choose another --output"));
    }
    let mut lines = Lines::open(&args.events)?;
    let to = Output::stdout(context())
        .map_err(|error| Failure::io("write", Path::new("standard output"), &error))?;
    let mut matcher = Matcher::new(&session, args, &tree, to);
    let ended = matcher.all(&mut lines);
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
        ("events_refused", matcher.refused),
        ("matches", matcher.matches),
        ("events_a_batch", matcher.batch_events()),
    ] {
        params.insert(name.to_owned(), value.into());
    }
    params.insert("isa".to_owned(), matcher.buffers.isa().name().into());
    matcher.conclude(&mut outcome);
    if let Err(stop) = ended {
        stopped(stop, &mut outcome);
    }
    if signal::interrupted() {
        outcome.status = ExitStatus::Interrupted;
        outcome.complete = false;
    }
    session.finish(outcome)
}

struct Matcher<'a> {
    args: &'a MatchArgs,
    snapshot: &'a Snapshot,
    form: Form<'a>,
    buffers: Buffers,
    /// Where events are searched many at a time, and those that wait, with the numbers of their lines.
    batch: Option<Batch>,
    waiting: Vec<Event>,
    numbers: Vec<u64>,
    ids: Vec<SubscriptionId>,
    reads: Recorder,
    searches: Recorder,
    holds: Recorder,
    /// Where lines go, and those that were not written yet.
    to: Output,
    out: Vec<u8>,
    written: u64,
    events: u64,
    refused: u64,
    matches: u64,
}

impl<'a> Matcher<'a> {
    fn new(session: &Session, args: &'a MatchArgs, tree: &'a Tree, to: Output) -> Self {
        let snapshot = &tree.snapshot;
        let recorder = |name, operation: &str, series: &str| {
            let spec = Spec::new(name, operation).series(series);
            Recorder::new(session.spec(spec), session.run_start())
        };
        // Whoever waits at the other end of a pipe is told of each event; a file has no one waiting.
        let is_file = std::fs::metadata(&args.events).is_ok_and(|found| found.is_file());
        let is_faster = snapshot.lockstep_len() * 2 > snapshot.len();
        let is_small = snapshot.len() <= BATCH_EXPRESSIONS_MAX;
        let batch = (is_file && is_faster && is_small).then(|| snapshot.batch());
        Self {
            args,
            snapshot,
            form: Form {
                output: args.output,
                names: &tree.names,
                lines: usize::try_from(tree.lines).unwrap_or(0),
            },
            buffers: Buffers::new(),
            waiting: Vec::new(),
            numbers: Vec::new(),
            ids: Vec::new(),
            reads: recorder(LatencyName::Service, "event", "read"),
            searches: match batch {
                Some(_) => recorder(LatencyName::Service, "batch", "search"),
                None => recorder(LatencyName::Service, "event", "search"),
            },
            batch,
            holds: recorder(LatencyName::Hold, "step", "search"),
            to,
            out: Vec::new(),
            written: 0,
            events: 0,
            refused: 0,
            matches: 0,
        }
    }

    fn all(&mut self, lines: &mut Lines) -> std::result::Result<(), Stop> {
        let ended = self.lines(lines);
        let searched = self.search_waiting().map_err(Stop::from);
        let ended = ended.and(searched);
        // What was found before an error is found.
        let flushed = self.flush();
        ended.and(flushed)
    }

    fn lines(&mut self, lines: &mut Lines) -> std::result::Result<(), Stop> {
        while !signal::interrupted() {
            let line = match lines.next(self.out.is_empty())? {
                Next::Line(line) => line,
                Next::End => break,
                Next::Idle => {
                    self.flush()?;
                    continue;
                }
            };
            let json = lines.get(line);
            if json.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let number = lines.number();
            match self.read(json, number) {
                Ok(event) if self.batch.is_some() => {
                    self.waiting.push(event);
                    self.numbers.push(number);
                    if self.waiting.len() == Batch::EVENTS_MAX {
                        self.search_waiting()?;
                    }
                }
                Ok(event) => self.search(&event, number)?,
                Err(error) => {
                    let name = display(&self.args.events);
                    let failure =
                        Failure::new(format!("cannot read {name}: line {number}: {error}"));
                    if !self.args.keep_going {
                        return Err(failure
                            .help("correct the event, or add --keep-going to skip such events")
                            .into());
                    }
                    message::failure(&failure);
                    self.refused += 1;
                }
            }
            if self.out.len() >= OUTPUT_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn read(&mut self, json: &[u8], number: u64) -> betree::Result<Event> {
        let start = Instant::now();
        let json = crate::commands::expressions::event_json(self.snapshot.domain(), json)?;
        let mut reader = self.snapshot.event_reader(&json, self.args.ignore_unknown);
        reader.step(Budget::UNLIMITED)?;
        let event = reader.finish()?;
        let what = || format!("line {number}");
        self.reads.record_span_what(start, Instant::now(), what);
        Ok(event)
    }

    fn search(&mut self, event: &Event, number: u64) -> Result<()> {
        let foreign = |error: betree::Error| Failure::new(error.to_string());
        let budget = Budget::reductions(self.args.budget);
        let begun = Instant::now();
        let mut start = begun;
        let mut search = self
            .snapshot
            .search_iterator(event, &mut self.buffers)
            .map_err(foreign)?;
        let ended = loop {
            let progress = search.step(budget);
            let end = Instant::now();
            let what = || format!("line {number}");
            self.holds.record_span_what(start, end, what);
            if progress == Progress::Done {
                break end;
            }
            start = end;
        };
        let what = || format!("line {number}");
        self.searches.record_span_what(begun, ended, what);
        self.events += 1;
        let ids = search.ids();
        self.matches += ids.len() as u64;
        self.form.matches(number, ids, &mut self.out);
        Ok(())
    }

    /// Searches what waits, all at once.
    fn search_waiting(&mut self) -> Result<()> {
        let Some(batch) = self.batch.as_mut().filter(|_| !self.waiting.is_empty()) else {
            return Ok(());
        };
        let foreign = |error: betree::Error| Failure::new(error.to_string());
        let budget = Budget::reductions(self.args.budget);
        let what = || format!("a batch from line {}", self.numbers[0]);
        let begun = Instant::now();
        let mut start = begun;
        let mut search = batch.search(&self.waiting).map_err(foreign)?;
        loop {
            let progress = search.step(budget);
            let end = Instant::now();
            self.holds.record_span_what(start, end, what);
            start = end;
            if progress == Progress::Done {
                break;
            }
        }
        self.searches.record_span_what(begun, start, what);
        for (at, number) in self.numbers.iter().enumerate() {
            self.ids.clear();
            batch.ids(at, &mut self.ids);
            self.events += 1;
            self.matches += self.ids.len() as u64;
            self.form.matches(*number, &self.ids, &mut self.out);
        }
        self.waiting.clear();
        self.numbers.clear();
        Ok(())
    }

    fn flush(&mut self) -> std::result::Result<(), Stop> {
        let out = std::mem::take(&mut self.out);
        let written = self.to.write_all(&out);
        match written {
            Ok(()) => {
                self.written += out.len() as u64;
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Stop::Closed),
            Err(error) => Err(Failure::io("write", Path::new("standard output"), &error).into()),
        }
    }

    /// Events that are searched at once, as far as there are so many.
    fn batch_events(&self) -> u64 {
        self.batch.as_ref().map_or(1, |_| Batch::EVENTS_MAX as u64)
    }

    fn conclude(self, outcome: &mut Outcome) {
        outcome.bytes_out = self.written;
        outcome.ops = Some(self.events);
        outcome.did(self.events, ["event", "events"]);
        outcome.did(self.matches, ["match", "matches"]);
        outcome.did(self.snapshot.len() as u64, ["expression", "expressions"]);
        if self.refused > 0 {
            outcome.complete = false;
            outcome.status = match self.events {
                0 => ExitStatus::Failure,
                _ => ExitStatus::Partial,
            };
        }
        for recorder in [self.searches, self.reads, self.holds] {
            if !recorder.is_empty() {
                outcome.add(&recorder.finish());
            }
        }
    }
}
