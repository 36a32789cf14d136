//! `perfkit unzip`.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

#[cfg(feature = "cloud")]
use files::remote;
use files::source::{self, Source};
use files::splice::Undo;
use files::url;
use latency::report::{Input, LatencyName, Validation};
use report::{ExitStatus, Outcome, names};
use zipstream::extract::{Existing, Stopped};
use zipstream::{ArchiveReader, ReadAt, Warning};

use crate::args::output::ReportFormat;
use crate::commands::unzip::extract::{Done, Run};
use crate::commands::unzip::flags::{UnzipArgs, UnzipMode, UnzipPlan};
use crate::commands::unzip::keys::Keys;
use crate::commands::unzip::{list, messages};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::io::parts::{self, Unopened};
#[cfg(feature = "cloud")]
use crate::io::spans::Spans;
use crate::session::{Session, Setup};
use crate::term::message;
use crate::term::progress::Progress;

/// Runs the command.
pub(crate) fn run(args: &UnzipArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let plan = args.plan()?;
    let from_pipe = args.input.as_os_str() == "-";
    if from_pipe && io::stdin().is_terminal() {
        return Err(Failure::usage("standard input is a terminal")
            .help("name a file, or pipe data in; see --help"));
    }
    let mut report = args.report.clone();
    if args.json {
        report.report = Some(ReportFormat::Json);
    }
    let listing = plan.mode == UnzipMode::List;
    let session = Session::start(
        &Setup {
            rows: &[LatencyName::Service, LatencyName::Hold],
            ..Setup::filter(
                name,
                argv,
                &report,
                &args.terminal,
                // A command line that skips what is there is run again as it is, its report included.
                plan.existing != Existing::Refuse,
            )
        }
        .listing(listing),
    )?;
    #[cfg(not(feature = "cloud"))]
    if let UnzipMode::Extract(directory) = &plan.mode
        && let Some(url) = url::of(directory)
    {
        return Err(url::unsupported(files::Operation::Write, url).into());
    }
    let mut input = open(&args.input, &plan, args.terminal.wants_warnings())?;
    if listing {
        let form = match (args.names, args.terminal.verbose) {
            (true, _) => list::Form::Names,
            (_, true) => list::Form::Full,
            _ => list::Form::Usual,
        };
        let alone = session.is_text_alone();
        let mut listing = list::Listing::new(&plan, form, session.has_report());
        match input {
            Opened::File(reader) if alone => listing.print(&reader)?,
            Opened::File(reader) => listing.file(&reader)?,
            #[cfg(feature = "cloud")]
            Opened::Remote(reader) => listing.file(&reader)?,
            Opened::Pipe(source) => {
                let preceding = listing.pipe(Pulled::new(source), &plan)?;
                if args.terminal.wants_warnings() {
                    messages::preceded(preceding);
                }
            }
        }
        if alone {
            listing.print_rest()?;
        }
        let mut outcome = Outcome::new("list");
        listing.settle(&args.input, &mut outcome);
        return match alone {
            true => session.finish_printed(outcome),
            false => session.finish(outcome),
        };
    }
    let plan = UnzipPlan {
        threads: input.threads(plan.threads),
        ..plan
    };
    let mut keys = Keys::new(&plan)?;
    match &mut input {
        Opened::File(reader) => unlock(reader, &plan, &mut keys)?,
        #[cfg(feature = "cloud")]
        Opened::Remote(reader) => unlock(reader, &plan, &mut keys)?,
        Opened::Pipe(_) => {}
    }
    let progress = Progress::start(args.terminal.wants_progress(), None);
    let run = Run {
        plan: &plan,
        archive: &args.input,
        metadata: input.metadata(&args.input),
        warn: args.terminal.wants_warnings(),
        session: &session,
        progress: &progress,
    };
    let done = match (input, &plan.one) {
        (Opened::File(reader), None) => run.file(&reader)?,
        (Opened::File(reader), Some(one)) => run.one(&reader, one)?,
        #[cfg(feature = "cloud")]
        (Opened::Remote(reader), None) => run.file(&reader)?,
        #[cfg(feature = "cloud")]
        (Opened::Remote(reader), Some(one)) => run.one(&reader, one)?,
        (Opened::Pipe(_), None) if plan.is_to_store() => {
            let what = "an archive from a pipe cannot be extracted to an object store: only its end says which entries are links";
            return Err(Failure::usage(what).help("write the archive to a file first"));
        }
        (Opened::Pipe(source), None) => run.pipe(Pulled::new(source), &mut keys)?,
        (Opened::Pipe(_), Some(_)) => {
            let what = "--range, --index and --write-index need an archive that is read by offset";
            return Err(Failure::usage(what).help("write the archive to a file first"));
        }
    };
    let bytes_in = done.report.compressed_bytes;
    progress.finish();
    let mut outcome = Outcome::new(kind(&plan.mode));
    describe(&plan, &mut outcome);
    outcome.workload.inputs.push(Input {
        path: names::path(&args.input),
        bytes: bytes_in,
        xxh64: None,
    });
    outcome.workload.inputs_total = 1;
    outcome.bytes_in = bytes_in;
    finish(done, args.terminal.wants_warnings(), &mut outcome);
    session.finish(outcome)
}

