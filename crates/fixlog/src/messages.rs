//! The messages of a block, whatever stands around them and between their fields.

use std::cell::Cell;

use fixcore::frame::{Head, START, begin_string_bytes, next_head};
use fixcore::{DataPairs, ErrorKind, FrameScanner, MESSAGE_BYTES_MAX, SOH};
use memchr::{memchr, memmem, memrchr};

use crate::Lost;
use crate::block::{Block, Mark};
use crate::respell::Respeller;
use crate::shape::Shape;
use crate::text::is_text;

/// Messages of a line that are not as long as they say, before the others in it are only read up to the
/// next one: what a line costs stays in proportion to its length.
const WRONG_LENGTHS_MAX: u32 = 8;

/// What is read again of a damaged message, and of a line with such messages, in sizes of it: messages whose lengths all
/// end at one place would else be read once for each byte.
const AGAIN_MAX: usize = 8;

/// What was found at a place of a log.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Found<'b> {
    /// A message as far as its length goes, with the byte 1 between fields, and what the log has in
    /// place of that byte. [`Decoder::parse`](fixcore::Decoder::parse) checks it.
    Message(&'b [u8], &'static [u8]),
    /// Something that begins as a message but is not one.
    Bad(ErrorKind),
    /// This many bytes in no message that are not text.
    Noise(u64),
    /// Something that the capture lacks, and did not come.
    Lost(&'b Lost),
    /// At the end of each block: how many of its bytes are in no message, noise included.
    Between(u64),
}

/// Takes what is found, with its byte offset, and returns whether it is to be passed; see [`Messages::each`].
pub type Visit<'v> = dyn FnMut(u64, Found<'_>) -> bool + 'v;

/// Finds the messages of blocks.
#[derive(Debug)]
pub struct Messages {
    start: memmem::Finder<'static>,
    respeller: Respeller,
    /// Reads again what a damaged message covers.
    scanner: FrameScanner,
}

impl Default for Messages {
    fn default() -> Self {
        Self::new()
    }
}

impl Messages {
    /// A finder that knows the standard's data fields, for blocks of any log in any order.
    #[must_use]
    pub fn new() -> Self {
        Self::with_pairs(DataPairs::standard())
    }

    /// A finder that knows these data fields. Where a log has something else in place of the byte 1, it may
    /// also occur within them.
    #[must_use]
    pub fn with_pairs(pairs: DataPairs) -> Self {
        Self {
            start: memmem::Finder::new(START),
            respeller: Respeller::new(pairs),
            scanner: FrameScanner::with_limit(MESSAGE_BYTES_MAX),
        }
    }

    /// Calls `visit` for what there is in a block, in order, with its byte offset in the log. It returns whether what was
    /// found is to be passed: `false` for a message that is not valid, and reading goes on where the next one begins
    /// inside it. For anything else, the answer is not looked at.
    pub fn each(&mut self, block: &Block, visit: &mut Visit<'_>) {
        let bytes = block.bytes();
        for (offset, lost) in &block.origins.lost {
            visit(*offset, Found::Lost(lost));
        }
        for mark in &block.marks {
            match *mark {
                Mark::Bad { offset, why } => _ = visit(offset, Found::Bad(why)),
                Mark::Noise { offset, bytes } => _ = visit(offset, Found::Noise(bytes)),
                Mark::Message { at, bytes: length } => {
                    let at = at as usize;
                    if let Some(message) = bytes.get(at..at + length as usize) {
                        let offset = block.offset + at as u64;
                        if !visit(offset, Found::Message(message, &[SOH])) {
                            self.inside(message, offset, visit);
                        }
                    }
                }
            }
        }
        let mut between = block.between_bytes;
        if block.shape == Shape::Lines {
            between += self.lines(bytes, block.offset, block.own, visit);
        }
        visit(block.offset, Found::Between(between));
    }

