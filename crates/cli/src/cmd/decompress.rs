//! `perfkit decompress`: write, test (`-t`), or hand over to the listing (`-l`).

use std::ffi::OsString;

use latency::report::Validation;
use zstdkit::parallel::{Around, ParallelDecoder};
use zstdkit::seekable::{RangeDecoder, SeekTable};
use zstdkit::{Decoder, DecoderOptions, ErrorKind, State};

use super::compress::codec_failure;
use super::reference::Reference;
use super::transfer::{self, Opening, Operation, Options, Stage, Stop, Stream, Times};
use super::{frames, list};
use crate::args::decompress::{DecompressArgs, DecompressMode, DecompressPlan};
use crate::args::output::ReportFormat;
use crate::args::units::ByteRange;
use crate::exit::ExitStatus;
use crate::export;
use crate::failure::{Failure, Result};
use crate::io::BLOCK_BUFFER_BYTES;
use crate::io::plan::{self, Direction, Job, Request};
use crate::io::sink::Written;
use crate::io::source::Summary;
use crate::session::{Outcome, Session, Setup};

/// The largest zstd block, so that one call can hand out a whole block.
const BLOCK_BYTES: usize = 128 * 1024;
/// A larger seek table is not used, unless a larger memory limit is given.
const TABLE_BYTES_MAX: u64 = 256 << 20;

/// The largest window of a decoder that is one of several: that of all levels but `--ultra` and
/// `--long` ones.
const WINDOW_LOG_MAX_OF_ANOTHER: u32 = 23;

/// What a frame starts with.
const MAGIC_BYTES: usize = 4;

/// What to make of an empty file.
pub(super) const EMPTY_HELP: &str =
    "nothing compresses to nothing: even empty content makes a frame, so this file was cut short";

/// Runs the command.
pub(crate) fn run(
    args: &DecompressArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let mut plan = args.plan()?;
    let jobs = plan::jobs(&Request {
        output: args.files_args.output.as_deref(),
        // A part of the content is not what the name without `.zst` promises.
        stdout: args.files_args.stdout
            || (plan.range.is_some() && args.files_args.output.is_none()),
        recursive: args.files_args.recursive,
        nowhere: plan.mode != DecompressMode::Write,
        ..Request::of(&args.files, Direction::Decompress)
    })?;
    // What comes out is the user's; whether a terminal can bear it shows when it is there.
    // An older version may be brought up to date in its place.
    let exports = export::asked(&args.report);
    transfer::refuse(&jobs, args.files_args.force, &[], &exports, false)?;
    Reference::load(&args.reference)?.decode_with(&mut plan);
    let mut report = args.report.clone();
    if args.json {
        report.report = ReportFormat::Json;
    }
    let listing = plan.mode == DecompressMode::List;
    let session = Session::start(
        &Setup {
            rows: &transfer::ROWS,
            ..Setup::filter(name, argv, &report, &args.terminal, args.files_args.force)
        }
        .listing(listing),
    )?;
    if listing {
        return session.finish(list::run(jobs, args.terminal.verbose));
    }
    let times = Times::new(&session, "block", &jobs);
    let mut stage = Decompress::new(&plan, times.around(&session, "run of frames"))?;
    let options = Options {
        overwrite: args.files_args.force.into(),
        any_bytes: args.files_args.force,
        rm: args.files_args.rm,
        sparse: plan.sparse,
        verify: None,
        hash: session.wants_hashes(),
        progress: args.terminal.wants_progress(),
        warnings: args.terminal.wants_warnings(),
        threads: plan.file_threads as usize,
    };
    let kind = if plan.mode == DecompressMode::Test {
        "test"
    } else {
        "decompress"
    };
    let mut outcome = Outcome::new(kind);
    describe(&plan, &mut outcome);
    let mut outcome = transfer::run(jobs, &mut stage, times, &options, None, outcome);
    outcome.bytes_content = outcome.bytes_out;
    if plan.decoder.verify_checksum && stage.checksums + stage.checksum_errors > 0 {
        outcome.validation = Some(Validation {
            checked: stage.checksums + stage.checksum_errors,
            method: "content checksum of each frame".to_owned(),
            ok: stage.checksum_errors == 0,
        });
    }
    session.finish(outcome)
}

