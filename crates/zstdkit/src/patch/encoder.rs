//! Makes a patch: fills a segment, chooses what it refers back to, and compresses it.

use std::collections::VecDeque;
use std::ops::Range;

use super::choose::Votes;
use super::gear::Gear;
use super::header::SegmentHeader;
use super::index::Index;
use super::options::{PIECE_BYTES, PatchOptions, Sizes};
use super::reference::Reference;
use super::{PatchState, PatchStep, Patcher};
use crate::encoder::Encoder;
use crate::error::Error;
use crate::step::{Operation, State};

/// The most content that a call looks for anchors in, or compresses.
const CALL_BYTES_MAX: usize = 128 << 10;

/// Makes a patch from an older file to a newer one, without I/O.
///
/// Give the newer file with [`push`](PatchEncoder::push) and end with [`end`](PatchEncoder::end). Where either says
/// [`PatchState::NeedOlder`], read the bytes of [`wanted`](PatchEncoder::wanted) from the older file, in pieces of any
/// size, and give them to [`older`](PatchEncoder::older): all of it once, unless it fits into one prefix, and then
/// the prefix of each segment.
///
/// # What bounds a call
/// A call takes at most 128 KiB of content. The first call for the frame of a segment also enters its prefix into the
/// tables of the encoder, and the last call for its content sorts the votes of its anchors.
pub struct PatchEncoder {
    options: PatchOptions,
    sizes: Sizes,
    older_bytes: u64,
    /// `None`: any segment may refer back to all of the older file.
    index: Option<Index>,
    gear: Gear,
    segment: Segment,
    content_start: u64,
    stage: Stage,
}

enum Stage {
    /// The anchors of the older file are being gathered.
    Indexing,
    Filling,
    /// The prefix of a segment is being read.
    Reading {
        reference: Reference,
        ranges: Vec<Range<u64>>,
        last: bool,
    },
    Header {
        bytes: Vec<u8>,
        written: usize,
        encoder: Box<Encoder>,
        last: bool,
    },
    Frame {
        encoder: Box<Encoder>,
        last: bool,
    },
    Done,
    Failed(Error),
}

/// The content of a segment that is not compressed yet.
struct Segment {
    pieces: VecDeque<Vec<u8>>,
    /// Bytes of the first piece that were compressed.
    compressed: usize,
    bytes: u64,
    votes: Votes,
}

impl Segment {
    fn new(rate_log: u32) -> Self {
        Self {
            pieces: VecDeque::new(),
            compressed: 0,
            bytes: 0,
            votes: Votes::new(rate_log),
        }
    }

    fn push(&mut self, mut bytes: &[u8], segment_bytes: u64) {
        let capacity = PIECE_BYTES.min(segment_bytes) as usize;
        self.bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            match self.pieces.back_mut() {
                Some(piece) if piece.len() < capacity => {
                    let count = bytes.len().min(capacity - piece.len());
                    piece.extend_from_slice(&bytes[..count]);
                    bytes = &bytes[count..];
                }
                _ => self.pieces.push_back(Vec::with_capacity(capacity)),
            }
        }
    }

    /// The next bytes to compress, and whether they are the last.
    fn next(&self) -> (&[u8], bool) {
        let Some(piece) = self.pieces.front() else {
            return (&[], true);
        };
        let rest = &piece[self.compressed..];
        let next = &rest[..rest.len().min(CALL_BYTES_MAX)];
        (next, self.pieces.len() == 1 && next.len() == rest.len())
    }

    fn compressed(&mut self, count: usize) {
        self.compressed += count;
        if self
            .pieces
            .front()
            .is_some_and(|piece| piece.len() == self.compressed)
        {
            self.pieces.pop_front();
            self.compressed = 0;
        }
    }
}

