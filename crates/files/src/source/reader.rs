//! Filling buffers from an input, with the running totals of what came out of it.

use std::fs::File;
use std::hash::Hasher as _;
use std::io::{self, Read};

use twox_hash::XxHash64;

use super::Summary;
use crate::steady::State;

/// Where bytes come from.
#[derive(Debug)]
pub(super) enum Input {
    File(File),
    #[cfg(feature = "web")]
    Remote(Box<crate::remote::Body>),
}

impl Read for Input {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(room),
            #[cfg(feature = "web")]
            Self::Remote(body) => body.read(room),
        }
    }
}

/// The input with the running totals of what came out of it.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) input: Input,
    /// The size that the file system states, of a regular file.
    pub(super) stated: Option<u64>,
    /// How the file was when it was opened.
    pub(super) before: Option<State>,
    /// Bytes of a buffer that is full.
    pub(super) buffer_bytes: usize,
    pub(super) bytes: u64,
    /// Whether there is no more to come.
    pub(super) ended: bool,
    pub(super) hasher: Option<XxHash64>,
}

impl Reader {
    /// Fills the buffer, in as few reads as the source allows: into room of a known size, for what
    /// grows as it reads starts small each time.
    pub(super) fn fill(&mut self, mut buffer: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut filled = 0;
        let mut room = self.room();
        while !self.ended {
            if buffer.len() < room {
                buffer.resize(room, 0);
            }
            match self.input.read(&mut buffer[filled..room]) {
                Ok(0) => self.ended = true,
                Ok(count) => {
                    filled += count;
                    // A regular file that gives less than there is room for has no more.
                    self.ended = filled < room && self.stated == Some(self.bytes + filled as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if filled == room {
                if room == self.buffer_bytes {
                    break;
                }
                room = self.buffer_bytes;
            }
        }
        buffer.truncate(filled);
        self.bytes += filled as u64;
        if let Some(hasher) = &mut self.hasher {
            hasher.write(&buffer);
        }
        Ok(buffer)
    }

    /// Room for what the file should still hold and a byte more, which shows its end.
    fn room(&self) -> usize {
        let left = self.stated.map(|size| size.saturating_sub(self.bytes) + 1);
        left.map_or(self.buffer_bytes, |left| {
            left.clamp(64, self.buffer_bytes as u64) as usize
        })
    }

    pub(super) fn summary(&self) -> Summary {
        Summary {
            bytes: self.bytes,
            xxh64: self.hasher.as_ref().map(|hasher| hasher.finish()),
            change: self.before.and_then(|before| before.change(self.now()?)),
        }
    }

    /// How the file is now.
    fn now(&self) -> Option<State> {
        match &self.input {
            Input::File(file) => State::of(&file.metadata().ok()?),
            #[cfg(feature = "web")]
            Input::Remote(_) => None,
        }
    }
}
