//! A log that may be a capture.

use std::io;

use super::origin::Origins;
use super::packets::{Damaged, is_capture};
use super::reader::Reader;
use crate::{Got, Source};

/// Bytes of a capture that are read at once.
const READ_BYTES: usize = 128 << 10;

/// A log that may be a capture of network traffic, which its first bytes say: pcap or pcapng. The messages of a
/// capture are those of all its TCP streams, in the order in which they were complete, each on a line behind the
/// time at which it arrived and the addresses. Any other log is read as it is.
///
/// Streams are put together from segments in any order, sent again or overlapping (what came first counts), over
/// IPv4 and IPv6, on Ethernet, VLANs, loopback, Linux "cooked" and raw links. What is missing after a second of the
/// capture, although the other side acknowledged it, is skipped, and so is what does not come within ten seconds or
/// for which 1 MiB waits; [`Origins::lost`] says where. 65,536 directions of connections are followed at once, and
/// at most 64 MiB of them wait for more.
///
/// ```
/// use fixlog::{Captured, Reader};
///
/// let text = &b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01"[..];
/// let log = Captured::new(Reader(text));
/// # let _ = log;
/// ```
#[derive(Debug)]
pub struct Captured<S> {
    source: S,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Nothing was read.
    Unread,
    Plain,
    Capture(Box<Capture>),
}

#[derive(Debug)]
struct Capture {
    reader: Reader,
    room: Vec<u8>,
    ended: bool,
    error: Option<io::Error>,
}

impl<S> Captured<S> {
    /// A log that may be a capture.
    pub fn new(source: S) -> Self {
        Self {
            source,
            state: State::Unread,
        }
    }
}

impl<S: Source> Source for Captured<S> {
    fn read(&mut self, room: &mut [u8], stopped: &dyn Fn() -> bool) -> io::Result<Got> {
        match &mut self.state {
            State::Plain => return self.source.read(room, stopped),
            State::Capture(capture) => return capture.read(&mut self.source, room, stopped),
            State::Unread => {}
        }
        let mut filled = 0;
        let is_capture = loop {
            match self.source.read(&mut room[filled..], stopped)? {
                Got::Bytes(count) => filled += count,
                Got::Stopped => return Ok(Got::Stopped),
                Got::End | Got::Restarted => break false,
            }
            if let Some(is) = is_capture(&room[..filled]) {
                break is;
            }
        };
        if !is_capture {
            self.state = State::Plain;
            return Ok(match filled {
                0 => Got::End,
                count => Got::Bytes(count),
            });
        }
        let mut capture = Capture {
            reader: Reader::new(),
            room: vec![0; READ_BYTES],
            ended: false,
            error: None,
        };
        let result = capture.reader.push(&room[..filled]);
        capture.took(result);
        let got = capture.read(&mut self.source, room, stopped);
        self.state = State::Capture(Box::new(capture));
        got
    }

    fn origins(&mut self) -> Origins {
        match &mut self.state {
            State::Capture(capture) => std::mem::take(&mut capture.reader.text.origins),
            State::Unread | State::Plain => Origins::default(),
        }
    }
}

impl Capture {
    fn took(&mut self, result: Result<(), Damaged>) {
        if let Err(error) = result {
            self.error = Some(io::Error::new(io::ErrorKind::InvalidData, error));
            self.ended = true;
            self.reader.finish(true);
        }
    }

    fn read<S: Source>(
        &mut self,
        source: &mut S,
        room: &mut [u8],
        stopped: &dyn Fn() -> bool,
    ) -> io::Result<Got> {
        loop {
            match self.reader.text.take(room) {
                0 => {}
                count => return Ok(Got::Bytes(count)),
            }
            if self.ended {
                return match self.error.take() {
                    Some(error) => Err(error),
                    None => Ok(Got::End),
                };
            }
            match source.read(&mut self.room, stopped)? {
                Got::Bytes(count) => {
                    let result = self.reader.push(&self.room[..count]);
                    self.took(result);
                }
                Got::Stopped => return Ok(Got::Stopped),
                Got::End | Got::Restarted => {
                    self.ended = true;
                    self.reader.finish(false);
                }
            }
        }
    }
}