/// Asks for the password if a selected entry needs one.
fn unlock<R: zipstream::ReadAt>(
    reader: &mut ArchiveReader<R>,
    plan: &UnzipPlan,
    keys: &mut Keys,
) -> Result<()> {
    if !reader.has_encrypted() {
        return Ok(());
    }
    let mut entries = reader.entries().flatten();
    let wanted = |name: &str| plan.selection.takes(name);
    if entries.any(|entry| entry.is_encrypted() && wanted(&entry.name_lossy())) {
        reader.set_decryption(keys.get()?);
    }
    Ok(())
}

/// The archive, as it can be read.
enum Opened {
    File(Box<ArchiveReader<parts::Source>>),
    #[cfg(feature = "cloud")]
    Remote(Box<ArchiveReader<Spans>>),
    Pipe(Box<Source>),
}

impl Opened {
    /// Its owner and mode, of a file.
    fn metadata(&self, path: &Path) -> Option<Metadata> {
        match self {
            Self::File(_) => {
                let local = url::of(path).and_then(url::local);
                std::fs::metadata(local.as_deref().unwrap_or(path)).ok()
            }
            #[cfg(feature = "cloud")]
            Self::Remote(_) => None,
            Self::Pipe(source) => source.attributes().cloned(),
        }
    }

    /// How many threads may read it if this many are wanted.
    fn threads(&self, wanted: u32) -> u32 {
        match self {
            // Several threads would request parts in turn, none of which continues the previous one.
            #[cfg(feature = "cloud")]
            Self::Remote(_) => 1,
            _ => wanted,
        }
    }
}

/// Opens an archive that a URL names: by its directory, or as a stream if the server supports no ranges.
#[cfg(feature = "cloud")]
fn open_url(path: &Path, url: &str, plan: &UnzipPlan, warn: bool) -> Result<Opened> {
    match Spans::open(url) {
        Ok(spans) => {
            let reader = ArchiveReader::open_with(spans, &plan.read);
            let reader = reader.map_err(|error| unopened(error.into(), path))?;
            Ok(Opened::Remote(Box::new(warned(reader, warn))))
        }
        Err(error) if remote::is_whole_only(&error) => {
            Ok(Opened::Pipe(Box::new(Source::open(path, context())?)))
        }
        Err(error) => Err(Failure::io("read", path, &error)),
    }
}

#[cfg(not(feature = "cloud"))]
fn open_url(_: &Path, url: &str, _: &UnzipPlan, _: bool) -> Result<Opened> {
    Err(url::unsupported(files::Operation::Read, url).into())
}

/// How an archive comes back that was being added to when its process was killed.
const UNDO: &str = "`perfkit zip --append` or `--repair` restores the archive";

fn open(path: &Path, plan: &UnzipPlan, warn: bool) -> Result<Opened> {
    if let Some(url) = url::of(path) {
        return match url::local(url) {
            Some(local) => open(&local, plan, warn),
            None => open_url(path, url, plan, warn),
        };
    }
    if path.is_dir() {
        return Err(Failure::new(format!("'{}' is a directory", path.display()))
            .help("name the archive; -d names the target directory"));
    }
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    if path.as_os_str() == "-" || (path.exists() && !is_file) {
        return Ok(Opened::Pipe(Box::new(Source::open(path, context())?)));
    }
    let file = File::open(path).map_err(|error| Failure::io("read", path, &error))?;
    if warn && Undo::is_there(path) {
        message::note(
            "an --append to this archive was interrupted, or is still running",
            UNDO,
        );
    }
    let reader = parts::open(file, path, &plan.read);
    let reader = reader.map_err(|error| unopened(error, path))?;
    Ok(Opened::File(Box::new(warned(reader, warn))))
}

