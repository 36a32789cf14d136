//! The work of the `zstd` program, for a binary that is called by one of its names: perfkit's own
//! transfers without a report, and with the messages of that program ([`messages`]).

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;

use files::plan::{self, Destination, Direction, Jobs, Request};
use files::sink::Written;
use files::source::Summary;
use report::{ExitStatus, Outcome};
use zstdkit::EncoderOptions;
use zstdkit::parallel::JobObserver;

use crate::Exit;
use crate::args::settings::ReferenceArgs;
use crate::commands::compress::flags::CompressPlan;
use crate::commands::compress::run::Compress;
use crate::commands::compress::train;
use crate::commands::compress::train::flags::TrainPlan;
use crate::commands::decompress::flags::{DecompressMode, DecompressPlan};
use crate::commands::decompress::run::Decompress;
use crate::commands::list;
use crate::commands::reference::{self, Reference};
use crate::commands::transfer::{self, Options, Overwrite, Stage, Times};
use crate::failure::{Failure, Result};
use crate::io::listed;
use crate::term::message::{self, Voice};
use crate::term::signal::{self, Ending};
use crate::term::{question, screen};
use crate::zstd_compat::bench;
use crate::zstd_compat::flags::{self, Action, Name, Variables, ZstdPlan};
use crate::zstd_compat::messages::{self, Totals, Way};
use crate::zstd_compat::pipes;
use crate::zstd_compat::trace::Trace;

/// The largest dictionary.
const DICTIONARY_BYTES_MAX: u64 = 32 << 20;
/// Suffixes of compressed files.
const COMPRESSED: [&str; 12] = [
    "zst", "tzst", "gz", "tgz", "lzma", "xz", "txz", "lz4", "tlz4", "bz2", "br", "lz",
];

/// Runs a command line of the zstd program. Every failure is exit code 1, as in that program.
pub(crate) fn run(name: Name, argv: &[OsString]) -> Exit {
    match name {
        Name::Zstdgrep => Exit::Named(pipes::grep(argv)),
        Name::Zstdless => Exit::Named(pipes::less(argv)),
        _ => zstd(name, argv),
    }
}

fn zstd(name: Name, argv: &[OsString]) -> Exit {
    let variable = |name| std::env::var(name).ok();
    let variables = Variables {
        level: variable("ZSTD_CLEVEL"),
        threads: variable("ZSTD_NBTHREADS"),
    };
    message::set_voice(Voice {
        name: name.as_str(),
        failures: true,
    });
    let status = flags::parse(name, argv, &variables).and_then(|plan| {
        message::set_voice(Voice {
            name: name.as_str(),
            failures: plan.verbosity > 0,
        });
        signal::end_by_any();
        signal::install(Ending::BetweenSteps);
        work(plan)
    });
    match status {
        Ok(status @ (ExitStatus::Ok | ExitStatus::Interrupted)) => Exit::Own(status),
        Ok(_) => Exit::Named(message::last_code()),
        Err(failure) => {
            message::failure(&failure);
            match failure.exit_status() {
                ExitStatus::Interrupted => Exit::Own(ExitStatus::Interrupted),
                _ => Exit::Named(failure.named_code()),
            }
        }
    }
}

fn work(mut plan: ZstdPlan) -> Result<ExitStatus> {
    screen::set_raw(plan.targets.force);
    if plan.verbosity >= 3 {
        message::line(messages::VERSION);
    }
    if plan.verbosity >= 2 {
        plan.notes.iter().for_each(|note| message::remark(note));
    }
    let all_links = plan.sources()?;
    if all_links {
        return Ok(ExitStatus::Failure);
    }
    match &plan.action {
        Action::Help { long } => messages::help(*long),
        Action::Version { bare } => messages::version(*bare),
        Action::Compress(own) => compress(&plan, own.clone()),
        Action::Decompress(own) if own.mode == DecompressMode::List => {
            let jobs = jobs(&plan, Direction::Decompress, true)?;
            list_all(&jobs, plan.verbosity)
        }
        Action::Decompress(own) => decompress(&plan, own.clone()),
        Action::Train(own) => train(&plan, own),
        Action::Bench(own) => {
            let mut own = own.clone();
            own.encoder.dictionary = load(&plan, Reference::load)?.dictionary;
            bench::run(&own, &plan.files, plan.verbosity)
        }
    }
}

impl ZstdPlan {
    /// Adds the files from lists, and leaves out symbolic links. Returns whether none are left.
    fn sources(&mut self) -> Result<bool> {
        self.files = listed::with(&self.files, &self.lists)?;
        if self.targets.force || self.files.is_empty() {
            return Ok(false);
        }
        let (links, files) = std::mem::take(&mut self.files)
            .into_iter()
            .partition(|file| file.as_os_str() != "-" && file.is_symlink());
        self.files = files;
        if self.verbosity >= 2 {
            for link in links {
                let name = link.display();
                message::remark(&format!(
                    "'{name}' is a symbolic link and ignored without -f"
                ));
            }
        }
        Ok(self.files.is_empty())
    }
}

