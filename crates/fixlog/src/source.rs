//! Where the bytes of logs come from.
//!
//! A program with pipes that may stay silent, or with logs behind a network, has a [`Source`] of its
//! own. For files and for any [`Read`] there are [`Files`] and [`Readers`].

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use crate::Origins;

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Got {
    /// This many bytes, at least one.
    Bytes(usize),
    /// The log has ended.
    End,
    /// The log goes on with another file of the same name, from its beginning: what is incomplete does not go on.
    Restarted,
    /// The caller wants no more. What is incomplete is dropped and not reported.
    Stopped,
}

/// One open log.
pub trait Source {
    /// Reads into `room`, which has at least 128 KiB.
    ///
    /// A file fills `room`; anything that brings its bytes bit by bit returns what there is, so that a
    /// log can be followed. While there is nothing, it calls `stopped` now and then, and returns
    /// [`Got::Stopped`] when that is true.
    ///
    /// # Errors
    /// Those of the system; the log ends there.
    fn read(&mut self, room: &mut [u8], stopped: &dyn Fn() -> bool) -> io::Result<Got>;

    /// Where what was read since the last call stands, if the log is not a file of text but a capture.
    fn origins(&mut self) -> Origins {
        Origins::default()
    }
}

/// Logs that are opened one after the other.
pub trait Logs {
    /// An open log.
    type Log: Source + Send;

    /// Opens a log, counted from 0; `None` if there are no more.
    fn open(&mut self, log: usize) -> Option<io::Result<Self::Log>>;
}

/// A [`Read`] as a log: it is read until `room` is full or it ends.
#[derive(Debug)]
pub struct Reader<R>(pub R);

impl<R: Read> Source for Reader<R> {
    fn read(&mut self, room: &mut [u8], stopped: &dyn Fn() -> bool) -> io::Result<Got> {
        let mut filled = 0;
        while filled < room.len() {
            if stopped() {
                return Ok(Got::Stopped);
            }
            match self.0.read(&mut room[filled..]) {
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
}

/// Files by their paths.
#[derive(Debug, Clone)]
pub struct Files(pub Vec<PathBuf>);

impl Logs for Files {
    type Log = Reader<File>;

    fn open(&mut self, log: usize) -> Option<io::Result<Self::Log>> {
        self.0.get(log).map(|path| File::open(path).map(Reader))
    }
}

/// Logs that are open already, such as slices of bytes.
#[derive(Debug)]
pub struct Readers<I>(I);

impl<I: Iterator> Readers<I> {
    /// Each [`Read`] is one log.
    pub fn new(readers: impl IntoIterator<IntoIter = I>) -> Self {
        Self(readers.into_iter())
    }
}

impl<R: Read + Send, I: Iterator<Item = R>> Logs for Readers<I> {
    type Log = Reader<R>;

    fn open(&mut self, _: usize) -> Option<io::Result<Self::Log>> {
        self.0.next().map(|reader| Ok(Reader(reader)))
    }
}
