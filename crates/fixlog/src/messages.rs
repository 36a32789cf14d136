//! The messages of a block, whatever stands around them and between their fields.

use fixcore::frame::{START, begin_string_bytes};
use fixcore::{ErrorKind, SOH, frame, separator};
use memchr::{memchr, memmem};

use crate::block::{Block, Mark};
use crate::shape::{Shape, is_text};

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
    /// At the end of each block: how many of its bytes are in no message, noise included.
    Between(u64),
}

/// Finds the messages of blocks.
#[derive(Debug)]
pub struct Messages {
    start: memmem::Finder<'static>,
    /// A message with the byte 1 in place of its separators.
    message: Vec<u8>,
}

impl Default for Messages {
    fn default() -> Self {
        Self::new()
    }
}

impl Messages {
    /// A finder, for blocks of any log in any order.
    #[must_use]
    pub fn new() -> Self {
        Self {
            start: memmem::Finder::new(START),
            message: Vec::new(),
        }
    }

    /// Calls `visit` for what there is in a block, in order, with its byte offset in the log.
    pub fn each(&mut self, block: &Block, visit: &mut dyn FnMut(u64, Found<'_>)) {
        let bytes = block.bytes();
        for mark in &block.marks {
            match *mark {
                Mark::Bad { offset, why } => visit(offset, Found::Bad(why)),
                Mark::Noise { offset, bytes } => visit(offset, Found::Noise(bytes)),
                Mark::Message { at, bytes: length } => {
                    let at = at as usize;
                    if let Some(message) = bytes.get(at..at + length as usize) {
                        visit(block.offset + at as u64, Found::Message(message, &[SOH]));
                    }
                }
            }
        }
        let mut between = block.between_bytes;
        if block.shape == Shape::Lines {
            between += self.lines(bytes, block.offset, visit);
        }
        visit(block.offset, Found::Between(between));
    }

    /// Gives out messages of lines; how many bytes are in none.
    fn lines(&mut self, bytes: &[u8], offset: u64, visit: &mut dyn FnMut(u64, Found<'_>)) -> u64 {
        let (mut from, mut between_bytes) = (0, 0);
        while let Some(at) = self.start.find(&bytes[from..]) {
            let start = from + at;
            between_bytes += between(&bytes[from..start], offset + from as u64, visit);
            let text = &bytes[start..];
            let offset = offset + start as u64;
            let separator = separator::detect(text);
            if let Some(name @ [separator]) = separator
                && let Some(end) = self.short_cut(text, *separator)
            {
                visit(offset, Found::Message(&self.message, name));
                // Some logs leave the last separator out.
                from = start + end + usize::from(text.get(end) == Some(separator));
                continue;
            }
            let line = memchr(b'\n', text).map_or(text, |end| &text[..end]);
            let next = self.start.find(&line[START.len().min(line.len())..]);
            let end = next.map_or(line.len(), |next| START.len() + next);
            let text = &line[..end];
            let unified = separator::to_soh(text, separator.unwrap_or(&[SOH]), &mut self.message);
            let found = match (unified, separator) {
                (Some(_), _) => Found::Message(&self.message, separator.unwrap_or(&[SOH])),
                (None, None) if !text[begin_string_bytes(text)..].trim_ascii().is_empty() => {
                    Found::Bad(ErrorKind::HeaderOrder)
                }
                (None, _) => Found::Bad(ErrorKind::Truncated),
            };
            visit(offset, found);
            from = start + unified.unwrap_or(end);
        }
        between_bytes + between(&bytes[from..], offset + from as u64, visit)
    }

    /// A message whose length is right and whose separator is a byte; where it ends.
    #[inline]
    fn short_cut(&mut self, text: &[u8], separator: u8) -> Option<usize> {
        let end = frame::end(text, separator)?;
        let behind = text.get(end).copied().unwrap_or(b'\n');
        if behind != separator && !behind.is_ascii_whitespace() {
            return None;
        }
        self.message.clear();
        self.message.extend_from_slice(&text[..end]);
        self.message.push(SOH);
        if separator != SOH {
            for byte in &mut self.message {
                *byte = if *byte == separator { SOH } else { *byte };
            }
        }
        Some(end)
    }
}

/// Gives out the lines that are noise of what stands between messages; how many bytes there are.
#[inline]
fn between(bytes: &[u8], offset: u64, visit: &mut dyn FnMut(u64, Found<'_>)) -> u64 {
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