/// The jobs, with the directories that mirrored targets need.
fn jobs(plan: &ZstdPlan, direction: Direction, nowhere: bool) -> Result<Jobs> {
    let targets = &plan.targets;
    let mut jobs = plan::jobs(&Request {
        output: targets.output.as_deref(),
        stdout: targets.stdout,
        recursive: targets.recursive,
        nowhere,
        place: targets.place.clone(),
        join: true,
        any_name: true,
        ..Request::of(&plan.files, direction)
    })?;
    if targets.exclude_compressed && direction != Direction::Decompress {
        let suffix = |path: &Path| path.extension().and_then(|s| s.to_str()).map(str::to_owned);
        jobs.jobs.retain(|job| {
            suffix(&job.source).is_none_or(|suffix| !COMPRESSED.contains(&suffix.as_str()))
        });
    }
    // Decompression does not need the size.
    let sized = match &plan.action {
        Action::Compress(own) => own.stream_size.is_some(),
        _ => true,
    };
    reference::refuse_unfit(&plan.reference, &jobs, sized).map_err(|failure| failure.code(42))?;
    // A name that comes twice is worked on once.
    let mut seen = std::collections::HashSet::new();
    jobs.jobs.retain(|job| match &job.destination {
        Destination::File(path) => seen.insert((job.source.clone(), path.clone())),
        _ => true,
    });
    transfer::make_directories(&targets.place, &jobs)?;
    Ok(jobs)
}

fn compress(plan: &ZstdPlan, mut own: CompressPlan) -> Result<ExitStatus> {
    let direction = Direction::Compress {
        suffix: own.format.suffix(),
        exclude_compressed: false,
    };
    let jobs = jobs(plan, direction, false)?;
    let reference = load(plan, Reference::load)?;
    own.encoder.dictionary = reference.dictionary;
    own.encoder.prefix = reference.prefix;
    show(plan, &jobs, &own.encoder);
    let mut stage = Compress::new(own, untimed)?;
    transfer(plan, jobs, &mut stage, Way::Compressed)
}

fn decompress(plan: &ZstdPlan, mut own: DecompressPlan) -> Result<ExitStatus> {
    let jobs = jobs(
        plan,
        Direction::Decompress,
        own.mode != DecompressMode::Write,
    )?;
    let older = load(plan, Reference::open)?.decode_with(&mut own.decoder);
    let mut stage = Decompress::new(&own, untimed())?.patching(older);
    transfer(plan, jobs, &mut stage, Way::Decompressed)
}

fn train(plan: &ZstdPlan, own: &TrainPlan) -> Result<ExitStatus> {
    if plan.files.is_empty() {
        return Err(Failure::new("--train needs files: each is one sample")
            .help("name files, or directories with -r")
            .code(14));
    }
    let outcome = train::run(&TrainPlan {
        files: plan.files.clone(),
        ..own.clone()
    })?;
    if plan.verbosity >= 2 {
        message::status(&format!(
            "Save dictionary of size {} into file {}",
            outcome.bytes_out,
            own.output.display()
        ));
    }
    Ok(outcome.status)
}

/// What frames refer back to. Failures have the program's codes.
fn load(plan: &ZstdPlan, by: fn(&ReferenceArgs) -> Result<Reference>) -> Result<Reference> {
    let named = plan.reference.dictionary.as_deref();
    let path = named.or(plan.reference.patch_from.as_deref());
    let code = match path.map(std::fs::metadata) {
        Some(Err(_)) => 31,
        Some(Ok(metadata)) if !metadata.is_file() => 32,
        Some(Ok(metadata)) if named.is_some() && metadata.len() > DICTIONARY_BYTES_MAX => 34,
        _ => 33,
    };
    by(&plan.reference).map_err(|failure| failure.code(code))
}

/// Prints the settings of the level for each source, and those that are used.
fn show(plan: &ZstdPlan, jobs: &Jobs, encoder: &EncoderOptions) {
    let length = |path: &Path| {
        let metadata = path.metadata().ok().filter(|metadata| metadata.is_file());
        metadata.map(|metadata| metadata.len())
    };
    let named = &plan.reference.dictionary;
    let referred = named.as_deref().or(plan.reference.patch_from.as_deref());
    let referred_bytes = referred.and_then(length).unwrap_or(0);
    for job in &jobs.jobs {
        let settings = messages::Settings::of(&job.source, length(&job.source), referred_bytes);
        if plan.shows_settings {
            settings.tell_defaults(encoder.level);
        }
        if plan.verbosity >= 4 {
            settings.tell(encoder);
        }
    }
}

