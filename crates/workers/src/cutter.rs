//! Cuts a stream of bytes into blocks of whole lines, with the byte and the line at which each starts. No I/O, no clock.
//!
//! The cuts of a file depend on its bytes alone, so that a feeder that starts again makes the same blocks. Those of a
//! pipe depend on time, too: what has waited for long enough goes out.

use std::time::Duration;

use bytes::{Bytes, BytesMut};

/// The longest block unless the caller says otherwise, if no line is longer.
pub const BLOCK_BYTES: usize = 64 << 10;

/// Lines of a source that follow on each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The byte of the source at which they start.
    pub offset: u64,
    /// The number of the first, from 1.
    pub line: u64,
    /// The lines with their ends.
    pub bytes: Bytes,
}

/// A line is longer than a block may be at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, at byte {offset}, is longer than {bytes_max} bytes")]
pub struct LongLine {
    /// Its number, from 1.
    pub line: u64,
    /// Where it starts.
    pub offset: u64,
    /// The limit.
    pub bytes_max: usize,
}

/// What cuts.
#[derive(Debug)]
pub struct Cutter {
    /// Blocks are at most as long as this, but for lines that are longer.
    block_bytes: usize,
    line_bytes_max: usize,
    /// After this time a block goes out, however short; none for files.
    linger: Option<Duration>,
    buffer: BytesMut,
    /// Whole lines at the start of the buffer that fit into a block.
    whole: usize,
    /// How far the buffer was searched for line ends.
    searched: usize,
    /// Whether the next line does not fit in.
    is_full: bool,
    offset: u64,
    line: u64,
    since: Option<Duration>,
}

impl Cutter {
    /// A cutter for what starts at this byte and this line of a source.
    #[must_use]
    pub fn new(block_bytes: usize, line_bytes_max: usize, offset: u64, line: u64) -> Self {
        Self {
            block_bytes: block_bytes.max(1),
            line_bytes_max: line_bytes_max.max(1),
            linger: None,
            buffer: BytesMut::new(),
            whole: 0,
            searched: 0,
            is_full: false,
            offset,
            line,
            since: None,
        }
    }

    /// Sends out what has waited for so long.
    #[must_use]
    pub fn linger(mut self, linger: Duration) -> Self {
        self.linger = Some(linger);
        self
    }

