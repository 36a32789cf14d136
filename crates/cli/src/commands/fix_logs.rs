//! FIX logs as commands read them: whole blocks of a file, and of a pipe what is there, at once.
//!
//! What the bytes mean is for the library `fixlog` to say.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use files::source::Source;
use files::{is_cancelled, standard, url};
use fixcore::Isa;
use fixlog::{Captured, Error, Got, Logs, Origins, Separator};

use crate::failure::{Failure, Result};
use crate::io::context;
use crate::io::open::open;
use crate::term::signal;

mod follow;
mod unpack;

pub(crate) use follow::{Followed, Growing};
pub(crate) use unpack::Log;

/// The bytes of an open log as they are stored.
pub(crate) struct Input {
    kind: Kind,
    /// Bytes that were read, for whoever shows progress.
    read: Option<Arc<AtomicU64>>,
}

enum Kind {
    /// A file that gives what is asked for.
    Regular(File),
    /// A pipe, a terminal, a device: it may bring less, and later more.
    Live(File),
    /// A file that is followed.
    Growing(Box<Growing>),
    /// What a URL names, and what came of it and is not taken yet, from some byte on.
    Remote(Box<Source>, (Vec<u8>, usize)),
    /// Nothing more.
    Ended,
}

/// Logs by their names: paths, `-` or URLs; what is compressed with gzip or zstd is read as what it holds, and
/// captures of network traffic as the messages in them.
pub(crate) struct Inputs<'a> {
    files: &'a [PathBuf],
    follows: bool,
    read: Option<Arc<AtomicU64>>,
}

impl<'a> Inputs<'a> {
    /// Logs with these names.
    pub(crate) fn new(files: &'a [PathBuf]) -> Self {
        Self {
            files,
            follows: false,
            read: None,
        }
    }

    /// Waits at the end of each log for more.
    pub(crate) fn follow(mut self, follows: bool) -> Self {
        self.follows = follows;
        self
    }

    /// Counts the bytes that are read.
    pub(crate) fn count(mut self, read: &Arc<AtomicU64>) -> Self {
        self.read = Some(Arc::clone(read));
        self
    }
}

/// An open log.
pub(crate) enum OpenLog {
    Once(Captured<Log>),
    Followed(Box<Followed>),
}

impl fixlog::Source for OpenLog {
    fn read(&mut self, room: &mut [u8], stopped: &dyn Fn() -> bool) -> io::Result<Got> {
        match self {
            Self::Once(log) => log.read(room, stopped),
            Self::Followed(log) => log.read(room, stopped),
        }
    }

    fn origins(&mut self) -> Origins {
        match self {
            Self::Once(log) => log.origins(),
            Self::Followed(log) => log.origins(),
        }
    }
}

impl Logs for Inputs<'_> {
    type Log = OpenLog;

    fn open(&mut self, log: usize) -> Option<io::Result<Self::Log>> {
        let path = self.files.get(log)?;
        let mut input = match Input::open(path) {
            Ok(input) => input,
            Err(error) => return Some(Err(error)),
        };
        if self.follows
            && let Kind::Regular(file) = input.kind
        {
            return Some(Ok(OpenLog::Followed(Box::new(Followed::new(path, file)))));
        }
        input.read = self.read.clone();
        Some(Ok(OpenLog::Once(Captured::new(Log::Unread(input)))))
    }
}

/// What the user reads of a log that was not read.
pub(crate) fn failure(files: &[PathBuf], error: Error) -> Failure {
    let (log, error) = match error {
        Error::Open { log, error } | Error::Read { log, error, .. } => (log, error),
        other => return Failure::new(other.to_string()),
    };
    let own = error
        .get_ref()
        .and_then(|own| own.downcast_ref::<Failure>());
    if let Some(own) = own {
        return own.clone();
    }
    let path = files.get(log).map_or(Path::new(""), PathBuf::as_path);
    Failure::io("read", path, &error)
}

/// The bytes of all files, if all are files.
pub(crate) fn bytes_of(files: &[PathBuf]) -> Option<u64> {
    let bytes = |path: &PathBuf| {
        let metadata = std::fs::metadata(path).ok()?;
        metadata.is_file().then_some(metadata.len())
    };
    files.iter().map(bytes).sum()
}

/// The first messages of a file, for what keeps them.
pub(crate) fn collect(path: &Path, most: usize) -> Result<Vec<Vec<u8>>> {
    let files = [path.to_owned()];
    let found = fixlog::collect(Inputs::new(&files), Separator::Auto, most);
    found.map_err(|error| failure(&files, error))
}

/// The instruction set of the flag or of `PERFKIT_ISA`.
pub(crate) fn forced(isa: Option<Isa>) -> Result<Option<Isa>> {
    if let Some(isa) = isa {
        return Ok(Some(isa));
    }
    match std::env::var("PERFKIT_ISA") {
        Ok(name) if !name.is_empty() => {
            let isa = name.parse();
            isa.map(Some)
                .map_err(|error| Failure::usage(format!("PERFKIT_ISA: {error}")))
        }
        _ => Ok(None),
    }
}

