//! The second half of decoding: sequences are executed in order, on the content that they refer to.

use super::Reason;
use super::entropy::{Decoded, OFFSET_TOO_LARGE, SLACK};
use crate::digested::Dictionary;

/// Matches and literals are copied in chunks of this size.
const CHUNK: usize = 16;
/// What may be overwritten behind the end of a block.
const BEHIND: usize = 2 * CHUNK;
const OFFSET_ZERO: Reason = "offset is zero";

/// The content that is still in reach, in a ring.
///
/// Blocks are not split. Where the next one does not fit behind the last one, it goes to the start, and the content
/// in front of it ends at `older_end`. The ring is so much larger than the window that no byte of it is overwritten.
pub(super) struct Window {
    ring: Vec<u8>,
    /// Where content is written next.
    at: usize,
    /// Where the content ends that precedes the start of the ring. 0: none does.
    older_end: usize,
    /// The reach of offsets.
    window: usize,
    block_max: usize,
    /// All content of the frame.
    produced: u64,
    dictionary: Option<Dictionary>,
    /// Where the content of the dictionary begins.
    dictionary_start: usize,
    offsets: [usize; 3],
}

impl Window {
    /// The memory of a window.
    pub(super) fn bytes(window: u64, block_max: u64, content: Option<u64>) -> u64 {
        let ring = window.saturating_add(2 * block_max);
        let content = content.map_or(u64::MAX, |content| content.saturating_add(block_max));
        ring.min(content).saturating_add(2 * BEHIND as u64)
    }

    /// An empty window in the memory of another.
    pub(super) fn new(mut ring: Vec<u8>, bytes: usize, window: usize, block_max: usize) -> Self {
        if ring.capacity() < bytes {
            // New memory is not touched before it is used.
            ring = vec![0; bytes];
        }
        ring.resize(bytes, 0);
        Self {
            ring,
            at: 0,
            older_end: 0,
            window,
            block_max,
            produced: 0,
            dictionary: None,
            dictionary_start: 0,
            offsets: [1, 4, 8],
        }
    }

    /// Puts a dictionary in front of the content.
    pub(super) fn refer(
        &mut self,
        dictionary: &Dictionary,
        start: usize,
        offsets: Option<[usize; 3]>,
    ) {
        self.dictionary = Some(dictionary.clone());
        self.dictionary_start = start;
        self.offsets = offsets.unwrap_or(self.offsets);
    }

    /// All content so far.
    pub(super) fn produced(&self) -> u64 {
        self.produced
    }

    /// The memory, for another window.
    pub(super) fn into_memory(self) -> Vec<u8> {
        self.ring
    }

    /// The content in this part of the ring.
    pub(super) fn content(&self, range: std::ops::Range<usize>) -> &[u8] {
        self.ring.get(range).unwrap_or(&[])
    }

    /// Makes room for a block.
    fn begin(&mut self) -> usize {
        if self.at + self.block_max + BEHIND > self.ring.len() {
            self.older_end = self.at;
            self.at = 0;
        }
        self.at
    }

    fn end(&mut self, start: usize) -> std::ops::Range<usize> {
        self.produced += (self.at - start) as u64;
        start..self.at
    }

    /// Appends a block that is stored as it is.
    pub(super) fn append(&mut self, content: &[u8]) -> std::ops::Range<usize> {
        let start = self.begin();
        self.at = start + content.len();
        self.ring[start..self.at].copy_from_slice(content);
        self.end(start)
    }

    /// Appends a block of one byte.
    pub(super) fn repeat(&mut self, byte: u8, count: usize) -> std::ops::Range<usize> {
        let start = self.begin();
        self.at = start + count;
        self.ring[start..self.at].fill(byte);
        self.end(start)
    }

    /// Executes the sequences of a block. Returns its place in the ring.
    pub(super) fn execute(&mut self, block: &Decoded) -> Result<std::ops::Range<usize>, Reason> {
        let start = self.begin();
        let literals = &block.literals[..block.literals_len + SLACK];
        let ring = &mut self.ring[..];
        let mut offsets = self.offsets;
        let mut at = start;
        let mut literal = 0;
        for &sequence in &block.sequences {
            let (literals_len, len) = (sequence.literals(), sequence.matched());
            let offset = resolve(&mut offsets, sequence.offset(), literals_len == 0);
            if literals_len <= CHUNK {
                copy_chunk(literals, literal, ring, at);
            } else {
                let end = literal + literals_len;
                ring[at..at + literals_len].copy_from_slice(&literals[literal..end]);
            }
            literal += literals_len;
            at += literals_len;
            if offset <= at.min(self.window) && offset != 0 {
                copy_match(ring, at, offset, len);
            } else {
                let far = Far {
                    older_end: self.older_end,
                    window: self.window,
                    produced: self.produced + (at - start) as u64,
                    dictionary: self
                        .dictionary
                        .as_ref()
                        .map_or(&[], |one| &one.bytes()[self.dictionary_start..]),
                };
                far.copy(ring, at, offset, len)?;
            }
            at += len;
        }
        let rest = block.literals_len - literal;
        ring[at..at + rest].copy_from_slice(&literals[literal..block.literals_len]);
        self.at = at + rest;
        self.offsets = offsets;
        Ok(self.end(start))
    }
}