    /// Adds bytes that came at a time. Take all blocks before adding more.
    pub fn push(&mut self, bytes: &[u8], now: Duration) {
        if !bytes.is_empty() {
            self.since.get_or_insert(now);
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The next block that is complete at this time.
    ///
    /// # Errors
    ///
    /// If a line is too long. Blocks before it come first.
    pub fn take(&mut self, now: Duration) -> Result<Option<Cut>, LongLine> {
        self.search();
        let is_due = self.due().is_some_and(|due| now >= due);
        if self.whole > 0 && (self.is_full || is_due) {
            return Ok(Some(self.cut(self.whole, now)));
        }
        match self.whole == 0 && self.buffer.len() > self.line_bytes_max {
            true => Err(self.too_long()),
            false => Ok(None),
        }
    }

    /// The next block once the source has ended.
    ///
    /// # Errors
    ///
    /// If a line is too long.
    pub fn take_last(&mut self, now: Duration) -> Result<Option<Cut>, LongLine> {
        if let Some(cut) = self.take(now)? {
            return Ok(Some(cut));
        }
        let rest = self.buffer.len() - self.whole;
        // A last line without an end stands alone if it does not fit in.
        let end = match self.whole > 0 && self.buffer.len() > self.block_bytes {
            true => self.whole,
            false if rest > self.line_bytes_max => return Err(self.too_long()),
            false => self.buffer.len(),
        };
        Ok((end > 0).then(|| self.cut(end, now)))
    }

    /// When what waits becomes a block, if whole lines wait and time decides.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        let since = self.since.filter(|_| self.whole > 0)?;
        Some(since + self.linger?)
    }

    fn too_long(&self) -> LongLine {
        LongLine {
            line: self.line,
            offset: self.offset,
            bytes_max: self.line_bytes_max,
        }
    }

    /// Looks for ends of lines until a block is full. A line beyond the longest is none of ours, either.
    fn search(&mut self) {
        while !self.is_full {
            let Some(at) = memchr::memchr(b'\n', &self.buffer[self.searched..]) else {
                self.searched = self.buffer.len();
                // The line that has begun will not fit in.
                self.is_full = self.whole > 0 && self.buffer.len() > self.block_bytes;
                return;
            };
            let end = self.searched + at + 1;
            let length = end - self.whole;
            if self.whole > 0 && end > self.block_bytes || length > self.line_bytes_max {
                self.is_full = true;
                return;
            }
            (self.whole, self.searched) = (end, end);
            self.is_full = end >= self.block_bytes;
        }
    }

    fn cut(&mut self, end: usize, now: Duration) -> Cut {
        let bytes = self.buffer.split_to(end).freeze();
        let cut = Cut {
            offset: self.offset,
            line: self.line,
            bytes,
        };
        self.offset += end as u64;
        self.line += memchr::memchr_iter(b'\n', &cut.bytes).count() as u64;
        (self.whole, self.searched, self.is_full) = (0, 0, false);
        self.since = (!self.buffer.is_empty()).then_some(now);
        cut
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Duration = Duration::ZERO;

    fn cuts(bytes: &[u8], block: usize, step: usize) -> Vec<Cut> {
        let mut cutter = Cutter::new(block, 1 << 20, 0, 1);
        let mut cuts = Vec::new();
        for piece in bytes.chunks(step.max(1)) {
            cutter.push(piece, NOW);
            while let Some(cut) = cutter.take(NOW).unwrap() {
                cuts.push(cut);
            }
        }
        while let Some(cut) = cutter.take_last(NOW).unwrap() {
            cuts.push(cut);
        }
        cuts
    }

    proptest! {
        /// However the bytes come, blocks are the same, whole lines, and all of them.
        #[test]
        fn blocks_depend_on_the_bytes_alone(
            lines in prop::collection::vec("[a-c]{0,9}", 0..40),
            ends in any::<bool>(), block in 1_usize..30, step in 1_usize..50,
        ) {
            let mut text = lines.join("\n");
            if ends {
                text.push('\n');
            }
            let made = cuts(text.as_bytes(), block, step);
            prop_assert_eq!(&made, &cuts(text.as_bytes(), block, 1));
            let (mut offset, mut line) = (0, 1);
            for (at, cut) in made.iter().enumerate() {
                prop_assert_eq!((cut.offset, cut.line), (offset, line));
                offset += cut.bytes.len() as u64;
                let count = cut.bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
                line += count;
                prop_assert!(cut.bytes.len() <= block || count <= 1);
                prop_assert!(cut.bytes.ends_with(b"\n") || at + 1 == made.len());
            }
            let joined: Vec<u8> = made.iter().flat_map(|cut| cut.bytes.to_vec()).collect();
            prop_assert_eq!(joined, text.into_bytes());
        }
    }

    #[test]
    fn what_waits_long_enough_goes_out() {
        let linger = Duration::from_millis(5);
        let mut cutter = Cutter::new(100, 1000, 0, 1).linger(linger);
        cutter.push(b"a\nb", NOW);
        assert_eq!(cutter.take(NOW), Ok(None));
        assert_eq!(cutter.due(), Some(linger));
        let cut = cutter.take(linger).unwrap().unwrap();
        assert_eq!((cut.offset, cut.line, &cut.bytes[..]), (0, 1, &b"a\n"[..]));
        // Half a line waits for its end.
        assert_eq!(cutter.due(), None);
        cutter.push(b"\n", 2 * linger);
        let cut = cutter.take(3 * linger).unwrap().unwrap();
        assert_eq!((cut.offset, cut.line, &cut.bytes[..]), (2, 2, &b"b\n"[..]));
    }

    #[test]
    fn a_line_that_is_too_long_is_named_after_those_before_it() {
        let mut cutter = Cutter::new(8, 16, 100, 7);
        cutter.push(b"short\n", NOW);
        cutter.push(&[b'x'; 17], NOW);
        assert_eq!(cutter.take(NOW).unwrap().map(|cut| cut.line), Some(7));
        let error = cutter.take(NOW).unwrap_err();
        assert_eq!((error.line, error.offset), (8, 106));
        cutter.push(b"\n", NOW);
        assert!(cutter.take(NOW).is_err(), "nor with its end");
    }
}
