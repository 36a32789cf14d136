//! Lines of a file or a pipe as they come, with the numbers that messages name.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};

use files::{BUFFER_BYTES, POLL, standard};

use crate::failure::{Failure, Result};
use crate::io::open::open;
use crate::term::signal;

/// The longest line.
const LINE_BYTES_MAX: usize = 64 << 20;

/// Lines, read by a thread, so that an interrupt ends the wait for them.
pub(super) struct Lines {
    path: PathBuf,
    pieces: Receiver<io::Result<Vec<u8>>>,
    /// What was read and not yet given out.
    buffer: Vec<u8>,
    start: usize,
    ended: bool,
    number: u64,
    bytes: u64,
}

/// What waiting for a line came to.
pub(super) enum Next {
    /// A line of the buffer, without its end.
    Line(Range<usize>),
    /// Nothing is there at the moment: the time to write out what was found.
    Idle,
    End,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |error| Failure::io("read", path, &error);
        let file = match path.as_os_str() == "-" {
            true => standard::input(),
            false => open(path, OpenOptions::new().read(true)),
        };
        let file = file.map_err(failed)?;
        let (sender, pieces) = sync_channel(2);
        // Never joined: the process may end while a pipe is still open.
        std::thread::Builder::new()
            .name("events".to_owned())
            .spawn(move || read(file, &sender))
            .map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            pieces,
            buffer: Vec::new(),
            start: 0,
            ended: false,
            number: 0,
            bytes: 0,
        })
    }

    /// The number of the line that was given out last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes of a line.
    pub(super) fn get(&self, line: Range<usize>) -> &[u8] {
        &self.buffer[line]
    }

    /// The next line. `wait`: whether to wait for one that is not there.
    pub(super) fn next(&mut self, wait: bool) -> Result<Next> {
        let mut searched = self.start;
        loop {
            let rest = &self.buffer[searched..];
            if let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
                return Ok(self.give(searched + at, 1));
            }
            if self.ended {
                return Ok(match self.start < self.buffer.len() {
                    true => self.give(self.buffer.len(), 0),
                    false => Next::End,
                });
            }
            searched = self.buffer.len() - self.start;
            self.buffer.drain(..self.start);
            self.start = 0;
            if searched > LINE_BYTES_MAX {
                let line = self.number + 1;
                let message = format!("line {line} is longer than {LINE_BYTES_MAX} bytes");
                return Err(Failure::new(message));
            }
            if !self.piece(wait)? {
                return Ok(Next::Idle);
            }
        }
    }

    fn give(&mut self, end: usize, skip: usize) -> Next {
        let mut line = self.start..end;
        self.start = end + skip;
        self.number += 1;
        let mark = crate::commands::expressions::BYTE_ORDER_MARK.as_bytes();
        if self.number == 1 && self.buffer[line.clone()].starts_with(mark) {
            line.start += mark.len();
        }
        Next::Line(line)
    }

    /// Takes what was read next; false when that is not there yet.
    fn piece(&mut self, wait: bool) -> Result<bool> {
        loop {
            let timeout = if wait {
                POLL
            } else {
                std::time::Duration::ZERO
            };
            match self.pieces.recv_timeout(timeout) {
                Ok(Ok(piece)) => {
                    self.bytes += piece.len() as u64;
                    self.buffer.extend(piece);
                    return Ok(true);
                }
                Ok(Err(error)) => return Err(Failure::io("read", &self.path, &error)),
                Err(RecvTimeoutError::Disconnected) => {
                    self.ended = true;
                    return Ok(true);
                }
                Err(RecvTimeoutError::Timeout) if signal::interrupted() => {
                    self.ended = true;
                    self.buffer.clear();
                    self.start = 0;
                    return Ok(true);
                }
                Err(RecvTimeoutError::Timeout) if wait => {}
                Err(RecvTimeoutError::Timeout) => return Ok(false),
            }
        }
    }
}

fn read(mut file: std::fs::File, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut piece = vec![0; BUFFER_BYTES];
        match file.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => {
                piece.truncate(count);
                if sender.send(Ok(piece)).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let _ = sender.send(Err(error));
                return;
            }
        }
    }
}
