//! Lines of a file or a pipe as they come, in blocks, with the numbers that messages name.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use betree::ErrorKind;
use files::{BUFFER_BYTES, POLL, standard};

use crate::failure::{Failure, Result};
use crate::io::open::open;

/// The longest line.
const LINE_BYTES_MAX: usize = 64 << 20;
/// Pieces that were read and wait.
const PIECES_AHEAD: usize = 2;
/// A block that once held more gives its memory back.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// The failure of an event, with what may help.
pub(super) fn refused_event(why: String, error: &betree::Error, keep_going: bool) -> Failure {
    let failure = Failure::new(why);
    if let Some(hint) = error.hint() {
        return failure.help(hint);
    }
    match (error.kind(), keep_going) {
        (ErrorKind::UnknownAttribute, _) => failure.help(
            "add --ignore-unknown to pass over such attributes, or declare the attribute in --domains",
        ),
        (_, true) => failure,
        (_, false) => failure.help("correct the event, or add --keep-going to skip such events"),
    }
}

/// The failure of a line that is too long.
pub(super) fn too_long(origin: &str, number: u64, keep_going: bool) -> Failure {
    let why = format!("cannot read {origin}: line {number} is longer than {LINE_BYTES_MAX} bytes");
    match keep_going {
        true => Failure::new(why),
        false => {
            Failure::new(why).help("shorten the event, or add --keep-going to skip such events")
        }
    }
}

/// Lines, read by a thread, so that an interrupt ends the wait for them.
pub(super) struct Lines {
    path: PathBuf,
    pieces: Receiver<io::Result<Vec<u8>>>,
    /// The way back of the pieces' memory.
    spare: SyncSender<Vec<u8>>,
    /// What was read and not yet given out.
    buffer: Vec<u8>,
    start: usize,
    ended: bool,
    /// The next bytes are of a line that was too long.
    skips: bool,
    number: u64,
    bytes: u64,
}

/// How much a block holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub(super) lines: usize,
    /// No further line begins after this many bytes.
    pub(super) bytes: usize,
    /// Whether to wait until the block is full. If not, it ends with the last line that is there.
    pub(super) waits: bool,
}

/// Lines of the buffer: where the last of them ends, and how many there are.
struct Found {
    end: usize,
    lines: u64,
}

/// What waiting for a piece came to.
enum Got {
    /// Bytes, or the end.
    Bytes,
    Nothing,
    Stopped,
}

/// Lines that follow on each other.
#[derive(Debug, Default)]
pub(super) struct Block {
    bytes: Vec<u8>,
    /// The lines before it.
    before: u64,
    /// It has no lines, for this one is too long.
    pub(super) too_long: Option<u64>,
    /// Why there are no more lines after it.
    pub(super) error: Option<Failure>,
}

/// A place between the lines of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    at: usize,
    /// The number of the line before it, from 1.
    pub(super) number: u64,
}

impl Block {
    /// Holds these lines, which come after `before` others.
    #[cfg(feature = "workers")]
    pub(super) fn fill(&mut self, bytes: &[u8], before: u64) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.before = before;
        self.too_long = None;
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The place before its first line.
    pub(super) fn start(&self) -> Place {
        Place {
            at: 0,
            number: self.before,
        }
    }

    pub(super) fn is_end(&self, place: Place) -> bool {
        place.at >= self.bytes.len()
    }

    /// The line after a place, without its end. The place is then behind the line.
    pub(super) fn line(&self, place: &mut Place) -> Option<&[u8]> {
        let rest = self.bytes.get(place.at..).filter(|rest| !rest.is_empty())?;
        let length = through_newline(rest).unwrap_or(rest.len());
        place.at += length;
        place.number += 1;
        let line = &rest[..length];
        Some(line.strip_suffix(b"\n").unwrap_or(line))
    }
}

