//! Logs as blocks that hold whole messages or whole lines, in memory that does not grow with them.
//!
//! One thread at a time cuts, for where a message begins depends on all before it; that is a few bytes
//! a message to look at. What is in a block is then any thread's to read (`messages`).

use std::io;

use fixcore::frame::{START, begin_string_bytes};
use fixcore::{ErrorKind, Found, FrameScanner, SOH};
use memchr::{memchr, memchr_iter, memmem, memrchr};

use crate::block::{Block, Ended, Mark};
use crate::shape::{FIRST_BYTES_MAX, Header, Shape, Told, header, shape_of, told};
use crate::text::Text;
use crate::{Error, Got, Logs, Origins, Separator, Source};

/// Bytes that are read in one go: they stay in the cache from the read to the last look.
const BLOCK_BYTES: usize = 128 << 10;
/// Lines with messages are no longer than this, without their end.
const LINE_BYTES_MAX: usize = 4 << 20;
/// Without a message in this many bytes, they are let go.
const SEARCHED_BYTES: usize = 64 << 10;
/// What is kept of a line whose message is in the next block.
const HEAD_BYTES_MAX: usize = 256;

/// What was passed over and is not told of yet.
#[derive(Debug, Default)]
struct Passed {
    /// Bytes before the scanner saw any.
    bytes: u64,
    text: Text,
}

impl Passed {
    fn look(&mut self, bytes: &[u8]) {
        self.text.look(bytes);
    }

    /// Tells of it, and of so many bytes more; it ends at this byte of the file.
    fn tell(&mut self, block: &mut Block, end: u64, more: u64) {
        let passed = std::mem::take(self);
        let bytes = passed.bytes + more;
        block.between_bytes += bytes;
        if passed.text.is_noise() && bytes > 0 {
            let offset = end - bytes;
            block.marks.push(Mark::Noise { offset, bytes });
        }
    }
}

/// A log that is being cut.
struct Open<S> {
    log: usize,
    source: S,
    shape: Option<Shape>,
    /// Whether the shape is told by messages, and not by the caller.
    is_told: bool,
    /// Whether the lengths of messages may be others than they state.
    lengths_differ: bool,
    scanner: FrameScanner,
    /// Whether the scanner passes over nothing at this moment.
    at_rest: bool,
    /// Whether the last message was cut off: the next one may show that they all leave the last separator
    /// out.
    doubts: bool,
    /// Bytes of BeginString with its tag: most messages have the same.
    begin_bytes: usize,
    /// Whether the source has ended, or goes on with another file.
    ended: bool,
    restarts: bool,
    /// What was read and belongs to the next block; where in the file it begins.
    carry: Vec<u8>,
    offset: u64,
    /// Where a line began that is too long and has no end yet.
    too_long: Option<u64>,
    passed: Passed,
    bytes: u64,
    /// Ends of lines before `offset`, and the last bytes of the line that goes on there.
    lines: u64,
    head: Vec<u8>,
    /// Of a capture: where what was read and not given out stands.
    origins: Origins,
    /// What messages have to contain to be looked at.
    text: Option<memmem::Finder<'static>>,
}

/// Blocks of logs, one after the other.
pub struct Blocks<L: Logs> {
    logs: L,
    next: usize,
    separator: Separator,
    lengths_differ: bool,
    text: Option<memmem::Finder<'static>>,
    open: Option<Open<L::Log>>,
}

