//! What `compress` and `decompress` share: jobs from sources to targets, timed and accounted for.
//!
//! The codec is a [`Stage`]. Everything around it — opening, reading ahead, writing behind, making
//! targets appear, removing sources, telling failures from interrupts — stands here once. Time is
//! taken around calls of the codec only: waiting for input or output is in the row `file`.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use latency::report::{Input, LatencyName};
use latency::{Recorder, Spec};
use zstdkit::DecoderOptions;
use zstdkit::parallel::Around;

use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::io::INLINE_BYTES;
use crate::io::clash::{self, Flagged};
use crate::io::plan::{Destination, Job, Jobs};
use crate::io::sink::{Buffer, Sink, SinkOptions, Written};
use crate::io::source::{Source, Summary};
use crate::io::target::{self, Target};
use crate::session::{INPUTS_LISTED, Outcome, Session};
use crate::term::progress::Progress;
use crate::term::{message, signal};

/// Why a job ended early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It failed; others may go on.
    Failed(Failure),
    /// The user asked to stop everything.
    Interrupted,
    /// Whoever read our output went away: nothing is left to do.
    PipeClosed,
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        match failure.exit_status() {
            ExitStatus::Interrupted => Self::Interrupted,
            _ => Self::Failed(failure),
        }
    }
}

/// A codec between a source and a sink.
pub(crate) trait Stage {
    /// Looks at a source before it is read.
    fn open(&mut self, _: &Job) -> Result<Opening> {
        Ok(Opening::default())
    }

    /// Takes one whole source through the codec into the sink.
    fn run(&mut self, stream: &mut Stream<'_>) -> std::result::Result<(), Stop>;

    /// Looks at what was read and written after both ended; the place for verification.
    fn check(&mut self, job: &Job, read: &Summary, written: &Written) -> Result<()>;
}

/// How a source is to be read, and its output written.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Opening {
    /// The byte of the source from which it is read.
    pub(crate) start: u64,
    /// Whether only a part of it will be read.
    pub(crate) partial: bool,
    /// Whether the stage has threads of its own that work while output is written, so that none is
    /// needed for that.
    pub(crate) threaded: bool,
}

/// What a stage works with.
pub(crate) struct Stream<'a> {
    job: &'a Job,
    source: &'a mut Source,
    target: Option<&'a Target>,
    sink: &'a mut Sink,
    out: Option<Buffer>,
    times: &'a mut Times,
    progress: &'a Progress,
    /// Whether the output goes to a terminal and has not been looked at yet.
    unseen: bool,
    /// Calls of the codec for this source.
    calls: u64,
}

/// The recorders of a run.
#[derive(Debug)]
pub(crate) struct Times {
    service: Recorder,
    hold: Recorder,
    /// Of whole files, when there are several.
    file: Option<Recorder>,
    /// Runs of frames that threads of the codec did.
    runs: Arc<Mutex<Option<Recorder>>>,
    /// Bytes read, those of sources that were not finished included.
    read_bytes: u64,
}

/// The times that a transfer has distributions of.
pub(crate) const ROWS: [LatencyName; 2] = [LatencyName::Service, LatencyName::Hold];

/// Service time of one operation, gathered over the calls that it took.
#[derive(Debug, Default)]
pub(crate) struct Operation {
    start: Option<Instant>,
    spent: Duration,
}

impl Times {
    /// Recorders for operations of the given name over `jobs`.
    pub(crate) fn new(session: &Session, operation: &str, jobs: &Jobs) -> Self {
        let settings = |spec| session.spec(spec);
        Self::of(operation, jobs, session.run_start(), settings)
    }

    /// The same where no report will be made of them.
    pub(crate) fn unreported(operation: &str, jobs: &Jobs) -> Self {
        Self::of(operation, jobs, Instant::now(), |spec| spec)
    }

