//! Output of an encoder or decoder that the inner writer has not taken yet.

use std::io::{self, ErrorKind, Write};

/// A buffer that is filled once, then written out, in as many calls as the writer wants.
#[derive(Debug)]
pub(super) struct Pending {
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Pending {
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            buffer: vec![0; bytes].into(),
            start: 0,
            end: 0,
        }
    }

    /// The whole buffer, to be filled. Only after [`write_to`](Self::write_to) has emptied it.
    pub(super) fn room(&mut self) -> &mut [u8] {
        &mut self.buffer[self.end..]
    }

    /// Notes that this many bytes at the start of the room were filled.
    pub(super) fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.buffer.len());
    }

    /// Writes everything. After an error the rest stays here for the next call.
    pub(super) fn write_to(&mut self, writer: &mut impl Write) -> io::Result<()> {
        while self.start < self.end {
            match writer.write(&self.buffer[self.start..self.end]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.start += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        (self.start, self.end) = (0, 0);
        Ok(())
    }
}