/// There is no report, so nothing is timed.
fn untimed() -> JobObserver {
    Arc::new(|_, work| work())
}

/// Processes the jobs, and prints the messages of that program.
fn transfer(plan: &ZstdPlan, jobs: Jobs, stage: &mut impl Stage, way: Way) -> Result<ExitStatus> {
    let targets = &plan.targets;
    let mut needed = match way {
        Way::Compressed => reference::needed(&plan.reference),
        Way::Decompressed => Vec::new(),
    };
    let lists = plan.lists.iter().map(|list| ("--filelist", list.as_path()));
    needed.extend(lists);
    transfer::refuse(&jobs, targets.force, &needed, &[], way == Way::Compressed)?;
    agree_to_join(plan, &jobs)?;
    let stdin = jobs.jobs.iter().any(|job| job.source.as_os_str() == "-");
    let overwrite = if targets.force {
        Overwrite::Always
    } else if plan.verbosity >= 2 && !stdin && io::stdin().is_terminal() {
        Overwrite::Ask(question::overwrite)
    } else {
        Overwrite::Never
    };
    let several = jobs.jobs.len() + jobs.failures.len() > 1;
    let totals = Totals::new(way, plan.verbosity);
    let each = plan.verbosity >= if several { 3 } else { 2 };
    let joined = jobs.joined.clone();
    let mut trace = plan.trace.as_deref().and_then(Trace::open);
    if let (Some(trace), Action::Compress(own)) = (&mut trace, &plan.action) {
        trace.level = own.encoder.level;
        trace.workers = own.threads;
        let dictionary = plan.reference.dictionary.as_deref();
        trace.dictionary_bytes = dictionary
            .and_then(|path| path.metadata().ok())
            .map_or(0, |metadata| metadata.len());
    }
    let done = |job: &plan::Job, read: &Summary, written: &Written| {
        totals.add(job, read, written, joined.as_deref(), each);
        if let Some(trace) = &trace {
            trace.add(way, read.bytes, written.bytes);
        }
    };
    let (sparse, threads) = match &plan.action {
        Action::Decompress(own) => (own.sparse, own.file_threads as usize),
        Action::Compress(own) => (false, own.file_threads as usize),
        _ => (false, 1),
    };
    let options = Options {
        overwrite,
        rm: targets.rm,
        sparse,
        verify: None,
        hash: false,
        progress: plan.progress,
        warnings: plan.verbosity >= 2,
        threads,
    };
    let times = Times::unreported("call", &jobs);
    let outcome = Outcome::new("zstd");
    let outcome = transfer::run(jobs, stage, times, &options, Some(&done), outcome);
    if several && plan.verbosity >= 2 {
        totals.tell();
    }
    Ok(outcome.status)
}

/// Several inputs in one file cannot be separated again, so the user must agree.
fn agree_to_join(plan: &ZstdPlan, jobs: &Jobs) -> Result<()> {
    let Some(target) = &jobs.joined else {
        return Ok(());
    };
    let name = target.display();
    if plan.verbosity >= 2 {
        message::remark(&format!(
            "all inputs are joined in '{name}', without their names"
        ));
        if plan.targets.rm {
            message::remark("the inputs are kept");
        }
    }
    let asked = || plan.verbosity >= 2 && io::stdin().is_terminal() && question::proceed();
    if plan.targets.force || asked() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "'{name}' would contain {} inputs, without their names",
        jobs.jobs.len()
    ))
    .help("add -f to do it, or leave out -o"))
}

fn list_all(jobs: &Jobs, verbosity: i32) -> Result<ExitStatus> {
    let mut status = ExitStatus::Ok;
    let named = jobs.jobs.len() + jobs.failures.len();
    let mut listing = messages::Listing::new(verbosity >= 3, named);
    for job in &jobs.jobs {
        if signal::interrupted() {
            return Ok(ExitStatus::Interrupted);
        }
        let mut summary = list::Summary::of(1);
        let (mut dictionary, mut checksum) = (None, None);
        let scanned = list::scan(&job.source, |frame| {
            dictionary = dictionary.or(frame.dictionary_id);
            checksum = frame.checksum;
            summary.add_frame(&frame);
        });
        match scanned {
            Ok(_) => listing.add(&job.source, &summary, dictionary, checksum),
            Err(failure) => {
                message::failure(&failure);
                if job.source.is_file() {
                    listing.refuse(&job.source);
                }
                status = ExitStatus::Failure;
            }
        }
    }
    for failure in &jobs.failures {
        message::failure(&failure.into());
        status = ExitStatus::Failure;
    }
    message::output(listing.text().as_bytes())?;
    Ok(status)
}