    fn of(operation: &str, jobs: &Jobs, start: Instant, settings: impl Fn(Spec) -> Spec) -> Self {
        let recorder = |spec| Recorder::new(settings(spec), start);
        Self {
            service: recorder(Spec::new(LatencyName::Service, operation)),
            hold: recorder(Spec::new(LatencyName::Hold, "call")),
            // A series of its own keeps it apart from the codec's rows in tags and comparisons.
            file: (jobs.jobs.len() > 1)
                .then(|| recorder(Spec::new(LatencyName::Service, "file").series("whole files"))),
            runs: Arc::new(Mutex::new(None)),
            read_bytes: 0,
        }
    }

    /// What records the work of threads on runs of frames, in a row of its own.
    pub(crate) fn around(&self, session: &Session, operation: &str) -> Around {
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
    /// The size that the file system states of the source.
    pub(crate) fn stated_size(&self) -> Option<u64> {
        self.source.stated_size()
    }

    /// The source as the user named it.
    pub(crate) fn name(&self) -> String {
        target::display(&self.job.source)
    }

    /// The next input, empty at the end; `spare` is the one before.
    pub(crate) fn next(&mut self, spare: Vec<u8>) -> std::result::Result<Vec<u8>, Stop> {
        if signal::interrupted() {
            return Err(Stop::Interrupted);
        }
        let buffer = self
            .source
            .next(spare)
            .map_err(|error| match error.kind() {
                io::ErrorKind::Interrupted => Stop::Interrupted,
                _ => Stop::Failed(self.source.error(&error)),
            })?;
        self.progress.add(buffer.len() as u64);
        self.times.read_bytes += buffer.len() as u64;
        Ok(buffer)
    }

    /// Makes room for at least `least` bytes of output and gives it to one timed call of the codec.
    pub(crate) fn call<T>(
        &mut self,
        least: usize,
        operation: &mut Operation,
        codec: impl FnOnce(&mut [u8]) -> T,
    ) -> std::result::Result<T, Stop> {
        let mut out = match self.out.take() {
            Some(out) => out,
            None => self.sink.take().map_err(|error| self.write_error(&error))?,
        };
        if out.room().len() < least {
            self.put(out)?;
            if signal::interrupted() {
                return Err(Stop::Interrupted);
            }
            out = self.sink.take().map_err(|error| self.write_error(&error))?;
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

    /// One timed call of a codec that brings memory of its own for its output.
    pub(crate) fn call_alone<T>(&mut self, codec: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let value = codec();
        self.held(start, Instant::now());
        value
    }

    fn held(&mut self, start: Instant, end: Instant) {
        self.calls += 1;
        let what = || format!("{}, call {}", target::display(&self.job.source), self.calls);
        self.times.hold.record_span_what(start, end, what);
    }

    /// Writes output that the codec brought, behind what it put into room that it was given.
    pub(crate) fn write(&mut self, output: &[u8]) -> std::result::Result<(), Stop> {
        self.flush()?;
        if std::mem::take(&mut self.unseen) {
            refuse_binary(&self.name(), output)?;
        }
        let written = self.sink.write(output);
        written.map_err(|error| self.write_error(&error))
    }

    /// Counts what the codec put into the room of the last [`Stream::call`].
    pub(crate) fn produced(&mut self, bytes: usize) {
        if let Some(out) = &mut self.out {
            out.advance(bytes);
        }
    }

    /// Records a finished operation; `what` names it should it be among the slowest.
    pub(crate) fn record(&mut self, operation: Operation, what: impl FnOnce() -> String) {
        if let Some(start) = operation.start {
            self.times
                .service
                .record_span_what(start, start + operation.spent, what);
        }
    }

    /// Hands the last output over. A buffer without any stays here: there are only so many.
    fn flush(&mut self) -> std::result::Result<(), Stop> {
        match self.out.take() {
            Some(out) if out.filled() > 0 => self.put(out),
            unused => {
                self.out = unused;
                Ok(())
            }
        }
    }

    fn put(&mut self, out: Buffer) -> std::result::Result<(), Stop> {
        if std::mem::take(&mut self.unseen) {
            refuse_binary(&self.name(), out.output())?;
        }
        self.sink.put(out).map_err(|error| self.write_error(&error))
    }

    fn write_error(&self, error: &io::Error) -> Stop {
        write_error(self.target, error)
    }
}

fn write_error(target: Option<&Target>, error: &io::Error) -> Stop {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Stop::PipeClosed,
        io::ErrorKind::Interrupted => Stop::Interrupted,
        _ => match target {
            Some(target) => Stop::Failed(target.error(error)),
            None => Stop::Failed(Failure::new(format!(
                "cannot write: {}",
                crate::failure::reason(error)
            ))),
        },
    }
}

/// How the jobs are to be done.
#[derive(Clone, Copy)]
pub(crate) struct Options<'a> {
    /// Which existing targets are replaced.
    pub(crate) overwrite: Overwrite,
    /// Whether a terminal takes whatever comes.
    pub(crate) any_bytes: bool,
    /// Whether sources are removed once their targets are complete.
    pub(crate) rm: bool,
    /// Whether zeros may become holes.
    pub(crate) sparse: bool,
    /// How to decode output as it is written, to hash it.
    pub(crate) verify: Option<&'a DecoderOptions>,
    /// Whether inputs are hashed.
    pub(crate) hash: bool,
    /// Whether progress is shown.
    pub(crate) progress: bool,
    /// Whether warnings are.
    pub(crate) warnings: bool,
    /// Told of each job that is done.
    pub(crate) done: Option<Done<'a>>,
}

/// Who is told of a job that is done: what was read for it, and what was written.
pub(crate) type Done<'a> = &'a dyn Fn(&Job, &Summary, &Written);

/// What happens to targets that exist.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Overwrite {
    /// They are kept, and the job fails.
    Never,
    /// They are replaced.
    Always,
    /// As the answer to this question has it.
    Ask(fn(&Path) -> bool),
}