impl<L: Logs> std::fmt::Debug for Blocks<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocks")
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl<L: Logs> Blocks<L> {
    /// The blocks of `logs`.
    pub fn new(logs: L, separator: Separator) -> Self {
        Self {
            logs,
            next: 0,
            separator,
            lengths_differ: false,
            text: None,
            open: None,
        }
    }

    /// Sets whether the lengths that messages state may differ from those that they have, as those of masked messages:
    /// where messages end with lines, they are found by lines.
    #[must_use]
    pub fn lengths_differ(mut self, differ: bool) -> Self {
        self.lengths_differ = differ;
        self
    }

    /// Passes over messages without this text where that is known before they are looked at; see
    /// [`Task::with_text`](crate::Task::with_text).
    #[must_use]
    pub fn with_text(mut self, text: Option<&str>) -> Self {
        let text = text.filter(|text| !text.is_empty());
        self.text = text.map(|text| memmem::Finder::new(text).into_owned());
        self
    }

    fn opened(&self, log: usize, source: L::Log) -> Open<L::Log> {
        let mut open = Open::new(log, source, self.separator);
        open.lengths_differ = self.lengths_differ;
        open.text.clone_from(&self.text);
        // Where lengths differ, lines are looked for whatever separates fields.
        if self.lengths_differ && self.separator == Separator::Soh {
            (open.shape, open.is_told) = (None, true);
        }
        open
    }

    /// The next block, into buffers that were used before; whether there is one. A source that waits
    /// looks at `stopped`.
    pub fn next(&mut self, block: &mut Block, stopped: &dyn Fn() -> bool) -> bool {
        block.marks.clear();
        block.ended = None;
        block.filled = 0;
        block.between_bytes = 0;
        block.origins.clear();
        block.own = match self.separator {
            Separator::Text(text) => Some(text),
            _ => None,
        };
        if self.open.is_none() {
            let log = self.next;
            let Some(source) = self.logs.open(log) else {
                return false;
            };
            self.next += 1;
            block.log = log;
            match source {
                Ok(source) => self.open = Some(self.opened(log, source)),
                Err(error) => {
                    let error = Some(Error::Open { log, error });
                    block.ended = Some(Ended { bytes: 0, error });
                    return true;
                }
            }
        }
        let Some(open) = &mut self.open else {
            return false;
        };
        block.log = open.log;
        if let Some(result) = open.fill(block, stopped) {
            if open.restarts
                && let Some(before) = self.open.take()
            {
                let mut open = self.opened(before.log, before.source);
                open.bytes = before.bytes;
                self.open = Some(open);
                return true;
            }
            let Some(open) = &self.open else {
                return false;
            };
            let (log, offset) = (open.log, open.bytes);
            block.ended = Some(Ended {
                bytes: open.bytes,
                error: result.err().map(|error| Error::Read { log, offset, error }),
            });
            self.open = None;
        }
        true
    }
}

impl<S: Source> Open<S> {
    fn new(log: usize, source: S, separator: Separator) -> Self {
        Self {
            source,
            log,
            shape: match separator {
                Separator::Auto => None,
                Separator::Soh => Some(Shape::Stream),
                Separator::Pipe | Separator::Caret | Separator::Hex | Separator::Text(_) => {
                    Some(Shape::Lines)
                }
            },
            is_told: separator == Separator::Auto,
            lengths_differ: false,
            scanner: FrameScanner::new(),
            at_rest: true,
            doubts: false,
            begin_bytes: START.len(),
            ended: false,
            restarts: false,
            carry: Vec::new(),
            offset: 0,
            too_long: None,
            passed: Passed::default(),
            bytes: 0,
            lines: 0,
            head: Vec::new(),
            origins: Origins::default(),
            text: None,
        }
    }

    /// Goes on behind bytes that are given out or let go.
    fn pass(&mut self, bytes: &[u8]) {
        self.offset += bytes.len() as u64;
        self.lines += memchr_iter(b'\n', bytes).count() as u64;
        let tail = &bytes[bytes.len().saturating_sub(HEAD_BYTES_MAX)..];
        match memrchr(b'\n', tail) {
            Some(end) => {
                self.head.clear();
                self.head.extend_from_slice(&tail[end + 1..]);
            }
            None => {
                let kept = HEAD_BYTES_MAX - tail.len();
                self.head.drain(..self.head.len().saturating_sub(kept));
                self.head.extend_from_slice(tail);
            }
        }
    }

    /// Marks where a block begins.
    fn begin(&self, block: &mut Block) {
        block.offset = self.offset;
        block.lines_before = self.lines;
        block.head.clone_from(&self.head);
    }

