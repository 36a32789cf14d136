//! `perfkit decompress`: writes, tests (`-t`) or lists (`-l`).

use std::ffi::OsString;

use files::plan::{self, Direction, Request};
use latency::report::Validation;
use report::{ExitStatus, Outcome};

use crate::args::output::ReportFormat;
use crate::commands::decompress::flags::{DecompressArgs, DecompressMode, DecompressPlan};
pub(crate) use crate::commands::decompress::stage::Decompress;
use crate::commands::list;
use crate::commands::reference::Reference;
use crate::commands::transfer::{self, Options, Overwrite, Times};
use crate::failure::Result;
use crate::io::listed;
use crate::session::{Session, Setup};

/// Runs the command.
pub(crate) fn run(
    args: &DecompressArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let mut plan = args.plan()?;
    let files = listed::with(&args.files, &args.files_args.filelist)?;
    let jobs = plan::jobs(&Request {
        output: args.files_args.output.as_deref(),
        // A part of the content does not belong into the file that is named for all of it.
        stdout: args.files_args.stdout
            || (plan.range.is_some() && args.files_args.output.is_none()),
        recursive: args.files_args.recursive,
        nowhere: plan.mode != DecompressMode::Write,
        place: args.files_args.place(),
        ..Request::of(&files, Direction::Decompress)
    })?;
    // A patch may replace the older version that it refers to.
    let exports = args.report.exported().collect::<Vec<_>>();
    let lists: Vec<_> = args.files_args.lists().collect();
    transfer::refuse(&jobs, args.files_args.force, &lists, &exports, false)?;
    if plan.mode == DecompressMode::Write {
        transfer::make_directories(&args.files_args.place(), &jobs)?;
    }
    let older = Reference::open(&args.reference)?.decode_with(&mut plan.decoder);
    let mut report = args.report.clone();
    if args.json {
        report.report = Some(ReportFormat::Json);
    }
    let listing = plan.mode == DecompressMode::List;
    let session = Session::start(
        &Setup {
            rows: &transfer::ROWS,
            ..Setup::filter(
                name,
                argv,
                &report,
                &args.terminal,
                args.files_args.replaces_reports(),
            )
        }
        .listing(listing),
    )?;
    if listing {
        return session.finish(list::run(jobs, args.terminal.verbose));
    }
    let times = Times::new(&session, "block", &jobs);
    let mut stage =
        Decompress::new(&plan, times.around(&session, "run of frames"))?.patching(older);
    let options = Options {
        overwrite: Overwrite::of(&args.files_args),
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
        outcome.validation = Some(Validation::new(
            "content checksum of each frame",
            stage.checksums + stage.checksum_errors,
            stage.checksum_errors,
        ));
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
        plan.decoder.window_limit.into(),
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
