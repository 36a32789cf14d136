//! What a codec works with: input from a source, timed calls, output to a sink.
//!
//! Only calls of the codec are timed. Opening and committing is in `job`.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use files::place::Placer;
use files::plan::{Job, Jobs};
use files::sink::{Buffer, Sink};
use files::source::{self, Source};
use files::target::Target;
use latency::report::LatencyName;
use latency::{Recorder, Spec};
use report::{ExitStatus, Outcome, names};
use zstdkit::parallel::{JobObserver, Output, PositionedWriter};

use crate::failure::Failure;
use crate::session::Session;
use crate::term::progress::Progress;
use crate::term::signal;

/// How long a call may wait for threads of the codec.
pub(crate) const WAIT_MAX: Duration = Duration::from_millis(1);

/// Why a job ended early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It failed; others may continue.
    Failed(Failure),
    /// The user asked to stop everything.
    Interrupted,
    /// The reader of our output has gone: there is nothing left to do.
    PipeClosed,
    /// Its target was there, and is kept.
    Kept,
    /// This thread cannot process it: nothing was done, and another thread must take it.
    Declined,
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        match failure.exit_status() {
            ExitStatus::Interrupted => Self::Interrupted,
            _ => Self::Failed(failure),
        }
    }
}

impl From<files::Error> for Stop {
    fn from(error: files::Error) -> Self {
        Failure::from(error).into()
    }
}

/// What a stage works with.
pub(crate) struct Stream<'a> {
    pub(super) job: &'a Job,
    pub(super) source: &'a mut Source,
    /// Input that was only looked at so far: what [`Stream::next`] returns first.
    pub(super) ahead: VecDeque<source::Buffer>,
    pub(super) target: Option<&'a Target>,
    pub(super) sink: &'a mut Sink,
    /// Whether the output is the whole of a new file, and whether zeros in it become holes.
    pub(super) alone: Option<Sparse>,
    pub(super) out: Option<Buffer>,
    pub(super) times: &'a mut Times,
    pub(super) progress: &'a Progress,
    /// Calls of the codec for this source.
    pub(super) calls: u64,
    pub(super) waits: Waits,
}

/// What a stream has waited for since it began.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waits {
    /// Input.
    pub(crate) source: Duration,
    /// Room for output.
    pub(crate) sink: Duration,
    /// Calls of the codec.
    pub(crate) codec: Duration,
}

/// Whether zeros become holes.
type Sparse = bool;

/// The recorders of a run.
#[derive(Debug)]
pub(crate) struct Times {
    specs: Specs,
    service: Recorder,
    hold: Recorder,
    /// Whole files, if there are several.
    file: Option<Recorder>,
    /// Runs of frames that threads of the codec processed.
    runs: Arc<Mutex<Option<Recorder>>>,
    /// Bytes read, including those of unfinished sources.
    read_bytes: u64,
}

/// What the recorders of all threads of a run have in common.
#[derive(Debug, Clone)]
struct Specs {
    service: Spec,
    hold: Spec,
    file: Option<Spec>,
    start: Instant,
}

/// The times that a transfer has distributions of.
pub(crate) const ROWS: [LatencyName; 2] = [LatencyName::Service, LatencyName::Hold];

/// Service time of one operation, summed over its calls.
#[derive(Debug, Default)]
pub(crate) struct Operation {
    start: Option<Instant>,
    spent: Duration,
}

impl Times {
    /// Recorders for operations with this name over `jobs`.
    pub(crate) fn new(session: &Session, operation: &str, jobs: &Jobs) -> Self {
        let settings = |spec| session.spec(spec);
        Self::of(operation, jobs, session.run_start(), settings)
    }

    /// The same if there will be no report.
    pub(crate) fn unreported(operation: &str, jobs: &Jobs) -> Self {
        Self::of(operation, jobs, Instant::now(), Spec::only_extremes)
    }

    fn of(operation: &str, jobs: &Jobs, start: Instant, settings: impl Fn(Spec) -> Spec) -> Self {
        let several = jobs.jobs.len() > 1;
        let file = || Spec::new(LatencyName::Service, "file").series("whole files");
        Self::like(Specs {
            service: settings(Spec::new(LatencyName::Service, operation)),
            hold: settings(Spec::new(LatencyName::Hold, "call")),
            // A separate series keeps it apart from the codec's rows in tags and comparisons.
            file: several.then(|| settings(file())),
            start,
        })
    }

    fn like(specs: Specs) -> Self {
        let recorder = |spec: &Spec| Recorder::new(spec.clone(), specs.start);
        Self {
            service: recorder(&specs.service),
            hold: recorder(&specs.hold),
            file: specs.file.as_ref().map(recorder),
            runs: Arc::new(Mutex::new(None)),
            read_bytes: 0,
            specs,
        }
    }