impl PatchEncoder {
    /// Begins a patch from an older file of this length.
    ///
    /// # Errors
    /// An option is out of its bounds, or the memory limit is too low for any patch.
    pub fn new(options: &PatchOptions, older_bytes: u64) -> Result<Self, Error> {
        let sizes = options.sizes(older_bytes)?;
        let needs_index = older_bytes > sizes.prefix_max && sizes.prefix_max > 0;
        let index = needs_index.then(|| Index::new(older_bytes, sizes.segment));
        let rate_log = index.as_ref().map_or(1, Index::rate_log);
        Ok(Self {
            options: options.clone(),
            sizes,
            older_bytes,
            stage: match index {
                Some(_) => Stage::Indexing,
                None => Stage::Filling,
            },
            gear: Gear::new(rate_log),
            segment: Segment::new(rate_log),
            index,
            content_start: 0,
        })
    }

    /// The content of each segment but the last, in bytes.
    pub fn segment_bytes(&self) -> u64 {
        self.sizes.segment
    }

    /// Bytes of the newer file that were taken.
    pub fn content_bytes(&self) -> u64 {
        self.content_start + self.segment.bytes
    }

    /// The bytes of the older file that come next, if any are needed now.
    pub fn wanted(&self) -> Option<Range<u64>> {
        match &self.stage {
            Stage::Indexing => {
                let taken = self.index.as_ref().map_or(0, Index::taken);
                Some(taken..self.older_bytes).filter(|range| !range.is_empty())
            }
            Stage::Reading { reference, .. } => reference.wanted(),
            _ => None,
        }
    }

    /// Takes the first of the [`wanted`](Self::wanted) bytes; returns how many.
    pub fn older(&mut self, bytes: &[u8]) -> usize {
        match (&mut self.stage, &mut self.index) {
            (Stage::Indexing, Some(index)) => {
                let left = self.older_bytes.saturating_sub(index.taken());
                let count = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                index.push(&bytes[..count]);
                count
            }
            (Stage::Reading { reference, .. }, _) => reference.push(bytes),
            _ => 0,
        }
    }

    /// Takes content of the newer file and writes the patch.
    ///
    /// # Errors
    /// Memory is short, or libzstd failed. Every further call repeats the error.
    pub fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<PatchStep, Error> {
        self.guard(input, output, false)
    }

    /// Writes the rest of the patch, after all content was given: call it until the state is [`PatchState::Done`].
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn end(&mut self, output: &mut [u8]) -> Result<PatchStep, Error> {
        self.guard(&[], output, true)
    }

    fn guard(&mut self, input: &[u8], output: &mut [u8], end: bool) -> Result<PatchStep, Error> {
        let result = self.work(input, output, end);
        if let Err(error) = &result {
            self.stage = Stage::Failed(error.clone());
        }
        result
    }

