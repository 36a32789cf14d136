//! A log that is read: whole blocks of a file, and of a pipe what is there, at once.
//!
//! What the bytes mean is for `blocks` to say.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

use crate::failure::{Failure, Result};
use crate::io::context;
use crate::io::open::open;
use crate::io::source::Source;
use crate::io::{is_interrupt, standard, url};
use crate::term::signal;

/// An open log.
pub(super) enum Input {
    /// A file that gives what is asked for.
    Regular(File),
    /// A pipe, a terminal, a device: it may bring less, and later more.
    Live(File),
    /// What a URL names.
    Remote(Box<Source>),
}

/// What a read came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Got {
    /// So many bytes.
    Bytes(usize),
    /// There is no more.
    End,
    /// The user, or who reads what is made of it, wants no more.
    Stopped,
}

impl Input {
    pub(super) fn open(path: &Path) -> Result<Self> {
        if url::of(path).is_some() {
            return Ok(Self::Remote(Box::new(Source::open(path, context())?)));
        }
        let file = match path.as_os_str() == "-" {
            true => standard::input(),
            false => open(path, OpenOptions::new().read(true)),
        };
        let file = file.map_err(|error| Failure::io("read", path, &error))?;
        let metadata = file.metadata();
        if metadata.as_ref().is_ok_and(std::fs::Metadata::is_dir) {
            let message = format!("'{}' is a directory", path.display());
            return Err(Failure::new(message).help("name the files in it"));
        }
        Ok(match metadata.is_ok_and(|metadata| metadata.is_file()) {
            true => Self::Regular(file),
            false => Self::Live(file),
        })
    }

    /// Reads into `room`, from a file until it is full, from anything else what is there once there
    /// is something. `stopped` is looked at while there is nothing.
    ///
    /// `room` has to hold a buffer of a source.
    pub(super) fn read(&mut self, room: &mut [u8], stopped: &dyn Fn() -> bool) -> io::Result<Got> {
        match self {
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
            Self::Remote(source) => match source.next_buffer() {
                Ok(piece) if piece.is_empty() => Ok(Got::End),
                Ok(piece) => {
                    room[..piece.len()].copy_from_slice(&piece);
                    Ok(Got::Bytes(piece.len()))
                }
                Err(error) if is_interrupt(&error) => Ok(Got::Stopped),
                Err(error) => Err(error),
            },
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