impl From<bool> for Overwrite {
    fn from(force: bool) -> Self {
        if force { Self::Always } else { Self::Never }
    }
}

impl Overwrite {
    fn allows(self, path: &Path) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::Ask(answer) => path.is_file() && answer(path),
        }
    }
}

/// Does all jobs, one after the other, and accounts for them.
pub(crate) fn run(
    jobs: Jobs,
    stage: &mut impl Stage,
    mut times: Times,
    options: &Options<'_>,
    mut outcome: Outcome,
) -> Outcome {
    let wanted = options.progress;
    // Asking for the size of every file is for nothing when nobody sees it.
    let total = Progress::shows(wanted)
        .then(|| total_bytes(&jobs))
        .flatten();
    let progress = Progress::start(wanted, total);
    remark(&jobs, options);
    let (mut done, mut failed) = (0_u64, jobs.failures.len() as u64);
    for failure in &jobs.failures {
        message::failure(failure);
    }
    let mut stopped = None;
    let mut joined = match joined(&jobs, options) {
        Ok(joined) => joined,
        Err(failure) => {
            message::failure(&failure);
            stopped = Some(Stop::Failed(failure));
            None
        }
    };
    let todo: &[Job] = if stopped.is_some() { &[] } else { &jobs.jobs };
    for job in todo {
        let start = Instant::now();
        match one(job, stage, &mut times, options, joined.as_ref(), &progress) {
            Ok((read, written)) => {
                done += 1;
                if let Some(tell) = options.done {
                    tell(job, &read, &written);
                }
                outcome.bytes_out += written.bytes;
                if outcome.workload.inputs.len() < INPUTS_LISTED {
                    outcome.workload.inputs.push(Input {
                        path: job.source.display().to_string(),
                        bytes: read.bytes,
                        xxh64: read.xxh64.map(|hash| format!("{hash:016x}")),
                    });
                }
                outcome.workload.inputs_total += 1;
                if let Some(file) = &mut times.file {
                    let name = || job.source.display().to_string();
                    file.record_span_what(start, Instant::now(), name);
                }
            }
            Err(Stop::Failed(failure)) => {
                failed += 1;
                message::failure(&failure);
                if joined.is_some() {
                    // It appears whole or not at all.
                    break;
                }
            }
            Err(stop) => {
                stopped = Some(stop);
                break;
            }
        }
    }
    if let Some(target) = joined.take().filter(|_| failed == 0 && stopped.is_none()) {
        if let Err(failure) = target.commit() {
            message::failure(&failure);
            (done, failed) = (0, 1);
        }
    } else if jobs.joined.is_some() {
        done = 0;
    }
    progress.finish();
    outcome.bytes_in = times.read_bytes;
    let runs = lock(&times.runs).take().filter(|runs| runs.n() > 0);
    outcome.ops = Some(times.service.n() + runs.as_ref().map_or(0, Recorder::n));
    outcome.complete = stopped.is_none() && failed == 0;
    outcome.status = match stopped {
        Some(Stop::Interrupted) => ExitStatus::Interrupted,
        Some(Stop::Failed(_)) => ExitStatus::Failure,
        // Whoever read our output has gone, which is no failure; what failed before still is one.
        _ if failed == 0 => ExitStatus::Ok,
        _ if done == 0 => ExitStatus::Failure,
        _ => ExitStatus::Partial,
    };
    if runs.is_none() || times.service.n() > 0 {
        outcome.add(&times.service.finish());
    }
    if let Some(runs) = runs {
        outcome.add(&runs.finish());
    }
    outcome.add(&times.hold.finish());
    if let Some(file) = times.file.filter(|file| file.n() > 0) {
        outcome.add(&file.finish());
    }
    outcome
}

