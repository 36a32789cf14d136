//! What `compress` and `decompress` share: jobs from sources to targets, timed and accounted for.
//!
//! The codec is a [`Stage`]. Everything around it — opening, reading ahead, writing behind, making
//! targets appear, removing sources, telling failures from interrupts — stands here once. Time is
//! taken around calls of the codec only: waiting for input or output is in the row `file`.

use std::io;
use std::time::{Duration, Instant};

use latency::report::{Input, LatencyName};
use latency::{Recorder, Spec};

use crate::args::compress::FileArgs;
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::io::INLINE_BYTES;
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
        Self::Failed(failure)
    }
}

/// A codec between a source and a sink.
pub(crate) trait Stage {
    /// Takes one whole source through the codec into the sink.
    fn run(&mut self, stream: &mut Stream<'_>) -> std::result::Result<(), Stop>;

    /// Looks at what was read and written after both ended; the place for verification.
    fn check(&mut self, job: &Job, read: &Summary, written: &Written) -> Result<()>;
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
}

/// The recorders of a run.
#[derive(Debug)]
pub(crate) struct Times {
    service: Recorder,
    hold: Recorder,
    file: Recorder,
}

/// Service time of one operation, gathered over the calls that it took.
#[derive(Debug, Default)]
pub(crate) struct Operation {
    start: Option<Instant>,
    spent: Duration,
}

impl Times {
    /// Recorders for operations of the given name.
    pub(crate) fn new(session: &Session, operation: &str) -> Self {
        let recorder = |spec| Recorder::new(session.spec(spec), session.run_start());
        Self {
            service: recorder(Spec::new(LatencyName::Service, operation)),
            hold: recorder(Spec::new(LatencyName::Hold, "call")),
            // A series of its own keeps it apart from the codec's rows in tags and comparisons.
            file: recorder(Spec::new(LatencyName::Service, "file").series("whole files")),
        }
    }
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
            self.sink
                .put(out)
                .map_err(|error| self.write_error(&error))?;
            if signal::interrupted() {
                return Err(Stop::Interrupted);
            }
            out = self.sink.take().map_err(|error| self.write_error(&error))?;
        }
        let room = out.room();
        let start = Instant::now();
        let value = codec(room);
        let end = Instant::now();
        self.times.hold.record_span(start, end);
        operation.start.get_or_insert(start);
        operation.spent += end.saturating_duration_since(start);
        self.out = Some(out);
        Ok(value)
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