fn describe(plan: &DecompressPlan, outcome: &mut Outcome) {
    let params = &mut outcome.workload.params;
    params.insert(
        "window_log_max".to_owned(),
        plan.decoder.window_log_max.into(),
    );
    params.insert(
        "memory_limit_bytes".to_owned(),
        plan.decoder.memory_limit.into(),
    );
    params.insert(
        "output_limit_bytes".to_owned(),
        plan.decoder.output_limit.into(),
    );
    params.insert(
        "verify_checksum".to_owned(),
        plan.decoder.verify_checksum.into(),
    );
    params.insert("threads".to_owned(), plan.threads.into());
    params.insert("file_threads".to_owned(), plan.file_threads.into());
    if let Some(range) = plan.range {
        params.insert("range_start_bytes".to_owned(), range.start.into());
        params.insert("range_end_bytes".to_owned(), range.end.into());
    }
    params.insert("zstd".to_owned(), zstdkit::version().into());
}

/// One decoder over all files of a run.
pub(super) struct Decompress {
    options: DecoderOptions,
    decoder: Decoder,
    /// Whether what is no frame is written as it is.
    pass_through: bool,
    /// For files of many frames, where there are threads for them.
    parallel: Option<ParallelDecoder>,
    range: Option<ByteRange>,
    /// The part of the present source that is asked for.
    part: Option<(SeekTable, std::ops::Range<u64>)>,
    /// Whether the present source is known to have many frames; `None`: it cannot be known before
    /// it is read.
    many: Option<bool>,
    /// Whether it is one of several, and leaves frames with a large window to the first.
    is_another: bool,
    checksums: u64,
    checksum_errors: u64,
}

impl Decompress {
    pub(super) fn new(plan: &DecompressPlan, around: Around) -> Result<Self> {
        let failed = |error| Failure::new(format!("cannot set up the decoder: {error}"));
        let parallel = match plan.threads {
            // What is no frame is found by the decoder that goes in order.
            _ if plan.pass_through => None,
            1 => None,
            threads => Some(
                ParallelDecoder::new(&plan.decoder, threads as usize)
                    .map_err(failed)?
                    .around(around),
            ),
        };
        Ok(Self {
            options: plan.decoder.clone(),
            decoder: Decoder::new(&plan.decoder).map_err(failed)?,
            pass_through: plan.pass_through,
            parallel,
            range: plan.range,
            part: None,
            many: None,
            is_another: false,
            checksums: 0,
            checksum_errors: 0,
        })
    }

    fn failed(&mut self, name: &str, error: &zstdkit::Error) -> Stop {
        if self.is_another && error.kind() == ErrorKind::WindowLimit {
            return Stop::Declined;
        }
        if error.kind() == ErrorKind::Checksum {
            self.checksum_errors += 1;
        }
        Stop::Failed(if error.is_no_frame() {
            Failure::new(format!("cannot decompress {name}: it is empty")).help(EMPTY_HELP)
        } else {
            codec_failure("decompress", name, error)
        })
    }
}

/// How everything that is decompressed is read and written.
fn opening() -> Opening {
    Opening {
        buffer_bytes: BLOCK_BUFFER_BYTES,
        ..Opening::default()
    }
}

/// Whether what follows is no frame at all.
fn is_other(error: &zstdkit::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotZstd | ErrorKind::TrailingData)
}

/// Input as it is, from where it turns out to be no frame. That shows within four bytes.
#[derive(Debug, Default)]
struct Passing {
    /// Bytes before the input at hand.
    before_bytes: u64,
    /// The last of them.
    tail: Vec<u8>,
}

impl Passing {
    /// Remembers what may have to be written after all.
    fn leave(&mut self, input: &[u8]) {
        self.before_bytes += input.len() as u64;
        self.tail.extend_from_slice(
            input
                .get(input.len().saturating_sub(MAGIC_BYTES)..)
                .unwrap_or_default(),
        );
        let extra = self.tail.len().saturating_sub(MAGIC_BYTES);
        self.tail.drain(..extra);
    }

    /// Whether the whole input was shorter than what a frame starts with, and not empty.
    fn is_magic_cut_short(&self) -> bool {
        (1..MAGIC_BYTES as u64).contains(&self.before_bytes)
    }