    /// Does the same with messages that contain a text which has no line breaks, and only with these: others are not
    /// looked at, so that nothing is known of them. What is bad is given out if the text stands in it, or may. `behind`
    /// is where the message before ends, as far as it is on the same line.
    pub(crate) fn each_with(
        &mut self,
        block: &Block,
        text: &memmem::Finder<'_>,
        behind: &Cell<u64>,
        visit: &mut Visit<'_>,
    ) {
        for (offset, lost) in &block.origins.lost {
            visit(*offset, Found::Lost(lost));
        }
        let bytes = block.bytes();
        if block.shape == Shape::Lines {
            for mark in &block.marks {
                // A line that is too long was let go.
                if let Mark::Bad { offset, why } = *mark {
                    visit(offset, Found::Bad(why));
                }
            }
            return self.lines_with(block, text, behind, visit);
        }
        let find = |from: usize| {
            let rest = bytes.get(from..).unwrap_or(&[]);
            text.find(rest).map(|at| from + at)
        };
        let start = |mark: &Mark| match *mark {
            Mark::Message { at, .. } => at as usize,
            Mark::Bad { offset, .. } | Mark::Noise { offset, .. } => {
                offset.saturating_sub(block.offset) as usize
            }
        };
        // What was passed over was searched before.
        if block.marks.is_empty() {
            return;
        }
        let (mut found, mut before) = (find(0), 0);
        for (number, mark) in block.marks.iter().enumerate() {
            let at = start(mark);
            if found.is_some_and(|found| found < at) {
                found = find(at);
            }
            let Some(found) = found else {
                return;
            };
            let end = match *mark {
                Mark::Message { bytes, .. } => at + bytes as usize,
                _ => block.marks.get(number + 1).map_or(bytes.len(), start),
            };
            if found + text.needle().len() <= end {
                behind.set(block.offset + before as u64);
                match *mark {
                    Mark::Message { .. } => {
                        let message = bytes.get(at..end).unwrap_or(&[]);
                        let offset = block.offset + at as u64;
                        if !visit(offset, Found::Message(message, &[SOH])) {
                            self.inside(message, offset, &mut |at, found| match found {
                                Found::Message(message, _) if text.find(message).is_none() => {
                                    behind.set(at + message.len() as u64);
                                    true
                                }
                                found => visit(at, found),
                            });
                        }
                    }
                    Mark::Bad { offset, why } => _ = visit(offset, Found::Bad(why)),
                    Mark::Noise { .. } => {}
                }
            }
            before = end;
        }
    }

    /// The same on lines.
    fn lines_with(
        &mut self,
        block: &Block,
        text: &memmem::Finder<'_>,
        behind: &Cell<u64>,
        visit: &mut Visit<'_>,
    ) {
        let bytes = block.bytes();
        let mut from = 0;
        while let Some(found) = text.find(&bytes[from..]) {
            let found = from + found;
            let start = memrchr(b'\n', &bytes[..found]).map_or(0, |end| end + 1);
            from = memchr(b'\n', &bytes[found..]).map_or(bytes.len(), |end| found + end + 1);
            let offset = block.offset + start as u64;
            behind.set(offset);
            let line = &bytes[start..from];
            self.lines(line, offset, block.own, &mut |at, found| match found {
                Found::Message(message, _) if text.find(message).is_none() => {
                    behind.set(at + message.len() as u64);
                    true
                }
                Found::Noise(_) => true,
                found => visit(at, found),
            });
        }
    }

    /// Gives out what begins inside a message that is not valid.
    #[cold]
    fn inside(&mut self, message: &[u8], offset: u64, visit: &mut Visit<'_>) {
        let (mut at, mut again) = (1, AGAIN_MAX * message.len());
        while let Head::At(begin) = next_head(message, at) {
            let text = message.get(begin..).unwrap_or(&[]);
            let offset = offset + begin as u64;
            at = begin + 1;
            // All of it is there: nothing is left in the scanner.
            let found = self.scanner.next(text, true);
            match found {
                (length, Some(fixcore::Found::Message)) if length <= again => {
                    let found = text.get(..length).unwrap_or(text);
                    match visit(offset, Found::Message(found, &[SOH])) {
                        true => at = begin + length,
                        false => again -= length,
                    }
                }
                (_, Some(fixcore::Found::Skipped { why: Some(why), .. })) => {
                    visit(offset, Found::Bad(why));
                }
                _ => _ = visit(offset, Found::Bad(ErrorKind::Truncated)),
            }
        }
    }