    /// Hands the last output over.
    fn flush(&mut self) -> std::result::Result<(), Stop> {
        match self.out.take() {
            Some(out) if out.filled() > 0 => {
                self.sink.put(out).map_err(|error| self.write_error(&error))
            }
            _ => Ok(()),
        }
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
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options<'a> {
    /// Flags on sources and targets.
    pub(crate) files: &'a FileArgs,
    /// Whether zeros may become holes.
    pub(crate) sparse: bool,
    /// Whether the output is binary, which a terminal must not get.
    pub(crate) binary: bool,
    /// Whether output is decoded and hashed as it is written.
    pub(crate) verify: bool,
    /// Whether progress may be drawn.
    pub(crate) progress: bool,
}

/// Does all jobs, one after the other, and accounts for them.
pub(crate) fn run(
    jobs: Jobs,
    stage: &mut impl Stage,
    session: &Session,
    mut times: Times,
    options: &Options<'_>,
    mut outcome: Outcome,
) -> Outcome {
    let total: Option<u64> = jobs
        .jobs
        .iter()
        .map(|job| {
            std::fs::metadata(&job.source)
                .ok()
                .filter(|m| m.is_file())
                .map(|m| m.len())
        })
        .sum();
    let progress = Progress::start(options.progress, total);
    let (mut done, mut failed) = (0_u64, jobs.failures.len() as u64);
    for failure in &jobs.failures {
        message::failure(failure);
    }
    let hash = session.wants_hashes() || options.verify;
    let mut stopped = None;
    let several = jobs.jobs.len() > 1;
    for job in &jobs.jobs {
        let start = Instant::now();
        match one(job, stage, &mut times, options, hash, &progress) {
            Ok((read, written)) => {
                done += 1;
                outcome.bytes_in += read.bytes;
                outcome.bytes_out += written.bytes;
                if outcome.workload.inputs.len() < INPUTS_LISTED {
                    outcome.workload.inputs.push(Input {
                        path: job.source.display().to_string(),
                        bytes: read.bytes,
                        xxh64: read.xxh64.map(|hash| format!("{hash:016x}")),
                    });
                }
                outcome.workload.inputs_total += 1;
                if several {
                    let name = || job.source.display().to_string();
                    times.file.record_span_what(start, Instant::now(), name);
                }
            }
            Err(Stop::Failed(failure)) => {
                failed += 1;
                message::failure(&failure);
            }
            Err(stop) => {
                stopped = Some(stop);
                break;
            }
        }
    }
    progress.finish();
    outcome.ops = Some(times.service.n());
    outcome.complete = stopped.is_none() && failed == 0;
    outcome.status = match stopped {
        Some(Stop::Interrupted) => ExitStatus::Interrupted,
        // Whoever read our output has gone, which is no failure; what failed before still is one.
        _ if failed == 0 => ExitStatus::Ok,
        _ if done == 0 => ExitStatus::Failure,
        _ => ExitStatus::Partial,
    };
    outcome.add(&times.service.finish());
    outcome.add(&times.hold.finish());
    if times.file.n() > 0 {
        outcome.add(&times.file.finish());
    }
    outcome
}

fn one(
    job: &Job,
    stage: &mut impl Stage,
    times: &mut Times,
    options: &Options<'_>,
    hash: bool,
    progress: &Progress,
) -> std::result::Result<(Summary, Written), Stop> {
    let mut source = Source::open(&job.source, hash)?;
    let target = match &job.destination {
        Destination::File(path) if same_file(path, &job.source) => {
            return Err(
                Failure::new(format!("'{}' would become itself", path.display()))
                    .help("name another target with -o")
                    .into(),
            );
        }
        Destination::File(path) => Some(Target::create(path, options.files.force)?),
        Destination::Stdout => Some(Target::stdout(options.binary, options.files.force)?),
        Destination::Nowhere => None,
    };
    // A source is only ever removed for a file that now holds its content, not for a device.
    let replaceable = target.as_ref().is_some_and(Target::is_regular_file);
    if let (Some(target), Some(metadata)) = (&target, source.attributes()) {
        // Before any content: nobody may read of a secret file's copy what the file itself denies.
        target.copy_attributes(metadata);
    }
    let small = source
        .attributes()
        .is_some_and(|metadata| metadata.len() <= INLINE_BYTES);
    let sink_options = SinkOptions {
        sparse: options.sparse && target.as_ref().is_some_and(Target::is_regular_file),
        behind: !small && target.is_some(),
        verify: options.verify,
    };
    let file = target.as_ref().map(Target::writer).transpose()?;
    let mut sink =
        Sink::start(file, &sink_options).map_err(|error| write_error(target.as_ref(), &error))?;
    let mut stream = Stream {
        job,
        source: &mut source,
        target: target.as_ref(),
        sink: &mut sink,
        out: None,
        times,
        progress,
    };
    stage.run(&mut stream)?;
    stream.flush()?;
    let written = sink
        .finish()
        .map_err(|error| write_error(target.as_ref(), &error))?;
    let read = source.summary();
    stage.check(job, &read, &written)?;
    if let Some(target) = target {
        if let Some(metadata) = source.attributes() {
            target.copy_attributes(metadata);
        }
        target.commit().map_err(Stop::Failed)?;
    }
    if options.files.rm && replaceable {
        std::fs::remove_file(&job.source)
            .map_err(|error| Stop::Failed(Failure::io("remove", &job.source, &error)))?;
    }
    Ok((read, written))
}

/// Whether both names lead to one file, however they are spelled.
fn same_file(a: &std::path::Path, b: &std::path::Path) -> bool {
    let whole = |path| std::fs::canonicalize(path).ok();
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let identity = |path| std::fs::metadata(path).map(|m| (m.dev(), m.ino(), m.is_file()));
        if let (Ok(a), Ok(b)) = (identity(a), identity(b)) {
            return a == b && a.2;
        }
    }
    a == b || (whole(a).is_some() && whole(a) == whole(b))
}

/// Refuses to wait for a person to type binary or a whole file, unless told to.
pub(crate) fn refuse_terminal(jobs: &Jobs, force: bool) -> Result<()> {
    use std::io::IsTerminal as _;
    let stdin = jobs.jobs.iter().any(|job| job.source.as_os_str() == "-");
    if stdin && !force && io::stdin().is_terminal() {
        return Err(Failure::usage("standard input is a terminal")
            .help("name a file, or send something in a pipe; see --help"));
    }
    Ok(())
}