/// The target that several sources become.
fn joined(jobs: &Jobs, options: &Options<'_>) -> Result<Option<Target>> {
    let path = jobs.joined.as_deref();
    path.map(|path| Target::create(path, options.overwrite.allows(path), None))
        .transpose()
}

/// The size of all sources, if the file system knows it.
fn total_bytes(jobs: &Jobs) -> Option<u64> {
    let size = |job: &Job| {
        let metadata = std::fs::metadata(&job.source).ok()?;
        metadata.is_file().then_some(metadata.len())
    };
    jobs.jobs.iter().map(size).sum()
}

/// Says what will not be done although it was asked for.
fn remark(jobs: &Jobs, options: &Options<'_>) {
    if !options.warnings {
        return;
    }
    if jobs.jobs.is_empty() && jobs.failures.is_empty() {
        message::note(
            "nothing to do: no file was found",
            "see --help for what -r takes",
        );
    }
    let stdout = |job: &Job| job.destination == Destination::Stdout;
    if options.rm && jobs.jobs.iter().any(stdout) {
        message::note(
            "sources are kept: --rm does nothing for standard output",
            "name a target with -o to have them removed",
        );
    }
}

fn one(
    job: &Job,
    stage: &mut impl Stage,
    times: &mut Times,
    options: &Options<'_>,
    joined: Option<&Target>,
    progress: &Progress,
) -> std::result::Result<(Summary, Written), Stop> {
    let opening = stage.open(job)?;
    let hash = (options.hash || options.verify.is_some()) && !opening.partial;
    let mut source = Source::open_at(&job.source, hash, opening.start)?;
    let own = match &job.destination {
        Destination::File(path) => Some(Target::create(
            path,
            options.overwrite.allows(path),
            source.attributes(),
        )?),
        Destination::Stdout => Some(Target::stdout()?),
        Destination::Joined | Destination::Nowhere => None,
    };
    let target = own.as_ref().or(joined);
    // A source is only ever removed for a file that now holds its content, not for a device.
    let replaceable = own.as_ref().is_some_and(Target::is_regular_file);
    let small = source
        .attributes()
        .is_some_and(|metadata| metadata.len() <= INLINE_BYTES);
    let sink_options = SinkOptions {
        sparse: options.sparse && replaceable,
        // A wait for a reader must not keep an interrupt from being seen.
        behind: target.is_some_and(|target| !(small || opening.threaded) || target.may_wait()),
        verify: options.verify.cloned(),
    };
    let file = target.map(Target::writer).transpose()?;
    let mut sink = Sink::start(file, &sink_options).map_err(|error| write_error(target, &error))?;
    let mut stream = Stream {
        job,
        source: &mut source,
        target,
        sink: &mut sink,
        out: None,
        times,
        progress,
        unseen: !options.any_bytes && to_terminal(&job.destination),
        calls: 0,
    };
    stage.run(&mut stream)?;
    stream.flush()?;
    let written = sink.finish().map_err(|error| write_error(target, &error))?;
    let read = source.summary();
    stage.check(job, &read, &written)?;
    if let Some(target) = own {
        if let Some(metadata) = source.attributes() {
            target.copy_attributes(metadata);
        }
        target.commit()?;
    }
    if options.rm && replaceable {
        remove(job, &source, &read)?;
    }
    Ok((read, written))
}