    /// Gives out messages of lines; how many bytes are in none.
    fn lines(
        &mut self,
        bytes: &[u8],
        offset: u64,
        own: Option<&'static [u8]>,
        visit: &mut Visit<'_>,
    ) -> u64 {
        let (mut from, mut between_bytes) = (0, 0);
        let (mut line_end, mut wrong_lengths, mut escapes_tried, mut again) = (0, 0, 0, 0);
        while let Some(at) = self.start.find(&bytes[from..]) {
            let start = from + at;
            between_bytes += between(&bytes[from..start], offset + from as u64, visit);
            let text = &bytes[start..];
            let offset = offset + start as u64;
            if start >= line_end {
                line_end = memchr(b'\n', text).map_or(bytes.len(), |end| start + end);
                (wrong_lengths, escapes_tried) = (0, 0);
                again = AGAIN_MAX * (line_end - start);
            }
            // A message that is not valid covers its first bytes only, if another one begins behind them.
            let finder = &self.start;
            let mut give = |end: usize, found: Found<'_>| {
                let is_passed = visit(offset, found);
                let covered = text.get(START.len()..end).filter(|_| !is_passed);
                let next = covered
                    .filter(|_| again >= end)
                    .and_then(|covered| finder.find(covered));
                again -= if next.is_some() { end } else { 0 };
                next.map(|next| START.len() + next)
            };
            // Where a block ends depends on the reads; where a line ends does not.
            let line = &bytes[start..line_end];
            let begin = self.respeller.start(line, own);
            if let Some(begin) = begin
                && let Some(end) = self.respeller.by_byte(line, begin)
            {
                let name = begin.separator;
                let next = give(end, Found::Message(self.respeller.message(), name));
                // Some logs leave the last separator out.
                let last = line[end..].starts_with(name);
                from = start + next.unwrap_or(end + usize::from(last));
                continue;
            }
            let separator = begin.map(|begin| begin.separator);
            if let Some(begin) = begin
                && let name @ [_, _, ..] = begin.separator
                && wrong_lengths < WRONG_LENGTHS_MAX
            {
                let found = self.respeller.by_length(text, line.len(), begin);
                if let Some(end) = found.or_else(|| self.respeller.by_fields(line, begin)) {
                    let next = give(end, Found::Message(self.respeller.message(), name));
                    let last = if line[end..].starts_with(name) {
                        name.len()
                    } else {
                        0
                    };
                    from = start + next.unwrap_or(end + last);
                    continue;
                }
                wrong_lengths += 1;
            }
            // In a string of JSON, the length does not count escapes.
            if begin.is_some() && escapes_tried < WRONG_LENGTHS_MAX {
                let escapes = memchr(b'\\', line);
                if let Some(end) = escapes.and_then(|_| self.respeller.by_json(line, own)) {
                    let next = give(end, Found::Message(self.respeller.message(), &[SOH]));
                    from = start + next.unwrap_or(end);
                    continue;
                }
                escapes_tried += 1;
            }
            let next = self.start.find(&line[START.len().min(line.len())..]);
            let end = next.map_or(line.len(), |next| START.len() + next);
            let text = &line[..end];
            let name = separator.unwrap_or(&[SOH]);
            let decoded = match name {
                [b'\\', ..] => self.respeller.by_json_sum(text),
                _ => None,
            };
            let taken = decoded.or_else(|| self.respeller.by_first_sum(text, name));
            let name = if decoded.is_some() { &[SOH] } else { name };
            let found = match (taken, separator) {
                (Some(_), _) => Found::Message(self.respeller.message(), name),
                (None, None) if !text[begin_string_bytes(text)..].trim_ascii().is_empty() => {
                    Found::Bad(ErrorKind::HeaderOrder)
                }
                (None, _) => Found::Bad(ErrorKind::Truncated),
            };
            let end = taken.unwrap_or(end);
            from = start + give(end, found).unwrap_or(end);
        }
        between_bytes + between(&bytes[from..], offset + from as u64, visit)
    }
}

/// Gives out the lines that are noise of what stands between messages; how many bytes there are.
#[inline]
fn between(bytes: &[u8], offset: u64, visit: &mut Visit<'_>) -> u64 {
    if !is_text(bytes) {
        let mut at = offset;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !is_text(line) {
                visit(at, Found::Noise(line.trim_ascii_end().len() as u64));
            }
            at += line.len() as u64;
        }
    }
    bytes.len() as u64
}