    fn work(&mut self, input: &[u8], output: &mut [u8], end: bool) -> Result<PatchStep, Error> {
        if self.wanted().is_some() {
            return Ok(PatchStep::idle(PatchState::NeedOlder));
        }
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Indexing | Stage::Filling => {
                self.stage = Stage::Filling;
                let full = self.segment.bytes == self.sizes.segment;
                if end || (full && !input.is_empty()) {
                    self.close_segment(end)?;
                    return Ok(PatchStep::idle(PatchState::MoreOutput));
                }
                Ok(self.fill(input))
            }
            Stage::Reading {
                reference,
                ranges,
                last,
            } => {
                self.open_frame(reference, ranges, last)?;
                Ok(PatchStep::idle(PatchState::MoreOutput))
            }
            Stage::Header {
                bytes,
                mut written,
                encoder,
                last,
            } => {
                let count = output.len().min(bytes.len() - written);
                output[..count].copy_from_slice(&bytes[written..written + count]);
                written += count;
                self.stage = match written == bytes.len() {
                    true => Stage::Frame { encoder, last },
                    false => Stage::Header {
                        bytes,
                        written,
                        encoder,
                        last,
                    },
                };
                Ok(PatchStep {
                    produced: count,
                    ..PatchStep::idle(PatchState::MoreOutput)
                })
            }
            Stage::Frame { encoder, last } => self.compress(encoder, output, last),
            Stage::Done => Ok(PatchStep::idle(PatchState::Done)),
            Stage::Failed(error) => Err(error),
        }
    }

    /// Takes content into the segment.
    fn fill(&mut self, input: &[u8]) -> PatchStep {
        let room = self.sizes.segment - self.segment.bytes;
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let taken = &input[..input.len().min(room).min(CALL_BYTES_MAX)];
        if let Some(index) = &self.index {
            let (votes, start) = (&mut self.segment.votes, self.content_start);
            self.gear.scan(taken, |position, hash| {
                let places = index.places(hash);
                if !places.offsets().is_empty() {
                    votes.add(position - start, &places);
                }
            });
        }
        self.segment.push(taken, self.sizes.segment);
        let state = match taken.len() == input.len() {
            true => PatchState::NeedInput,
            false => PatchState::MoreOutput,
        };
        PatchStep {
            consumed: taken.len(),
            ..PatchStep::idle(state)
        }
    }

    /// Chooses what the segment refers back to.
    fn close_segment(&mut self, last: bool) -> Result<(), Error> {
        let rate_log = self.index.as_ref().map_or(1, Index::rate_log);
        let votes = std::mem::replace(&mut self.segment.votes, Votes::new(rate_log));
        let (older, most) = (self.older_bytes, self.sizes.prefix_max);
        let ranges = match &self.index {
            _ if self.segment.bytes == 0 => Vec::new(),
            Some(_) => votes.choose(self.segment.bytes, older, most),
            None if older == 0 || most == 0 => Vec::new(),
            None => std::iter::once(0..older).collect(),
        };
        let reference = Reference::new(&ranges)?;
        self.stage = Stage::Reading {
            reference,
            ranges,
            last,
        };
        Ok(())
    }

    fn open_frame(
        &mut self,
        reference: Reference,
        ranges: Vec<Range<u64>>,
        last: bool,
    ) -> Result<(), Error> {
        let (prefix, prefix_xxh64) = reference.finish();
        let header = SegmentHeader {
            older_bytes: self.older_bytes,
            content_start: self.content_start,
            content_bytes: self.segment.bytes,
            ranges,
            prefix_xxh64,
            last,
        };
        let options = self
            .options
            .encoder_for(self.sizes.segment)
            .with_prefix(prefix);
        let mut encoder = Box::new(Encoder::new(&options)?);
        encoder.begin(Some(self.segment.bytes))?;
        self.stage = Stage::Header {
            bytes: header.to_bytes()?,
            written: 0,
            encoder,
            last,
        };
        Ok(())
    }

    fn compress(
        &mut self,
        mut encoder: Box<Encoder>,
        output: &mut [u8],
        last: bool,
    ) -> Result<PatchStep, Error> {
        let (next, is_last) = self.segment.next();
        let operation = match is_last {
            true => Operation::End,
            false => Operation::Continue,
        };
        let step = encoder.push(next, output, operation)?;
        self.segment.compressed(step.consumed);
        let done = step.state == State::Done;
        let state = match done && last {
            true => PatchState::Done,
            false => PatchState::MoreOutput,
        };
        self.stage = match (done, last) {
            (false, _) => Stage::Frame { encoder, last },
            (true, true) => Stage::Done,
            (true, false) => {
                self.content_start += self.segment.bytes;
                self.segment.bytes = 0;
                Stage::Filling
            }
        };
        Ok(PatchStep {
            produced: step.produced,
            ..PatchStep::idle(state)
        })
    }
}

impl Patcher for PatchEncoder {
    fn step(&mut self, input: &[u8], output: &mut [u8], ended: bool) -> Result<PatchStep, Error> {
        match ended {
            true => self.end(output),
            false => self.push(input, output),
        }
    }

    fn wanted(&self) -> Option<Range<u64>> {
        self.wanted()
    }

    fn older(&mut self, bytes: &[u8]) -> usize {
        self.older(bytes)
    }
}

impl std::fmt::Debug for PatchEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PatchEncoder")
            .field("options", &self.options)
            .field("sizes", &self.sizes)
            .field("older_bytes", &self.older_bytes)
            .field("content_bytes", &self.content_bytes())
            .finish_non_exhaustive()
    }
}