/// The length of a line with its end.
fn through_newline(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    // Reading memory does not fail.
    let length = rest.skip_until(b'\n').unwrap_or(0);
    (bytes.get(length.wrapping_sub(1)) == Some(&b'\n')).then_some(length)
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |error| Failure::io("read", path, &error);
        let file = match path.as_os_str() == "-" {
            true => standard::input(),
            false => open(path, OpenOptions::new().read(true)),
        };
        let file = file.map_err(failed)?;
        let (sender, pieces) = sync_channel(PIECES_AHEAD);
        let (spare, spares) = sync_channel(PIECES_AHEAD + 1);
        // Never joined: the process may end while a pipe is still open.
        std::thread::Builder::new()
            .name("events".to_owned())
            .spawn(move || read(file, &sender, &spares))
            .map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            pieces,
            spare,
            buffer: Vec::new(),
            start: 0,
            ended: false,
            skips: false,
            number: 0,
            bytes: 0,
        })
    }

    /// Bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Fills a block with the next whole lines, at least one. False when there are no more, or when `stopped` is true
    /// while waiting for one.
    pub(super) fn block(
        &mut self,
        block: &mut Block,
        limit: Limit,
        stopped: &dyn Fn() -> bool,
    ) -> bool {
        block.bytes.clear();
        if block.bytes.capacity() > KEPT_BYTES_MAX {
            block.bytes = Vec::new();
        }
        block.before = self.number;
        block.too_long = None;
        let skipped = match self.skips {
            true => self.skip_line(stopped),
            false => Ok(()),
        };
        if self.start >= BUFFER_BYTES || self.start == self.buffer.len() {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let mut found = Found {
            end: self.start,
            lines: 0,
        };
        let gathered = skipped.and_then(|()| self.gather(limit, &mut found, stopped));
        block.error = gathered.err();
        if found.lines > 0 {
            let given = &self.buffer[self.start..found.end];
            block.bytes.extend_from_slice(given);
            self.start = found.end;
            self.number += found.lines;
        }
        if block.error.is_some() {
            self.end();
        }
        if self.skips && found.lines == 0 {
            self.number += 1;
            block.too_long = Some(self.number);
        }
        found.lines > 0 || block.error.is_some() || block.too_long.is_some()
    }

    /// Passes over the rest of a line, of which nothing is kept.
    fn skip_line(&mut self, stopped: &dyn Fn() -> bool) -> Result<()> {
        self.skips = false;
        loop {
            if let Some(length) = through_newline(&self.buffer[self.start..]) {
                self.start += length;
                return Ok(());
            }
            self.buffer.clear();
            self.start = 0;
            if self.ended {
                return Ok(());
            }
            if matches!(self.piece(true, stopped)?, Got::Stopped) {
                self.end();
            }
        }
    }

    /// Waits for lines.
    fn gather(
        &mut self,
        limit: Limit,
        found: &mut Found,
        stopped: &dyn Fn() -> bool,
    ) -> Result<()> {
        let first = self.start;
        let mut seen = first;
        loop {
            while let Some(length) = through_newline(&self.buffer[seen..]) {
                seen += length;
                self.found(seen, found);
                if found.lines == limit.lines as u64 || seen - first >= limit.bytes {
                    return Ok(());
                }
            }
            if self.ended {
                if found.end < self.buffer.len() {
                    self.found(self.buffer.len(), found);
                }
                return Ok(());
            }
            seen = self.buffer.len();
            if seen - found.end > LINE_BYTES_MAX {
                // It comes again, after the lines before it.
                if found.lines == 0 {
                    self.buffer = Vec::new();
                    self.start = 0;
                    self.skips = true;
                }
                return Ok(());
            }
            let wait = limit.waits || found.lines == 0;
            match self.piece(wait, stopped)? {
                Got::Bytes => {}
                Got::Nothing => return Ok(()),
                Got::Stopped => {
                    self.end();
                    *found = Found { end: 0, lines: 0 };
                    return Ok(());
                }
            }
        }
    }

    /// Counts a line that ends here. The first may begin with a mark that says that it is UTF-8.
    fn found(&mut self, end: usize, found: &mut Found) {
        let mark = crate::commands::expressions::BYTE_ORDER_MARK.as_bytes();
        if found.lines == 0 && self.number == 0 && self.buffer[self.start..].starts_with(mark) {
            self.start += mark.len();
        }
        found.end = end;
        found.lines += 1;
    }

    fn end(&mut self) {
        self.ended = true;
        self.buffer.clear();
        self.start = 0;
    }

    /// Takes what was read next.
    fn piece(&mut self, wait: bool, stopped: &dyn Fn() -> bool) -> Result<Got> {
        loop {
            match self
                .pieces
                .recv_timeout(if wait { POLL } else { Duration::ZERO })
            {
                Ok(Ok(piece)) => {
                    self.bytes += piece.len() as u64;
                    self.buffer.extend_from_slice(&piece);
                    let _ = self.spare.try_send(piece);
                    return Ok(Got::Bytes);
                }
                Ok(Err(error)) => return Err(Failure::io("read", &self.path, &error)),
                Err(RecvTimeoutError::Disconnected) => {
                    self.ended = true;
                    return Ok(Got::Bytes);
                }
                Err(RecvTimeoutError::Timeout) if stopped() => return Ok(Got::Stopped),
                Err(RecvTimeoutError::Timeout) if wait => {}
                Err(RecvTimeoutError::Timeout) => return Ok(Got::Nothing),
            }
        }
    }
}

fn read(
    mut file: std::fs::File,
    sender: &SyncSender<io::Result<Vec<u8>>>,
    spares: &Receiver<Vec<u8>>,
) {
    let mut piece = vec![0; BUFFER_BYTES];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => {
                piece.truncate(count);
                if sender.send(Ok(std::mem::take(&mut piece))).is_err() {
                    return;
                }
                piece = spares.try_recv().unwrap_or_default();
                piece.resize(BUFFER_BYTES, 0);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let _ = sender.send(Err(error));
                return;
            }
        }
    }
}