    /// Writes everything from byte `offset` on.
    fn rest(
        self,
        stream: &mut Stream<'_>,
        mut input: Vec<u8>,
        offset: u64,
    ) -> std::result::Result<(), Stop> {
        let missing = self.before_bytes.saturating_sub(offset);
        let missing = usize::try_from(missing).unwrap_or(0).min(self.tail.len());
        copy(stream, &self.tail[self.tail.len() - missing..])?;
        let start = usize::try_from(offset.saturating_sub(self.before_bytes)).unwrap_or(0);
        copy(stream, input.get(start..).unwrap_or_default())?;
        loop {
            input = stream.next(input)?;
            if input.is_empty() {
                return Ok(());
            }
            copy(stream, &input)?;
        }
    }
}

fn copy(stream: &mut Stream<'_>, bytes: &[u8]) -> std::result::Result<(), Stop> {
    for part in bytes.chunks(BLOCK_BYTES) {
        stream.call(part.len(), &mut Operation::default(), |room| {
            room[..part.len()].copy_from_slice(part);
        })?;
        stream.produced(part.len());
    }
    Ok(())
}

impl Stage for Decompress {
    fn open(&mut self, job: &Job) -> Result<Opening> {
        if let Some(range) = self.range {
            let bytes_max = self.options.memory_limit.unwrap_or(TABLE_BYTES_MAX);
            let table = frames::index(&job.source, range, bytes_max)?;
            let end = range.end.unwrap_or(u64::MAX);
            // Frames that hold nothing of the range are not read.
            let first = table.frames_for(range.start..end).start;
            let start = first.checked_sub(1).and_then(|before| table.frame(before));
            self.part = Some((table, range.start..end));
            return Ok(Opening {
                start: start.map_or(0, |frame| frame.stored.end),
                partial: true,
                ..opening()
            });
        }
        let regular = || std::fs::metadata(&job.source).is_ok_and(|metadata| metadata.is_file());
        self.many = match self.parallel {
            Some(_) if regular() => Some(frames::has_many(&job.source)),
            Some(_) => None,
            None => Some(false),
        };
        Ok(Opening {
            threaded: self.many == Some(true),
            ..opening()
        })
    }

    fn run(&mut self, stream: &mut Stream<'_>) -> std::result::Result<(), Stop> {
        if let Some((table, range)) = self.part.take() {
            return self.read_range(stream, &table, range);
        }
        if self.many != Some(false)
            && let Some(mut decoder) = self.parallel.take()
        {
            decoder.reset(self.many == Some(true));
            let result = self.read_frames(stream, &mut decoder);
            self.parallel = Some(decoder);
            return result;
        }
        self.read_in_order(stream)
    }

    fn check(&mut self, _: &Job, _: &Summary, _: &Written) -> Result<()> {
        Ok(())
    }

    fn another(&self) -> Option<Self> {
        if self.range.is_some() || self.options.prefix.is_some() {
            return None;
        }
        let mut options = self.options.clone();
        options.window_log_max = options.window_log_max.min(WINDOW_LOG_MAX_OF_ANOTHER);
        Some(Self {
            decoder: Decoder::new(&options).ok()?,
            options,
            pass_through: self.pass_through,
            parallel: None,
            range: None,
            part: None,
            many: None,
            is_another: true,
            checksums: 0,
            checksum_errors: 0,
        })
    }

    fn merge(&mut self, other: Self) {
        self.checksums += other.checksums;
        self.checksum_errors += other.checksum_errors;
    }
}