pub(crate) fn unavailable(isa: Isa) -> Failure {
    let there = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    let there: Vec<_> = there.map(Isa::name).collect();
    Failure::usage(format!("this processor does not have {isa}"))
        .help(format!("it has {}", there.join(", ")))
}

impl Input {
    /// Whether it may bring more only later.
    fn is_live(&self) -> bool {
        matches!(self.kind, Kind::Live(_) | Kind::Growing(_))
    }

    fn of(kind: Kind) -> Self {
        Self { kind, read: None }
    }

    fn growing(growing: Growing) -> Self {
        Self::of(Kind::Growing(Box::new(growing)))
    }

    /// Nothing more.
    fn ended() -> Self {
        Self::of(Kind::Ended)
    }

    fn open(path: &Path) -> io::Result<Self> {
        if url::of(path).is_some() {
            let source = Source::open(path, context())
                .map_err(|error| io::Error::other(Failure::from(error)))?;
            return Ok(Self::of(Kind::Remote(Box::new(source), Default::default())));
        }
        let file = match path.as_os_str() == "-" {
            true => standard::input(),
            false => open(path, OpenOptions::new().read(true)),
        }?;
        let metadata = file.metadata();
        if metadata.as_ref().is_ok_and(std::fs::Metadata::is_dir) {
            let message = format!("'{}' is a directory", path.display());
            let failure = Failure::new(message).help("name the files in it");
            return Err(io::Error::other(failure));
        }
        Ok(Self::of(
            match metadata.is_ok_and(|metadata| metadata.is_file()) {
                true => Kind::Regular(file),
                false => Kind::Live(file),
            },
        ))
    }
}

impl fixlog::Source for Input {
    /// Reads from a file until `room` is full, from anything else what is there once there is
    /// something.
    fn read(&mut self, room: &mut [u8], stopped: &dyn Fn() -> bool) -> io::Result<Got> {
        let got = self.kind.read(room, stopped)?;
        if let (Some(read), Got::Bytes(count)) = (&self.read, got) {
            read.fetch_add(count as u64, Ordering::Relaxed);
        }
        Ok(got)
    }
}

impl Kind {
    fn read(&mut self, room: &mut [u8], stopped: &dyn Fn() -> bool) -> io::Result<Got> {
        match self {
            Self::Growing(file) => file.read(room, stopped),
            Self::Regular(file) => {
                let mut filled = 0;
                while filled < room.len() {
                    match file.read(&mut room[filled..]) {
                        Ok(0) => break,
                        Ok(count) => filled += count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(match filled {
                    0 => Got::End,
                    count => Got::Bytes(count),
                })
            }
            Self::Live(file) => read_live(file, room, stopped),
            Self::Ended => Ok(Got::End),
            Self::Remote(source, (piece, taken)) => {
                if *taken == piece.len() {
                    piece.clear();
                    *taken = 0;
                    match source.next_buffer() {
                        Ok(next) => piece.extend_from_slice(&next),
                        Err(error) if is_cancelled(&error) => return Ok(Got::Stopped),
                        Err(error) => return Err(error),
                    }
                }
                let rest = &piece[*taken..];
                let count = rest.len().min(room.len());
                room[..count].copy_from_slice(&rest[..count]);
                *taken += count;
                Ok(match count {
                    0 => Got::End,
                    count => Got::Bytes(count),
                })
            }
        }
    }
}

/// Waits for the first bytes, then takes what there is until `room` is full.
fn read_live(file: &mut File, room: &mut [u8], stopped: &dyn Fn() -> bool) -> io::Result<Got> {
    let mut filled = 0;
    while filled < room.len() {
        if filled == 0 {
            loop {
                if stopped() || signal::interrupted() {
                    return Ok(Got::Stopped);
                }
                if is_ready(file, WAIT_MS) {
                    break;
                }
            }
        } else if !is_ready(file, 0) {
            break;
        }
        match file.read(&mut room[filled..]) {
            Ok(0) if filled == 0 => return Ok(Got::End),
            // The next read will say so again.
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Got::Bytes(filled))
}

/// How long one wait for a pipe lasts, before the wish to stop is looked at.
const WAIT_MS: u32 = 50;

/// Whether a read would not wait, within some milliseconds. What cannot be asked is ready.
#[cfg(unix)]
fn is_ready(file: &File, wait_ms: u32) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let wait = Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(wait_ms) * 1_000_000,
    };
    let mut asked = [PollFd::new(file, PollFlags::IN)];
    match poll(&mut asked, Some(&wait)) {
        Ok(count) => count > 0,
        Err(rustix::io::Errno::INTR) => false,
        Err(_) => true,
    }
}

#[cfg(not(unix))]
fn is_ready(_: &File, wait_ms: u32) -> bool {
    wait_ms > 0
}