    /// Reads until there is something to give out; how the file ended, if it did.
    fn fill(&mut self, block: &mut Block, stopped: &dyn Fn() -> bool) -> Option<io::Result<()>> {
        self.begin(block);
        let mut filled = self.carry.len();
        grow(&mut block.buffer, filled + BLOCK_BYTES);
        block.buffer[..filled].copy_from_slice(&self.carry);
        self.carry.clear();
        let mut turned = false;
        loop {
            // What has come is looked at again where another shape begins.
            if !self.ended && !turned {
                grow(&mut block.buffer, filled + BLOCK_BYTES);
                let room = &mut block.buffer[filled..filled + BLOCK_BYTES];
                let got = self.source.read(room, stopped);
                let mut origins = self.source.origins();
                self.origins.pieces.append(&mut origins.pieces);
                self.origins.lost.append(&mut origins.lost);
                match got {
                    Ok(Got::Bytes(count)) => {
                        filled += count;
                        self.bytes += count as u64;
                    }
                    Ok(Got::End) => self.ended = true,
                    Ok(Got::Restarted) => (self.ended, self.restarts) = (true, true),
                    // What is incomplete is not to blame.
                    Ok(Got::Stopped) => return Some(Ok(())),
                    Err(error) => {
                        self.origins.pass(u64::MAX, &mut block.origins);
                        return Some(Err(error));
                    }
                }
            }
            let ended = self.ended;
            if self.shape.is_none() {
                self.search(block, &mut filled, ended);
            }
            let shape = self.shape;
            let cut = match shape {
                Some(Shape::Stream) => self.cut_stream(block, filled, ended),
                Some(Shape::Lines) => self.cut_lines(block, &mut filled, ended),
                None => 0,
            };
            turned = self.shape != shape;
            let is_empty = cut == 0 && block.marks.is_empty();
            if !is_empty || (ended && !turned) {
                block.shape = shape.unwrap_or_default();
                block.filled = cut;
                self.carry.extend_from_slice(&block.buffer[cut..filled]);
                self.pass(&block.buffer[..cut]);
                if !self.origins.is_empty() {
                    let end = if ended { u64::MAX } else { self.offset };
                    self.origins.pass(end, &mut block.origins);
                }
                return (ended && !turned).then_some(Ok(()));
            }
        }
    }

    /// Finds out what the log looks like, if its first message has come. What is before it is let go in
    /// pieces of one size, whatever the reads were.
    fn search(&mut self, block: &mut Block, filled: &mut usize, ended: bool) {
        let seen = SEARCHED_BYTES + START.len() - 1;
        while let Some(bytes) = block.buffer[..*filled].get(..seen)
            && memmem::find(bytes, START).is_none()
        {
            self.passed.look(&bytes[..SEARCHED_BYTES]);
            self.passed.bytes += SEARCHED_BYTES as u64;
            self.let_go(block, filled, *filled - SEARCHED_BYTES);
        }
        self.shape = shape_of(&block.buffer[..*filled], ended, self.lengths_differ);
    }

    /// What begins here, where messages are found by their length: nothing but the next of them, lines, or
    /// something that has not come whole.
    #[inline]
    fn turn(&mut self, text: &[u8], ended: bool) -> Told {
        let is_usual = text.get(self.begin_bytes) == Some(&SOH) && !self.doubts;
        if is_usual || !self.is_told || !self.at_rest {
            return Told::Nothing;
        }
        self.turn_at(text, ended)
    }

    fn turn_at(&mut self, text: &[u8], ended: bool) -> Told {
        match header(text, ended) {
            Header::Text => Told::Shape(Shape::Lines),
            Header::No => Told::Nothing,
            Header::More => Told::More,
            Header::Soh => {
                self.begin_bytes = begin_string_bytes(text);
                if !std::mem::take(&mut self.doubts) {
                    return Told::Nothing;
                }
                let first = &text[..text.len().min(FIRST_BYTES_MAX)];
                let whole = ended || first.len() == FIRST_BYTES_MAX;
                let told = told(first, whole, self.lengths_differ);
                self.doubts = told == Told::More;
                told
            }
        }
    }

