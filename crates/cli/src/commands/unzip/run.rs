//! `perfkit unzip`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

use latency::report::{Input, LatencyName, Validation};
use zipstream::{ArchiveReader, ReadAt, Warning};

use crate::args::glob::Asked;
use crate::args::output::ReportFormat;
use crate::args::password::PasswordSource;
use crate::commands::unzip::flags::{Existing, UnzipArgs, UnzipMode, UnzipPlan};
use crate::commands::unzip::{extract, list, pipe};
use crate::commands::zip::edit::was_cut_off;
use crate::exit::ExitStatus;
use crate::export::names;
use crate::failure::{Failure, Result};
use crate::io::beneath::Beneath;
use crate::io::context;
use crate::io::output::Output;
#[cfg(feature = "cloud")]
use crate::io::remote::{self, Spans};
use crate::io::rights::Rights;
use crate::io::source::{self, Source};
use crate::io::{target, url};
use crate::session::{Outcome, Session, Setup};
use crate::term::message;
use crate::term::progress::Progress;

pub(crate) use super::extract::test_all;
use crate::commands::unzip::extract::{Tally, Times};
use crate::commands::unzip::keys::Keys;
use crate::commands::unzip::place::Place;

/// Runs the command.
pub(crate) fn run(args: &UnzipArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let plan = args.plan()?;
    let from_pipe = args.input.as_os_str() == "-";
    if from_pipe && io::stdin().is_terminal() {
        return Err(Failure::usage("standard input is a terminal")
            .help("name a file, or send something in a pipe; see --help"));
    }
    let mut report = args.report.clone();
    if args.json {
        report.report = ReportFormat::Json;
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
                plan.existing == Existing::Replace,
            )
        }
        .listing(listing),
    )?;
    let mut input = open(&args.input, &plan, args.terminal.wants_warnings())?;
    if listing {
        let mut listing = list::Listing::new(&plan, args.terminal.verbose, session.has_report());
        match input {
            Opened::File(reader) if session.is_text_alone() => listing.print(&reader)?,
            Opened::File(reader) => listing.file(&reader)?,
            #[cfg(feature = "cloud")]
            Opened::Remote(reader) => listing.file(&reader)?,
            Opened::Pipe(source) => listing.pipe(Pulled::new(source), &plan)?,
        }
        let mut outcome = Outcome::new("list");
        listing.settle(&mut outcome);
        return session.finish(outcome);
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
    let mut place = place(&plan, &args.input)?;
    if let Place::Root { root, .. } = &mut place {
        root.bound(&input.rights(&args.input));
    }
    let progress = Progress::start(args.terminal.wants_progress(), None);
    let (tally, times, bytes_in) = match input {
        Opened::File(reader) => anywhere(&reader, &plan, &mut place, &session, &progress)?,
        #[cfg(feature = "cloud")]
        Opened::Remote(reader) => anywhere(&reader, &plan, &mut place, &session, &progress)?,
        Opened::Pipe(source) => {
            let run = pipe::Run {
                plan: &plan,
                session: &session,
                progress: &progress,
            };
            pipe::run(Pulled::new(source), &run, &mut place, &mut keys)
        }
    };
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
    finish(tally, times, args.terminal.wants_warnings(), &mut outcome);
    session.finish(outcome)
}

/// Entries of an archive that can be read anywhere; also how many bytes of it were compressed content.
fn anywhere<R: ReadAt + Sync>(
    reader: &ArchiveReader<R>,
    plan: &UnzipPlan,
    place: &mut Place,
    session: &Session,
    progress: &Progress,
) -> Result<(Tally, Times, u64)> {
    // What shares bytes is not worth reading.
    reader.check().map_err(|error| failed(&error))?;
    let (tally, times) = extract::run(reader, plan, place, session, progress);
    let bytes = tally.compressed_bytes;
    Ok((tally, times, bytes))
}

/// Asks for the password where an entry that is wanted needs one.
fn unlock<R: zipstream::ReadAt>(
    reader: &mut ArchiveReader<R>,
    plan: &UnzipPlan,
    keys: &mut Keys,
) -> Result<()> {
    if extract::any_encrypted(reader, plan) {
        reader.set_decryption(keys.get()?);
    }
    Ok(())
}

/// The archive, as it can be read.
enum Opened {
    File(Box<ArchiveReader<File>>),
    #[cfg(feature = "cloud")]
    Remote(Box<ArchiveReader<Spans>>),
    Pipe(Box<Source>),
}

impl Opened {
    /// Who may read it.
    fn rights(&self, path: &Path) -> Rights {
        let mut rights = Rights::default();
        let metadata = match self {
            Self::File(_) => std::fs::metadata(
                url::of(path)
                    .and_then(url::local)
                    .as_deref()
                    .unwrap_or(path),
            )
            .ok(),
            #[cfg(feature = "cloud")]
            Self::Remote(_) => None,
            Self::Pipe(source) => source.attributes().cloned(),
        };
        metadata.iter().for_each(|metadata| rights.narrow(metadata));
        rights
    }

    /// How many threads may read it where this many are wanted.
    fn threads(&self, wanted: u32) -> u32 {
        match self {
            // Several would ask for parts in turns, none of which goes on from the one before.
            #[cfg(feature = "cloud")]
            Self::Remote(_) => 1,
            _ => wanted,
        }
    }
}