/// Removes the source of a finished target, unless it has become something else meanwhile.
fn remove(job: &Job, source: &Source, read: &Summary) -> Result<()> {
    let Some(metadata) = source.attributes() else {
        // A pipe or device is no file that could be replaced by its target.
        return Ok(());
    };
    if job.source.as_os_str() == "-" {
        return Ok(());
    }
    if read.bytes != metadata.len() || !source.is_unchanged() {
        return Err(Failure::new(format!(
            "'{}' changed while it was read, and is kept",
            job.source.display()
        ))
        .help("what was written may be of neither state: do it again when nobody writes to it"));
    }
    std::fs::remove_file(&job.source).map_err(|error| Failure::io("remove", &job.source, &error))
}

/// Refuses, before anything is opened, what could only end badly: to wait for a person to type a
/// whole file, `binary` output on a terminal, and files that would overwrite one another or the
/// `references`.
pub(crate) fn refuse(
    jobs: &Jobs,
    force: bool,
    references: &[Flagged<'_>],
    exports: &[Flagged<'_>],
    binary: bool,
) -> Result<()> {
    let stdin = jobs.jobs.iter().any(|job| job.source.as_os_str() == "-");
    if stdin && !force && io::stdin().is_terminal() {
        return Err(Failure::usage("standard input is a terminal")
            .help("name a file, or send something in a pipe; see --help"));
    }
    if binary && !force {
        let mut destinations = jobs.jobs.iter().map(|job| &job.destination);
        if let Some(destination) = destinations.find(|destination| to_terminal(destination)) {
            let name = match destination {
                Destination::File(path) => format!("'{}'", path.display()),
                _ => "standard output".to_owned(),
            };
            return Err(Failure::usage(format!(
                "{name} is a terminal: binary is not written to it"
            ))
            .help("redirect it, name a file with -o, or add -f"));
        }
    }
    clash::refuse(&jobs.jobs, jobs.joined.as_deref(), references, exports)
}

fn to_terminal(destination: &Destination) -> bool {
    match destination {
        Destination::File(path) => target::is_terminal(path),
        Destination::Stdout => io::stdout().is_terminal(),
        // A joined target is looked at by its name where it is opened.
        Destination::Joined | Destination::Nowhere => false,
    }
}

/// Refuses what would make a terminal do things.
fn refuse_binary(name: &str, output: &[u8]) -> Result<()> {
    let harmless = |byte: &u8| !byte.is_ascii_control() || (0x08..=0x0d).contains(byte);
    match output.iter().position(|byte| !harmless(byte)) {
        None => Ok(()),
        Some(at) => Err(Failure::new(format!(
            "the content of {name} is not written to a terminal: control character {:#04x} at byte {at}",
            output[at]
        ))
        .help("redirect it, name a file with -o, or add -f")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_to_a_terminal_and_what_moves_its_cursor_does_not() {
        let text = "naïve\ttext\r\n\x0c".as_bytes();
        assert_eq!(refuse_binary("x", text), Ok(()));
        for bytes in [&b"a\0"[..], b"\x1b[2J", b"\x7f"] {
            assert!(refuse_binary("x", bytes).is_err());
        }
    }
}