impl Decompress {
    /// Block by block on this thread.
    fn read_in_order(&mut self, stream: &mut Stream<'_>) -> std::result::Result<(), Stop> {
        self.decoder.reset();
        let name = stream.name();
        let mut input = Vec::new();
        let mut produced_before = 0_u64;
        let mut passing = Passing::default();
        loop {
            passing.leave(&input);
            input = stream.next(input)?;
            if input.is_empty() {
                break;
            }
            let mut rest: &[u8] = &input;
            loop {
                let mut operation = Operation::default();
                let decoder = &mut self.decoder;
                let step = match stream
                    .call(BLOCK_BYTES, &mut operation, |room| decoder.push(rest, room))?
                {
                    Ok(step) => step,
                    Err(error) if self.pass_through && is_other(&error) => {
                        return passing.rest(stream, input, error.offset().unwrap_or(0));
                    }
                    Err(error) => return Err(self.failed(&name, &error)),
                };
                stream.produced(step.produced);
                rest = &rest[step.consumed..];
                record_block(stream, operation, &mut produced_before, step.produced);
                if rest.is_empty() && step.state != State::MoreOutput {
                    break;
                }
            }
        }
        let totals = match self.decoder.finish() {
            Ok(totals) => totals,
            Err(error) if self.pass_through && is_other(&error) => {
                return passing.rest(stream, input, error.offset().unwrap_or(0));
            }
            // Too short to be told from a frame.
            Err(_) if self.pass_through && passing.is_magic_cut_short() => {
                return passing.rest(stream, input, 0);
            }
            Err(error) => return Err(self.failed(&name, &error)),
        };
        self.checksums += totals.checksums_verified;
        Ok(())
    }

    /// Frames side by side on threads.
    fn read_frames(
        &mut self,
        stream: &mut Stream<'_>,
        decoder: &mut ParallelDecoder,
    ) -> std::result::Result<(), Stop> {
        let name = stream.name();
        if let Some(place) = stream.place() {
            decoder.place(place);
        }
        let mut input = Vec::new();
        loop {
            input = stream.next(input)?;
            let ended = input.is_empty();
            let mut rest: &[u8] = &input;
            loop {
                let mut operation = Operation::default();
                let mut before = decoder.totals().bytes_out;
                let step = stream
                    .call(BLOCK_BYTES, &mut operation, |room| match ended {
                        true => decoder.end(room),
                        false => decoder.push(rest, room),
                    })?
                    .map_err(|error| self.failed(&name, &error))?;
                stream.produced(step.produced);
                rest = &rest[step.consumed..];
                record_block(stream, operation, &mut before, step.produced);
                if let Some(output) = step.output {
                    stream.write(output)?;
                }
                if step.placed > 0 {
                    stream.placed(step.placed)?;
                }
                match step.state {
                    State::MoreOutput => {}
                    State::NeedInput => break,
                    State::Done => {
                        self.checksums += decoder.totals().checksums_verified;
                        return Ok(());
                    }
                }
            }
        }
    }

    /// A part of the content, from the frames that hold it.
    fn read_range(
        &mut self,
        stream: &mut Stream<'_>,
        table: &SeekTable,
        range: std::ops::Range<u64>,
    ) -> std::result::Result<(), Stop> {
        let name = stream.name();
        let start = range.start;
        if !table.is_open() && start > table.content_bytes() {
            return Err(beyond(&name, start, table.content_bytes()).into());
        }
        let mut decoder = RangeDecoder::new(table, range, &self.options)
            .map_err(|error| self.failed(&name, &error))?;
        let mut input = Vec::new();
        loop {
            input = stream.next(input)?;
            if input.is_empty() {
                break;
            }
            let mut rest: &[u8] = &input;
            loop {
                let mut operation = Operation::default();
                let mut before = decoder.range().start;
                let step = stream
                    .call(BLOCK_BYTES, &mut operation, |room| decoder.push(rest, room))?
                    .map_err(|error| self.failed(&name, &error))?;
                stream.produced(step.produced);
                rest = &rest[step.consumed..];
                record_block(stream, operation, &mut before, step.produced);
                match step.state {
                    State::MoreOutput => {}
                    State::NeedInput => break,
                    State::Done => return Ok(()),
                }
            }
        }
        decoder
            .finish()
            .map_err(|error| self.failed(&name, &error))?;
        match decoder.decoded_bytes() {
            bytes if bytes < start => Err(beyond(&name, start, bytes).into()),
            _ => Ok(()),
        }
    }
}

/// Records a block that was produced, `before` bytes into the content.
fn record_block(stream: &mut Stream<'_>, operation: Operation, before: &mut u64, produced: usize) {
    if produced > 0 {
        let (name, at) = (stream.name(), *before);
        stream.record(operation, || {
            format!("{name}, block of byte {at} of the content")
        });
        *before += produced as u64;
    }
}

fn beyond(name: &str, start: u64, bytes: u64) -> Failure {
    Failure::new(format!(
        "the content of {name} has {bytes} bytes, the range begins at byte {start}"
    ))
    .help("decompress -l says how much content a file has")
}