    /// Recorders for another thread of the run.
    pub(super) fn another(&self) -> Self {
        Self::like(self.specs.clone())
    }

    /// Adds the records of another thread of the run.
    pub(super) fn merge(&mut self, other: Self) {
        // Recorders of one specification can always be merged.
        let _ = self.service.merge(other.service);
        let _ = self.hold.merge(other.hold);
        if let (Some(ours), Some(theirs)) = (&mut self.file, other.file) {
            let _ = ours.merge(theirs);
        }
        self.read_bytes += other.read_bytes;
    }

    /// Records a file that has just been finished.
    pub(super) fn finished(&mut self, job: &Job, start: Instant) {
        if let Some(file) = &mut self.file {
            let name = || names::path(&job.source);
            file.record_span_what(start, Instant::now(), name);
        }
    }

    /// Puts all records into the outcome.
    pub(super) fn close(self, outcome: &mut Outcome) {
        outcome.bytes_in = self.read_bytes;
        let runs = lock(&self.runs).take().filter(|runs| runs.n() > 0);
        outcome.ops = Some(self.service.n() + runs.as_ref().map_or(0, Recorder::n));
        if runs.is_none() || self.service.n() > 0 {
            outcome.add(&self.service.finish());
        }
        if let Some(runs) = runs {
            outcome.add(&runs.finish());
        }
        outcome.add(&self.hold.finish());
        if let Some(file) = self.file.filter(|file| file.n() > 0) {
            outcome.add(&file.finish());
        }
    }

    /// Records the work of threads on runs of frames, in a separate row.
    pub(crate) fn around(&self, session: &Session, operation: &str) -> JobObserver {
        let spec = Spec::new(LatencyName::Service, operation).series("threads");
        *lock(&self.runs) = Some(Recorder::new(session.spec(spec), session.run_start()));
        let runs = Arc::clone(&self.runs);
        let operation = operation.to_owned();
        Arc::new(move |offset, work| {
            let start = Instant::now();
            work();
            let end = Instant::now();
            if let Some(runs) = &mut *lock(&runs) {
                runs.record_span_what(start, end, || format!("{operation} at byte {offset}"));
            }
        })
    }
}

