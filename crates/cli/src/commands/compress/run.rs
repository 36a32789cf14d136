//! `perfkit compress`.

use std::ffi::OsString;

use files::plan::{self, Destination, Direction, Jobs, Request};
use latency::report::Validation;
use report::{ExitStatus, Outcome};
use zstdkit::DecoderOptions;

use crate::commands::compress::flags::{CompressArgs, CompressPlan};
use crate::commands::compress::patch::refuse_unfit;
pub(crate) use crate::commands::compress::stage::Compress;
use crate::commands::compress::train;
use crate::commands::patch::SegmentedPlan;
use crate::commands::reference::{self, Reference};
use crate::commands::transfer::{self, Options, Overwrite, Times};
use crate::failure::{Failure, Result};
use crate::io::listed;
use crate::session::{Session, Setup};
use crate::term::message;

/// Runs the command.
pub(crate) fn run(
    args: &CompressArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    if let Some(plan) = args.train()? {
        let session = Session::start(&Setup::filter(
            name,
            argv,
            &args.report,
            &args.terminal,
            args.files_args.force,
        ))?;
        return session.finish(train::run(&plan)?);
    }
    let mut plan = args.plan()?;
    let direction = Direction::Compress {
        suffix: plan.format.suffix(),
        exclude_compressed: plan.exclude_compressed,
    };
    let files = listed::with(&args.files, &args.files_args.filelist)?;
    let jobs = plan::jobs(&Request {
        output: args.files_args.output.as_deref(),
        stdout: args.files_args.stdout,
        recursive: args.files_args.recursive,
        place: args.files_args.place(),
        ..Request::of(&files, direction)
    })?;
    let mut needed = reference::needed(&args.reference);
    needed.extend(args.files_args.lists());
    let exports = args.report.exported().collect::<Vec<_>>();
    transfer::refuse(&jobs, args.files_args.force, &needed, &exports, true)?;
    refuse_joined(&plan, &jobs)?;
    let sized = plan.stream_size.is_some() || args.patch_segment.is_some();
    reference::refuse_unfit(&args.reference, &jobs, sized)?;
    let older = args.reference.patch_from.as_deref();
    let segmented = match older {
        Some(older) => SegmentedPlan::choose(older, &jobs, plan.stream_size, args.patch_segment)?,
        None => None,
    };
    let reference = match &segmented {
        Some(_) => {
            refuse_unfit(&plan)?;
            Reference::open(&args.reference)?
        }
        None => Reference::load(&args.reference)?,
    };
    plan.encoder.dictionary = reference.dictionary;
    plan.encoder.prefix = reference.prefix;
    if segmented.is_some() && args.patch_segment.is_none() && args.terminal.wants_warnings() {
        message::note(
            "one frame refers back to 2 GiB at most, so this is a patch of segments",
            "apply it with `perfkit decompress --patch-from OLDER`",
        );
    }
    if jobs.passed_over > 0 && args.terminal.wants_warnings() {
        message::note(
            &format!(
                "{} files that end in .{} were passed over",
                jobs.passed_over,
                plan.format.suffix()
            ),
            "--no-exclude-compressed compresses them again",
        );
    }
    transfer::make_directories(&args.files_args.place(), &jobs)?;
    let session = Session::start(&Setup {
        rows: &transfer::ROWS,
        ..Setup::filter(
            name,
            argv,
            &args.report,
            &args.terminal,
            args.files_args.replaces_reports(),
        )
    })?;
    let times = Times::new(&session, "128 KiB chunk", &jobs);
    let mut stage =
        Compress::new(plan.clone(), || times.around(&session, "frame"))?.segmented(segmented);
    let decoder = DecoderOptions::default()
        .with_window_log_max(31)
        .with_dictionaries(plan.encoder.dictionary.clone())
        .with_prefix(plan.encoder.prefix.clone());
    let options = Options {
        overwrite: Overwrite::of(&args.files_args),
        rm: args.files_args.rm,
        sparse: false,
        verify: plan.verify.then_some((plan.format, &decoder)),
        hash: session.wants_hashes(),
        progress: args.terminal.wants_progress(),
        warnings: args.terminal.wants_warnings(),
        threads: plan.file_threads as usize,
    };
    let mut outcome = Outcome::new("compress");
    describe(&plan, &mut outcome);
    let mut outcome = transfer::run(jobs, &mut stage, times, &options, None, outcome);
    outcome.bytes_content = outcome.bytes_in;
    outcome.validation = plan.verify.then(|| {
        let method = "decompressing what was written";
        Validation::new(method, stage.verified, stage.wrong)
    });
    session.finish(outcome)
}

fn describe(plan: &CompressPlan, outcome: &mut Outcome) {
    let params = &mut outcome.workload.params;
    params.insert("format".to_owned(), plan.format.name().into());
    match plan.recipe {
        Some(plan) => params.insert("recipe".to_owned(), plan.recipe.name().into()),
        None => params.insert("level".to_owned(), plan.encoder.level.into()),
    };
    params.insert("threads".to_owned(), plan.threads.into());
    params.insert("file_threads".to_owned(), plan.file_threads.into());
    params.insert("seekable_frame_bytes".to_owned(), plan.seekable.into());
    params.insert("memory_limit_bytes".to_owned(), plan.memory_limit.into());
    params.insert("checksum".to_owned(), plan.encoder.checksum.into());
    params.insert("window_log".to_owned(), plan.encoder.window_log.into());
    params.insert("zstd".to_owned(), zstdkit::version().into());
}

/// Refuses to join several seekable files: the last seek table would only describe the last of them.
fn refuse_joined(plan: &CompressPlan, jobs: &Jobs) -> Result<()> {
    let joined = jobs
        .jobs
        .iter()
        .filter(|job| job.destination == Destination::Stdout);
    match joined.count() {
        count if count > 1 && plan.seekable.is_some() => Err(Failure::usage(format!(
            "-c would join {count} seekable files into a file that is not seekable"
        ))
        .help("leave out -c to write one target per file, or join the inputs in a pipe")),
        _ => Ok(()),
    }
}
