//! `perfkit decompress`: write, test (`-t`), or hand over to the listing (`-l`).

use std::ffi::OsString;

use latency::report::Validation;
use zstdkit::{Decoder, State};

use super::compress::codec_failure;
use super::list;
use super::reference::Reference;
use super::transfer::{self, Operation, Options, Stage, Stop, Stream, Times};
use crate::args::decompress::{DecompressArgs, DecompressMode, DecompressPlan};
use crate::args::output::ReportFormat;
use crate::exit::ExitStatus;
use crate::export::MainStream;
use crate::failure::{Failure, Result};
use crate::io::plan::{self, Direction, Job, Request};
use crate::io::sink::Written;
use crate::io::source::Summary;
use crate::session::{Outcome, Session, Setup};

/// The largest zstd block, so that one call can hand out a whole block.
const BLOCK_BYTES: usize = 128 * 1024;

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
        files: &args.files,
        output: args.files_args.output.as_deref(),
        stdout: args.files_args.stdout,
        recursive: args.files_args.recursive,
        nowhere: plan.mode != DecompressMode::Write,
        direction: Direction::Decompress,
    })?;
    // What comes out is the user's; whether a terminal can bear it shows when it is there.
    // An older version may be brought up to date in its place.
    transfer::refuse(&jobs, &[], &args.files_args, &args.report, false)?;
    let reference = Reference::load(&args.reference)?;
    if reference.prefix.is_some() {
        // The window has to reach over the whole of an older version that the user chose.
        plan.decoder.window_log_max = 31;
    }
    plan.decoder.dictionaries.extend(reference.dictionary);
    plan.decoder.prefix = reference.prefix;
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
        files: &args.files_args,
        sparse: plan.sparse,
        verify: None,
        terminal: &args.terminal,
    };
    let kind = if plan.mode == DecompressMode::Test {
        "test"
    } else {
        "decompress"
    };
    let mut outcome = Outcome::new(kind);
    describe(&plan, &mut outcome);
    let mut outcome = transfer::run(jobs, &mut stage, &session, times, &options, outcome);
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
struct Decompress {
    decoder: Decoder,
    checksums: u64,
    checksum_errors: u64,
}

impl Decompress {
    fn new(plan: &DecompressPlan) -> Result<Self> {
        let decoder = Decoder::new(&plan.decoder)
            .map_err(|error| Failure::new(format!("cannot set up the decoder: {error}")))?;
        Ok(Self {
            decoder,
            checksums: 0,
            checksum_errors: 0,
        })
    }

    fn failed(&mut self, name: &str, error: &zstdkit::Error) -> Failure {
        if error.kind() == zstdkit::ErrorKind::Checksum {
            self.checksum_errors += 1;
        }
        if error.is_no_frame() {
            return Failure::new(format!("cannot decompress {name}: it is empty")).help(EMPTY_HELP);
        }
        codec_failure("decompress", name, error)
    }
}

impl Stage for Decompress {
    fn run(&mut self, stream: &mut Stream<'_>) -> std::result::Result<(), Stop> {
        self.decoder.reset();
        let name = stream.name();
        let mut input = Vec::new();
        let mut produced_before = 0_u64;
        loop {
            input = stream.next(input)?;
            if input.is_empty() {
                break;
            }
            let mut rest: &[u8] = &input;
            loop {
                let mut operation = Operation::default();
                let decoder = &mut self.decoder;
                let step = stream
                    .call(BLOCK_BYTES, &mut operation, |room| decoder.push(rest, room))?
                    .map_err(|error| self.failed(&name, &error))?;
                stream.produced(step.produced);
                rest = &rest[step.consumed..];
                if step.produced > 0 {
                    let at = produced_before;
                    stream.record(operation, || {
                        format!("{name}, block of byte {at} of the content")
                    });
                    produced_before += step.produced as u64;
                }
                if rest.is_empty() && step.state != State::MoreOutput {
                    break;
                }
            }
        }
        let totals = self
            .decoder
            .finish()
            .map_err(|error| self.failed(&name, &error))?;
        self.checksums += totals.checksums_verified;
        Ok(())
    }

    fn check(&mut self, _: &Job, _: &Summary, _: &Written) -> Result<()> {
        Ok(())
    }
}