fn lock(runs: &Mutex<Option<Recorder>>) -> MutexGuard<'_, Option<Recorder>> {
    runs.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stream<'_> {
    /// The size of the source according to the file system.
    pub(crate) fn stated_size(&self) -> Option<u64> {
        self.source.stated_size()
    }

    /// Whether another thread hashes the source.
    pub(crate) fn is_hashed_apart(&self) -> bool {
        self.source.is_hashed_apart()
    }

    /// XXH64 of the source, once [`Stream::next`] has reached its end.
    pub(crate) fn hash(&self) -> Option<u64> {
        self.source.summary().xxh64
    }

    /// The path of the source.
    pub(crate) fn path(&self) -> &Path {
        &self.job.source
    }

    /// The attributes of a source that is a file.
    pub(crate) fn attributes(&self) -> Option<&std::fs::Metadata> {
        self.source.attributes()
    }

    /// The source as the user named it.
    pub(crate) fn name(&self) -> String {
        files::display(&self.job.source)
    }

    /// Whether the source begins with these bytes. It is read as by [`Stream::peek`].
    pub(crate) fn begins_with(&mut self, bytes: &[u8]) -> std::result::Result<bool, Stop> {
        Ok(self.peek(bytes.len())? == bytes)
    }

    /// The first bytes of the source, `count` unless it is shorter. Reads as little as that takes, and nothing is
    /// lost: this input comes from the next calls of [`Stream::next`].
    pub(crate) fn peek(&mut self, count: usize) -> std::result::Result<Vec<u8>, Stop> {
        while self.ahead.iter().map(|part| part.len()).sum::<usize>() < count {
            let part = self.read()?;
            if part.is_empty() {
                break;
            }
            self.ahead.push_back(part);
        }
        let first = self.ahead.iter().flat_map(|part| part.iter());
        Ok(first.take(count).copied().collect())
    }

    /// The next input, empty at the end.
    pub(crate) fn next(&mut self) -> std::result::Result<source::Buffer, Stop> {
        match self.ahead.pop_front() {
            Some(part) => Ok(part),
            None => self.read(),
        }
    }

    fn read(&mut self) -> std::result::Result<source::Buffer, Stop> {
        if signal::interrupted() {
            return Err(Stop::Interrupted);
        }
        let start = Instant::now();
        let buffer = self
            .source
            .next_buffer()
            .map_err(|error| match error.kind() {
                io::ErrorKind::Interrupted => Stop::Interrupted,
                _ => self.source.error(error).into(),
            })?;
        self.waits.source += start.elapsed();
        self.progress.add(buffer.len() as u64);
        self.times.read_bytes += buffer.len() as u64;
        Ok(buffer)
    }

    /// Makes room for at least `least` bytes of output and passes it to one timed call of the codec.
    pub(crate) fn call<T>(
        &mut self,
        least: usize,
        operation: &mut Operation,
        codec: impl FnOnce(&mut [u8]) -> T,
    ) -> std::result::Result<T, Stop> {
        let mut out = match self.out.take() {
            Some(out) => out,
            None => self.take()?,
        };
        if out.room().len() < least {
            self.put(out)?;
            if signal::interrupted() {
                return Err(Stop::Interrupted);
            }
            out = self.take()?;
        }
        let room = out.room();
        let start = Instant::now();
        let value = codec(room);
        let end = Instant::now();
        self.held(start, end);
        operation.start.get_or_insert(start);
        operation.spent += end.saturating_duration_since(start);
        self.out = Some(out);
        Ok(value)
    }

    /// One timed call of a codec that has its own memory for output.
    pub(crate) fn call_alone<T>(&mut self, codec: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let value = codec();
        self.held(start, Instant::now());
        value
    }

    fn held(&mut self, start: Instant, end: Instant) {
        self.calls += 1;
        self.waits.codec += end.saturating_duration_since(start);
        let what = || format!("{}, call {}", files::display(&self.job.source), self.calls);
        self.times.hold.record_span_what(start, end, what);
    }

    /// Writes output from the codec's own memory, after what it put into given room.
    pub(crate) fn write(&mut self, output: Output) -> std::result::Result<(), Stop> {
        self.flush()?;
        let written = self.sink.give(Box::new(output));
        written.map_err(|error| self.write_error(error))
    }

    /// What threads of the codec can use to write parts of the output at their offsets, in a new file. A
    /// part that cannot be written is written again in order, so that the error is reported there.
    pub(crate) fn place(&self) -> Option<PositionedWriter> {
        let placer = Placer::new(self.target?.writer(), self.alone?);
        Some(Arc::new(move |position, output| {
            placer.write(position, output).is_ok()
        }))
    }

    /// Counts output that was written through [`Stream::place`].
    pub(crate) fn placed(&mut self, bytes: u64) -> std::result::Result<(), Stop> {
        self.flush()?;
        let passed = self.sink.placed(bytes);
        passed.map_err(|error| self.write_error(error))
    }

    /// Counts what the codec put into the room of the last [`Stream::call`].
    pub(crate) fn produced(&mut self, bytes: usize) {
        if let Some(out) = &mut self.out {
            out.advance(bytes);
        }
    }

    /// Records a finished operation; `what` names it in case it is among the slowest.
    pub(crate) fn record(&mut self, operation: Operation, what: impl FnOnce() -> String) {
        if let Some(start) = operation.start {
            self.times
                .service
                .record_span_what(start, start + operation.spent, what);
        }
    }

    /// Passes the last output on. An empty buffer stays here, because their number is limited.
    pub(super) fn flush(&mut self) -> std::result::Result<(), Stop> {
        match self.out.take() {
            Some(out) if out.filled() > 0 => self.put(out),
            unused => {
                self.out = unused;
                Ok(())
            }
        }
    }

    fn put(&mut self, out: Buffer) -> std::result::Result<(), Stop> {
        let start = Instant::now();
        let put = self.sink.put(out);
        self.waits.sink += start.elapsed();
        put.map_err(|error| self.write_error(error))
    }

    fn take(&mut self) -> std::result::Result<Buffer, Stop> {
        let start = Instant::now();
        let taken = self.sink.take();
        self.waits.sink += start.elapsed();
        taken.map_err(|error| self.write_error(error))
    }

    /// What was waited for so far.
    pub(crate) fn waits(&self) -> Waits {
        self.waits
    }

    fn write_error(&self, error: io::Error) -> Stop {
        write_error(self.target, error)
    }
}

/// How a write error ends the work.
pub(crate) fn write_error(target: Option<&Target>, error: io::Error) -> Stop {
    let remote = target.is_some_and(Target::is_remote);
    match (error.kind(), target) {
        _ if remote && signal::interrupted() => Stop::Interrupted,
        (io::ErrorKind::BrokenPipe, _) if !remote => {
            signal::set_pipe_closed();
            Stop::PipeClosed
        }
        (io::ErrorKind::Interrupted, _) => Stop::Interrupted,
        (_, Some(target)) => {
            // The code of the zstd program for this.
            Stop::Failed(Failure::from(target.error(error)).code(70))
        }
        (_, None) => Stop::Failed(Failure::new(format!(
            "cannot write: {}",
            crate::failure::reason(&error)
        ))),
    }
}