/// Why an archive cannot be opened, and what helps.
fn unopened(error: Unopened, path: &Path) -> Failure {
    let error = match error {
        Unopened::Archive(error) => error,
        Unopened::Part(failure) => return failure,
    };
    let failure = Failure::new(format!("cannot read {}: {error}", files::display(path)));
    match Undo::is_there(path) {
        true => failure.help(UNDO),
        false => failure.archive_help(&error),
    }
}

/// An archive, when its oddities are said.
fn warned<R: ReadAt>(reader: ArchiveReader<R>, warn: bool) -> ArchiveReader<R> {
    if warn {
        let warnings = reader.directory().warnings().iter();
        // Every profile accepts zeros that fill a block.
        for warning in warnings.filter(|warning| !matches!(warning, Warning::Padding { .. })) {
            messages::odd(warning);
        }
    }
    reader
}

/// A source that provides buffers, as a stream of bytes.
struct Pulled {
    source: Box<Source>,
    buffer: source::Buffer,
    taken: usize,
}

impl Pulled {
    fn new(source: Box<Source>) -> Self {
        Self {
            source,
            buffer: source::Buffer::default(),
            taken: 0,
        }
    }
}

impl Read for Pulled {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.buffer.len() {
            self.buffer = source::Buffer::default();
            // An interrupt by the user is no reason to retry.
            self.buffer = self
                .source
                .next_buffer()
                .map_err(|error| match error.kind() {
                    io::ErrorKind::Interrupted => io::Error::other("interrupted"),
                    _ => error,
                })?;
            self.taken = 0;
        }
        let rest = &self.buffer[self.taken..];
        let bytes = rest.len().min(room.len());
        room[..bytes].copy_from_slice(&rest[..bytes]);
        self.taken += bytes;
        Ok(bytes)
    }
}

fn kind(mode: &UnzipMode) -> &'static str {
    match mode {
        UnzipMode::List => "list",
        UnzipMode::Test => "test",
        UnzipMode::Print | UnzipMode::Extract(_) => "unzip",
    }
}

fn describe(plan: &UnzipPlan, outcome: &mut Outcome) {
    let params = &mut outcome.workload.params;
    let strict = plan.read.profile == zipstream::Profile::Strict;
    params.insert("strict".to_owned(), strict.into());
    params.insert("threads".to_owned(), plan.threads.into());
    let limit = plan.read.limits.total_bytes;
    params.insert("max_size_bytes".to_owned(), limit.into());
}

fn finish(done: Done, warn: bool, outcome: &mut Outcome) {
    let Done { report, times, .. } = done;
    message::failures(&done.failures);
    let more = done.failed - done.failures.len() as u64;
    if more > 0 {
        message::remark(&format!("{more} more entries failed"));
    }
    if warn {
        messages::warn(&report);
    }
    let params = &mut outcome.workload.params;
    params.insert(
        "contradicted_entries".to_owned(),
        report.contradicted.into(),
    );
    if report.kept > 0 {
        params.insert("targets_kept".to_owned(), report.kept.into());
    }
    outcome.bytes_out = report.content_bytes;
    outcome.bytes_content = report.content_bytes;
    outcome.ops = Some(times.entry.n());
    outcome.did(times.entry.n(), ["entry", "entries"]);
    // What exists already or cannot be written is a failure, and says nothing about the content.
    let damaged = done.damaged.min(done.failed);
    outcome.validation = Some(Validation::new(
        "checksum and size of each entry",
        times.entry.n() + damaged,
        damaged,
    ));
    outcome.add(&times.entry.finish());
    outcome.add(&times.hold.finish());
    let stopped = report
        .stopped
        .filter(|stopped| *stopped != Stopped::Damaged);
    outcome.complete = done.failed == 0 && stopped.is_none() && !done.interrupted;
    outcome.status = match stopped {
        _ if done.interrupted => ExitStatus::Interrupted,
        Some(Stopped::ReaderGone) if done.failed == 0 => ExitStatus::Ok,
        Some(Stopped::Undelivered) => ExitStatus::Failure,
        _ if done.failed == 0 => ExitStatus::Ok,
        _ if report.entries == 0 => ExitStatus::Failure,
        _ => ExitStatus::Partial,
    };
}