/// The offset of a sequence: 1 to 3 repeat an earlier one, others are 3 larger than the offset. Zero if it is not
/// valid. Without branches, because no processor foresees them.
#[inline(always)]
fn resolve(offsets: &mut [usize; 3], value: usize, no_literals: bool) -> usize {
    let [first, second, third] = *offsets;
    let repeated = value + usize::from(no_literals);
    let is_new = value > 3;
    let mut offset = value.wrapping_sub(3);
    offset = select(!is_new && repeated == 1, first, offset);
    offset = select(!is_new && repeated == 2, second, offset);
    offset = select(!is_new && repeated == 3, third, offset);
    offset = select(!is_new && repeated == 4, first.wrapping_sub(1), offset);
    let keeps_third = !is_new && repeated < 3;
    let keeps_second = !is_new && repeated == 1;
    *offsets = [
        offset,
        select(keeps_second, second, first),
        select(keeps_third, third, second),
    ];
    offset
}

#[inline(always)]
fn select(condition: bool, yes: usize, no: usize) -> usize {
    if condition { yes } else { no }
}

#[inline(always)]
fn copy_chunk(from: &[u8], at: usize, to: &mut [u8], to_at: usize) {
    let mut chunk = [0; CHUNK];
    chunk.copy_from_slice(&from[at..at + CHUNK]);
    to[to_at..to_at + CHUNK].copy_from_slice(&chunk);
}

#[inline(always)]
fn copy_within(ring: &mut [u8], from: usize, to: usize) {
    let mut chunk = [0; CHUNK];
    chunk.copy_from_slice(&ring[from..from + CHUNK]);
    ring[to..to + CHUNK].copy_from_slice(&chunk);
}

/// Copies a match whose content is in front of it in the ring. Writes up to [`BEHIND`] bytes more.
#[inline(always)]
fn copy_match(ring: &mut [u8], at: usize, offset: usize, len: usize) {
    if offset >= CHUNK {
        copy_within(ring, at - offset, at);
        if len > CHUNK {
            copy_long(ring, at, offset, len);
        }
    } else {
        copy_overlapping(ring, at, offset, len);
    }
}

#[inline]
fn copy_long(ring: &mut [u8], at: usize, offset: usize, len: usize) {
    if len >= 128 && offset >= len {
        ring.copy_within(at - offset..at - offset + len, at);
        return;
    }
    let mut done = CHUNK;
    while done < len {
        copy_within(ring, at - offset + done, at + done);
        done += CHUNK;
    }
}

/// Copies a match that overlaps itself: a pattern that repeats.
#[inline]
fn copy_overlapping(ring: &mut [u8], at: usize, offset: usize, len: usize) {
    let mut pattern = [0; CHUNK];
    pattern.copy_from_slice(&ring[at - offset..at - offset + CHUNK]);
    let mut filled = offset;
    while filled < CHUNK {
        let (have, rest) = pattern.split_at_mut(filled);
        let count = rest.len().min(filled);
        rest[..count].copy_from_slice(&have[..count]);
        filled += count;
    }
    let step = CHUNK - CHUNK % offset;
    let mut done = 0;
    while done < len {
        ring[at + done..at + done + CHUNK].copy_from_slice(&pattern);
        done += step;
    }
}

/// What is in reach but not in front of the block in the ring.
struct Far<'a> {
    older_end: usize,
    window: usize,
    produced: u64,
    dictionary: &'a [u8],
}

impl Far<'_> {
    /// Copies a match that begins in the older part of the ring or in the dictionary.
    #[cold]
    #[inline(never)]
    fn copy(&self, ring: &mut [u8], at: usize, offset: usize, len: usize) -> Result<(), Reason> {
        if offset == 0 {
            return Err(OFFSET_ZERO);
        }
        let produced = usize::try_from(self.produced).unwrap_or(usize::MAX);
        // A dictionary is in reach until the window is full.
        let (reach, before) = match produced <= self.window {
            true => (produced.saturating_add(self.dictionary.len()), produced),
            false => (self.window, self.window),
        };
        if offset > reach {
            return Err(OFFSET_TOO_LARGE);
        }
        let mut done = 0;
        if offset > before {
            let from = self.dictionary.len() - (offset - before);
            let count = len.min(offset - before);
            ring[at..at + count].copy_from_slice(&self.dictionary[from..from + count]);
            done = count;
        } else if offset > at {
            let from = self.older_end - (offset - at);
            let count = len.min(offset - at);
            ring.copy_within(from..from + count, at);
            done = count;
        }
        // What follows is at the start of the ring.
        for to in at + done..at + len {
            ring[to] = ring[to - offset];
        }
        Ok(())
    }
}