/// Opens an archive that a URL names: by its directory, or as it comes where a server gives no parts.
#[cfg(feature = "cloud")]
fn open_url(path: &Path, url: &str, plan: &UnzipPlan, warn: bool) -> Result<Opened> {
    match Spans::open(url) {
        Ok(spans) => Ok(Opened::Remote(Box::new(opened(spans, path, plan, warn)?))),
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
const UNDO: &str = "perfkit zip --append or --repair undoes what was cut off";

fn open(path: &Path, plan: &UnzipPlan, warn: bool) -> Result<Opened> {
    if let Some(url) = url::of(path) {
        return match url::local(url) {
            Some(local) => open(&local, plan, warn),
            None => open_url(path, url, plan, warn),
        };
    }
    if path.is_dir() {
        return Err(Failure::new(format!("'{}' is a directory", path.display()))
            .help("name the archive; what it is extracted into is named by -d"));
    }
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    if path.as_os_str() == "-" || (path.exists() && !is_file) {
        return Ok(Opened::Pipe(Box::new(Source::open(path, context())?)));
    }
    let file = File::open(path).map_err(|error| Failure::io("read", path, &error))?;
    if warn && was_cut_off(path) {
        message::note("an --append to this archive was cut off, or goes on", UNDO);
    }
    Ok(Opened::File(Box::new(opened(file, path, plan, warn)?)))
}

fn opened<R: ReadAt>(
    source: R,
    path: &Path,
    plan: &UnzipPlan,
    warn: bool,
) -> Result<ArchiveReader<R>> {
    let reader = ArchiveReader::open_with(source, &plan.read).map_err(|error| {
        let failure = Failure::new(format!("cannot read {}: {error}", target::display(path)));
        match error.help_text() {
            _ if was_cut_off(path) => failure.help(UNDO),
            Some(help) => failure.help(help),
            None => failure,
        }
    })?;
    if warn {
        let warnings = reader.directory().warnings().iter();
        // No profile has anything against zeros that fill a block.
        for warning in warnings.filter(|warning| !matches!(warning, Warning::Padding { .. })) {
            message::note(&warning.to_string(), "--strict refuses such archives");
        }
    }
    Ok(reader)
}

/// A source that brings buffers, as a stream of bytes.
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
            // An interrupt of the user is no reason to try again.
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

fn place(plan: &UnzipPlan, archive: &Path) -> Result<Place> {
    Ok(match &plan.mode {
        UnzipMode::List | UnzipMode::Test => Place::Nowhere,
        UnzipMode::Print => Place::Stdout(
            Output::stdout(context())
                .map_err(|error| Failure::io("write", Path::new("standard output"), &error))?,
        ),
        UnzipMode::Extract(directory) => Place::Root {
            root: Beneath::open(directory, plan.existing == Existing::Replace, context())
                .map_err(|error| no_directory(directory, &error))?
                .sparing(&read(plan, archive)),
            existing: plan.existing,
        },
    })
}

/// The files that a run reads: an entry of their name does not take their place.
fn read<'a>(plan: &'a UnzipPlan, archive: &'a Path) -> Vec<&'a Path> {
    match &plan.password {
        PasswordSource::File(password) => vec![archive, password],
        PasswordSource::Terminal => vec![archive],
    }
}

fn no_directory(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::io("write", path, error);
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            failure.help("it is no directory: name another with -d")
        }
        _ => failure,
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

/// What is told of patterns that no entry matches.
pub(crate) fn unmatched(asked: &Asked<'_>) -> Vec<Failure> {
    let told = |glob: &str| {
        Failure::new(format!("no entry matches '{glob}'"))
            .help("list the names: perfkit unzip -l IN")
    };
    asked.unmet().map(told).collect()
}

/// An error of the archive as a failure.
pub(crate) fn failed(error: &zipstream::Error) -> Failure {
    let failure = Failure::new(error.to_string());
    match error.help_text() {
        Some(help) => failure.help(help),
        None => failure,
    }
}

fn finish(tally: Tally, times: Times, warn: bool, outcome: &mut Outcome) {
    tally.failures.iter().for_each(message::failure);
    let untold = tally.failed - tally.failures.len() as u64;
    if untold > 0 {
        message::remark(&format!("{untold} more entries failed"));
    }
    if warn {
        for contradiction in &tally.contradictions {
            message::note(
                contradiction,
                "the directory counts; --strict refuses such archives",
            );
        }
        let untold = tally.contradicted - tally.contradictions.len() as u64;
        if untold > 0 {
            message::remark(&format!(
                "{untold} more local headers contradict the directory"
            ));
        }
    }
    if warn && tally.kept > 0 {
        message::note(
            &format!("{} files exist already and were kept", tally.kept),
            "-o overwrites them",
        );
    }
    if warn && tally.alike > 0 {
        message::note(
            &format!("{} names differ from another in case only", tally.alike),
            "not every file system can hold both",
        );
    }
    let params = &mut outcome.workload.params;
    params.insert("contradicted_entries".to_owned(), tally.contradicted.into());
    outcome.bytes_out = tally.content_bytes;
    outcome.bytes_content = tally.content_bytes;
    outcome.ops = Some(times.entry.n());
    outcome.did(times.entry.n(), ["entry", "entries"]);
    outcome.validation = Some(Validation::new(
        "checksum and size of each entry",
        times.entry.n(),
        tally.failed,
    ));
    outcome.add(&times.entry.finish());
    outcome.add(&times.hold.finish());
    outcome.complete = tally.failed == 0 && tally.stopped.is_none();
    outcome.status = match tally.stopped {
        Some(ExitStatus::Ok) if tally.failed == 0 => ExitStatus::Ok,
        Some(ExitStatus::Interrupted) => ExitStatus::Interrupted,
        Some(ExitStatus::Failure) => ExitStatus::Failure,
        _ if tally.failed == 0 => ExitStatus::Ok,
        _ if tally.entries == 0 => ExitStatus::Failure,
        _ => ExitStatus::Partial,
    };
}
