//! `perfkit decompress`: write, test (`-t`), or hand over to the listing (`-l`).

use std::ffi::OsString;

use latency::report::Validation;
use zstdkit::{Decoder, ErrorKind, State};

use super::compress::codec_failure;
use super::list;
use super::reference::Reference;
use super::transfer::{self, Operation, Options, Stage, Stop, Stream, Times};
use crate::args::decompress::{DecompressArgs, DecompressMode, DecompressPlan};
use crate::args::output::ReportFormat;
use crate::exit::ExitStatus;
use crate::export::{self, MainStream};
use crate::failure::{Failure, Result};
use crate::io::plan::{self, Direction, Job, Request};
use crate::io::sink::Written;
use crate::io::source::Summary;
use crate::session::{Outcome, Session, Setup};

/// The largest zstd block, so that one call can hand out a whole block.
const BLOCK_BYTES: usize = 128 * 1024;

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
        stdout: args.files_args.stdout,
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
    let session = Session::start(&Setup {
        argv,
        subcommand: name,
        stream: if listing {
            MainStream::Stdout
        } else {
            MainStream::Stderr
        },
        report: &report,
        terminal: &args.terminal,
        force: args.files_args.force,
        seed: None,
        rows: if listing { &[] } else { &transfer::ROWS },
    })?;
    if listing {
        return session.finish(list::run(jobs, args.terminal.verbose));
    }
    let mut stage = Decompress::new(&plan)?;
    let times = Times::new(&session, "block", &jobs);
    let options = Options {
        overwrite: args.files_args.force.into(),
        any_bytes: args.files_args.force,
        rm: args.files_args.rm,
        sparse: plan.sparse,
        verify: None,
        hash: session.wants_hashes(),
        progress: args.terminal.wants_progress(),
        warnings: args.terminal.wants_warnings(),
        done: None,
    };
    let kind = if plan.mode == DecompressMode::Test {
        "test"
    } else {
        "decompress"
    };
    let mut outcome = Outcome::new(kind);
    describe(&plan, &mut outcome);
    let mut outcome = transfer::run(jobs, &mut stage, times, &options, outcome);
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
    params.insert("zstd".to_owned(), zstdkit::version().into());
}

/// One decoder over all files of a run.
pub(super) struct Decompress {
    decoder: Decoder,
    pass_through: bool,
    checksums: u64,
    checksum_errors: u64,
}

impl Decompress {
    pub(super) fn new(plan: &DecompressPlan) -> Result<Self> {
        let decoder = Decoder::new(&plan.decoder)
            .map_err(|error| Failure::new(format!("cannot set up the decoder: {error}")))?;
        Ok(Self {
            decoder,
            pass_through: plan.pass_through,
            checksums: 0,
            checksum_errors: 0,
        })
    }

    fn failed(&mut self, name: &str, error: &zstdkit::Error) -> Failure {
        if error.kind() == ErrorKind::Checksum {
            self.checksum_errors += 1;
        }
        if error.is_no_frame() {
            return Failure::new(format!("cannot decompress {name}: it is empty")).help(EMPTY_HELP);
        }
        codec_failure("decompress", name, error)
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
    fn run(&mut self, stream: &mut Stream<'_>) -> std::result::Result<(), Stop> {
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
                    Err(error) => return Err(self.failed(&name, &error).into()),
                };
                stream.produced(step.produced);
                rest = &rest[step.consumed..];
                if step.produced > 0 {
                    let at = produced_before;
                    stream.record(operation, || {
                        format!("{name}, the block with byte {at} of the content")
                    });
                    produced_before += step.produced as u64;
                }
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
            Err(error) => return Err(self.failed(&name, &error).into()),
        };
        self.checksums += totals.checksums_verified;
        Ok(())
    }

    fn check(&mut self, _: &Job, _: &Summary, _: &Written) -> Result<()> {
        Ok(())
    }
}
