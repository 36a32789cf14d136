//! A block of a log: whole messages or whole lines, cut by `blocks` and read by `messages`.

use fixcore::ErrorKind;

use crate::shape::Shape;
use crate::{Error, Origin, Origins};

/// A place that the scanner found in a block of messages by length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A message: where in the block, and how long.
    Message { at: u32, bytes: u32 },
    /// What begins as a message but is not one, at this byte of the log.
    Bad { offset: u64, why: ErrorKind },
    /// Bytes in no message that are not text, from this byte of the log on.
    Noise { offset: u64, bytes: u64 },
}

/// How a log ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ended {
    /// How many bytes were read.
    pub bytes: u64,
    /// Why it was not read to its end, if it was not.
    pub error: Option<Error>,
}

/// Bytes of one log that were cut off together: whole messages, or whole lines.
#[derive(Debug, Default)]
pub struct Block {
    pub(crate) log: usize,
    pub(crate) offset: u64,
    /// Ends of lines before it.
    pub(crate) lines_before: u64,
    /// The line that it begins in, as far as it stands before the block; the last bytes of it.
    pub(crate) head: Vec<u8>,
    /// Longer than what was read.
    pub(crate) buffer: Vec<u8>,
    pub(crate) filled: usize,
    pub(crate) shape: Shape,
    /// What stands between fields beside what is known.
    pub(crate) own: Option<&'static [u8]>,
    /// Of a stream, every message; of lines, only those that are too long.
    pub(crate) marks: Vec<Mark>,
    /// Bytes in no message that ended here. Of lines, only those before the first message was seen.
    pub(crate) between_bytes: u64,
    pub(crate) ended: Option<Ended>,
    /// Of a capture: where what is here stands there.
    pub(crate) origins: Origins,
}

impl Block {
    /// Which log it is of, counted from 0.
    #[must_use]
    pub fn log(&self) -> usize {
        self.log
    }

    /// Where in the log it begins.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.filled).unwrap_or(&[])
    }

    /// Where in a capture the message is that begins at this byte of the log; `None` if the log is no capture.
    #[must_use]
    pub fn origin(&self, offset: u64) -> Option<Origin> {
        self.origins.at(offset)
    }

    /// The byte of the file for a byte of the log: that of the capture if the log is one.
    #[must_use]
    pub fn file_offset(&self, offset: u64) -> u64 {
        self.origin(offset).map_or(offset, |origin| origin.offset)
    }

    /// How the log ended, if it ended with this block. Each log ends once.
    pub fn take_ended(&mut self) -> Option<Ended> {
        self.ended.take()
    }
}