    /// Where a whole message of some bytes ends, if none of them contains the text that is looked for: what is before is
    /// passed over, and not cut.
    fn without_text(&mut self, bytes: &[u8], ended: bool) -> Option<usize> {
        let text = self.text.as_ref()?;
        if ended || self.doubts || text.find(bytes).is_some() {
            return None;
        }
        let end = self.scanner.pass_over(bytes);
        if end == 0 {
            return None;
        }
        self.at_rest = true;
        self.passed = Passed::default();
        Some(end)
    }

    /// Messages by their length: up to where all is known, or to where lines begin.
    fn cut_stream(&mut self, block: &mut Block, filled: usize, ended: bool) -> usize {
        if let Some(end) = self.without_text(&block.buffer[..filled], ended) {
            return end;
        }
        let mut at = 0;
        loop {
            match self.turn(&block.buffer[at..filled], ended) {
                Told::Nothing | Told::Shape(Shape::Stream) => {}
                Told::More => return at,
                Told::Shape(Shape::Lines) => {
                    self.shape = Some(Shape::Lines);
                    return at;
                }
            }
            let (taken, cut) = self.scanner.next(&block.buffer[at..filled], ended);
            self.at_rest = cut.is_some() || (self.at_rest && taken == 0);
            let start = at;
            at += taken;
            let (begin, end) = (self.offset + start as u64, self.offset + at as u64);
            match cut {
                None => {
                    self.passed.look(&block.buffer[start..at]);
                    if ended {
                        self.passed.tell(block, end, 0);
                    }
                    return at;
                }
                Some(Found::Message) => {
                    if self.passed.bytes > 0 {
                        self.passed.tell(block, begin, 0);
                    }
                    block.marks.push(Mark::Message {
                        at: start as u32,
                        bytes: taken as u32,
                    });
                }
                Some(Found::Skipped { bytes, why: None }) => {
                    self.passed.look(&block.buffer[start..at]);
                    self.passed.tell(block, end, bytes);
                }
                Some(Found::Skipped {
                    bytes,
                    why: Some(why),
                }) => {
                    let offset = end - bytes;
                    self.doubts = why == ErrorKind::Truncated;
                    if self.passed.bytes > 0 {
                        self.passed.tell(block, offset, 0);
                    }
                    // What was looked at belongs to what is bad.
                    self.passed = Passed::default();
                    block.marks.push(Mark::Bad { offset, why });
                }
            }
        }
    }

    /// Whole lines: up to the last end of one.
    fn cut_lines(&mut self, block: &mut Block, filled: &mut usize, ended: bool) -> usize {
        if self.passed.bytes > 0 {
            self.passed.tell(block, self.offset, 0);
        }
        // Only the first line can be: further ones came with the last read.
        if *filled > LINE_BYTES_MAX && memchr(b'\n', &block.buffer[..=LINE_BYTES_MAX]).is_none() {
            self.too_long.get_or_insert(self.offset);
        }
        if let Some(offset) = self.too_long {
            let end = memchr(b'\n', &block.buffer[..*filled]);
            let kept = end.map_or(0, |end| *filled - end - 1);
            self.let_go(block, filled, kept);
            if end.is_none() && !ended {
                return 0;
            }
            self.too_long = None;
            let why = ErrorKind::TooLong;
            block.marks.push(Mark::Bad { offset, why });
        }
        // Where lines begin behind other messages, several may be left at the end.
        if ended {
            return *filled;
        }
        memrchr(b'\n', &block.buffer[..*filled]).map_or(0, |end| end + 1)
    }

    /// Lets all but the last bytes of a block go, which is empty so far.
    fn let_go(&mut self, block: &mut Block, filled: &mut usize, kept: usize) {
        let gone = *filled - kept;
        self.pass(&block.buffer[..gone]);
        self.begin(block);
        block.buffer.copy_within(gone..*filled, 0);
        *filled = kept;
    }
}

fn grow(buffer: &mut Vec<u8>, bytes: usize) {
    if buffer.len() < bytes {
        buffer.resize(bytes, 0);
    }
}

#[cfg(test)]
mod tests;
