//! Applies a patch: reads the header of a segment, gathers what it refers back to, and decompresses its frame.

use std::ops::Range;

use super::header::{SegmentHeader, corrupt};
use super::reference::Reference;
use super::{PatchState, PatchStep, Patcher};
use crate::decoder::{Decoder, Totals};
use crate::error::{Error, Part, Prefix, Repr};
use crate::format::{MAGIC, SKIPPABLE_HEADER_BYTES};
use crate::options::DecoderOptions;

/// Applies a patch of segments to an older file, without I/O.
///
/// Give the patch with [`push`](PatchDecoder::push), in any cut, and call [`finish`](PatchDecoder::finish) at its end.
/// At [`PatchState::NeedOlder`] read the bytes of [`wanted`](PatchDecoder::wanted) from the older file, in pieces of any
/// size, and give them to [`older`](PatchDecoder::older). Content is handed out before the checksum of its frame was
/// read: trust it only after `finish` has succeeded.
///
/// It holds the prefix and the window of one segment, each 1 GiB at most. A call decodes one block at most.
pub struct PatchDecoder {
    options: DecoderOptions,
    older_bytes: u64,
    /// Up to the segment that is being read.
    before: Totals,
    stage: Stage,
}

enum Stage {
    /// The header, as far as it was read.
    Header(Vec<u8>),
    Reading(SegmentHeader, Reference),
    Frame(SegmentHeader, Box<Decoder>),
    Ended,
    Failed(Error),
}

impl PatchDecoder {
    /// A decoder for patches from an older file of this length. Of the options, dictionaries and the prefix are not
    /// used, and the window of a frame may have 1 GiB whatever
    /// [`window_log_max`](DecoderOptions::window_log_max) says.
    ///
    /// # Errors
    /// An option is out of its bounds.
    pub fn new(options: &DecoderOptions, older_bytes: u64) -> Result<Self, Error> {
        let mut options = options.clone();
        options.dictionaries.clear();
        options.prefix = None;
        options.window_log_max = options.window_log_max.max(30);
        options.validate()?;
        Ok(Self {
            options,
            older_bytes,
            before: Totals::default(),
            stage: Stage::Header(Vec::new()),
        })
    }

    /// The bytes of the older file that come next, if any are needed now.
    pub fn wanted(&self) -> Option<Range<u64>> {
        match &self.stage {
            Stage::Reading(_, reference) => reference.wanted(),
            _ => None,
        }
    }

    /// Takes the first of the [`wanted`](Self::wanted) bytes; returns how many.
    pub fn older(&mut self, bytes: &[u8]) -> usize {
        match &mut self.stage {
            Stage::Reading(_, reference) => reference.push(bytes),
            _ => 0,
        }
    }

    /// What was decoded so far. Skippable frames are those that describe segments.
    pub fn totals(&self) -> Totals {
        match &self.stage {
            Stage::Header(bytes) => Totals {
                bytes_in: self.before.bytes_in + bytes.len() as u64,
                ..self.before
            },
            Stage::Frame(_, decoder) => decoder.totals(),
            Stage::Reading(..) | Stage::Ended | Stage::Failed(_) => self.before,
        }
    }

    /// Takes bytes of the patch and writes content, at most one block of it.
    ///
    /// # Errors
    /// The patch is corrupt or exceeds a limit, or the older file is not the one that it was made from. Every further
    /// call repeats the error.
    pub fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<PatchStep, Error> {
        let result = self.work(input, output);
        if let Err(error) = &result {
            self.stage = Stage::Failed(error.clone());
        }
        result
    }

    /// Returns what was decoded, or why the patch may not end here.
    ///
    /// # Errors
    /// An earlier error, or the patch is truncated.
    pub fn finish(&self) -> Result<Totals, Error> {
        let offset = self.totals().bytes_in;
        match &self.stage {
            Stage::Ended => Ok(self.before),
            Stage::Failed(error) => Err(error.clone()),
            Stage::Header(bytes) if bytes.is_empty() && offset == 0 => Err(Repr::NoFrame.into()),
            Stage::Header(bytes) if bytes.is_empty() => Err(Repr::PatchEnded { offset }.into()),
            Stage::Header(_) => Err(Repr::Truncated {
                offset,
                part: Part::Skippable,
                part_start: self.before.bytes_in,
            }
            .into()),
            Stage::Reading(..) => Err(Repr::PatchEnded { offset }.into()),
            Stage::Frame(_, decoder) => match decoder.finish() {
                Err(error) => Err(error),
                // The frame has not begun.
                Ok(_) => Err(Repr::PatchEnded { offset }.into()),
            },
        }
    }

    fn work(&mut self, input: &[u8], output: &mut [u8]) -> Result<PatchStep, Error> {
        if self.wanted().is_some() {
            return Ok(PatchStep::idle(PatchState::NeedOlder));
        }
        let offset = self.before.bytes_in;
        match std::mem::replace(&mut self.stage, Stage::Ended) {
            Stage::Header(bytes) => self.read_header(bytes, input, offset),
            Stage::Reading(header, reference) => {
                self.open_frame(header, reference)?;
                Ok(PatchStep::idle(PatchState::MoreOutput))
            }
            Stage::Frame(header, decoder) => self.decode(header, decoder, input, output),
            Stage::Ended if input.is_empty() => Ok(PatchStep::idle(PatchState::Done)),
            Stage::Ended => Err(Repr::TrailingData {
                offset,
                found: Prefix::new(input),
            }
            .into()),
            Stage::Failed(error) => Err(error),
        }
    }

    fn read_header(
        &mut self,
        mut bytes: Vec<u8>,
        input: &[u8],
        offset: u64,
    ) -> Result<PatchStep, Error> {
        let mut consumed = 0;
        loop {
            let length = SegmentHeader::length(&bytes, offset)?;
            let missing = length.unwrap_or(SKIPPABLE_HEADER_BYTES) - bytes.len();
            if length.is_some() && missing == 0 {
                break;
            }
            let rest = &input[consumed..];
            let taken = &rest[..rest.len().min(missing)];
            bytes.extend_from_slice(taken);
            consumed += taken.len();
            if taken.is_empty() {
                self.stage = Stage::Header(bytes);
                return Ok(PatchStep {
                    consumed,
                    ..PatchStep::idle(PatchState::NeedInput)
                });
            }
        }
        let (header, length) = SegmentHeader::parse(&bytes, offset)?;
        if header.older_bytes != self.older_bytes {
            return Err(Repr::OlderLength {
                stated: header.older_bytes,
                found: self.older_bytes,
            }
            .into());
        }
        if header.content_start != self.before.bytes_out {
            return Err(corrupt(
                offset,
                "its segment does not follow the one before",
            ));
        }
        if let Some(limit) = self.options.output_limit {
            if header.content_bytes > limit.saturating_sub(header.content_start) {
                return Err(Repr::OutputLimit { offset, limit }.into());
            }
        }
        self.before.bytes_in += length as u64;
        self.before.skippable_frames += 1;
        let reference = Reference::new(&header.ranges)?;
        let state = match reference.wanted() {
            Some(_) => PatchState::NeedOlder,
            None => PatchState::MoreOutput,
        };
        self.stage = Stage::Reading(header, reference);
        Ok(PatchStep {
            consumed,
            ..PatchStep::idle(state)
        })
    }

    fn open_frame(&mut self, header: SegmentHeader, reference: Reference) -> Result<(), Error> {
        let (prefix, computed) = reference.finish();
        let stored = header.prefix_xxh64;
        if computed != stored {
            return Err(Repr::OlderContent {
                content: header.content_start,
                start: header.ranges.first().map_or(0, |range| range.start),
                end: header.ranges.last().map_or(0, |range| range.end),
                stored,
                computed,
            }
            .into());
        }
        let mut decoder = Box::new(Decoder::new(&self.options.clone().with_prefix(prefix))?);
        decoder.resume(self.before);
        self.stage = Stage::Frame(header, decoder);
        Ok(())
    }

    fn decode(
        &mut self,
        header: SegmentHeader,
        mut decoder: Box<Decoder>,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<PatchStep, Error> {
        let begun = (decoder.totals().bytes_in - self.before.bytes_in) as usize;
        let magic = MAGIC.to_le_bytes();
        let expected = magic.get(begun..).unwrap_or_default();
        // The decoder would skip a skippable frame.
        if expected.iter().zip(input).any(|(one, other)| one != other) {
            let offset = self.before.bytes_in;
            return Err(corrupt(
                offset,
                "the frame of a segment does not begin here",
            ));
        }
        let step = decoder.push(input, output)?;
        let totals = decoder.totals();
        let produced = totals.bytes_out - header.content_start;
        let ended = totals.frames > self.before.frames && decoder.at_boundary();
        if produced > header.content_bytes || (ended && produced < header.content_bytes) {
            return Err(Repr::ContentSize {
                offset: self.before.bytes_in,
                produced,
                stated: header.content_bytes,
                more: if ended { "" } else { "at least " },
            }
            .into());
        }
        let rest = step.consumed < input.len();
        let state = match (ended, header.last) {
            (false, _) => match step.state {
                crate::State::MoreOutput => PatchState::MoreOutput,
                _ => PatchState::NeedInput,
            },
            // What follows is refused by the next call.
            (true, _) if rest => PatchState::MoreOutput,
            (true, true) => PatchState::Done,
            (true, false) => PatchState::NeedInput,
        };
        self.stage = match (ended, header.last) {
            (false, _) => Stage::Frame(header, decoder),
            (true, last) => {
                self.before = totals;
                match last {
                    true => Stage::Ended,
                    false => Stage::Header(Vec::new()),
                }
            }
        };
        Ok(PatchStep {
            consumed: step.consumed,
            produced: step.produced,
            state,
        })
    }
}

impl Patcher for PatchDecoder {
    fn step(&mut self, input: &[u8], output: &mut [u8], _: bool) -> Result<PatchStep, Error> {
        self.push(input, output)
    }

    fn wanted(&self) -> Option<Range<u64>> {
        self.wanted()
    }

    fn older(&mut self, bytes: &[u8]) -> usize {
        self.older(bytes)
    }
}

impl std::fmt::Debug for PatchDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PatchDecoder")
            .field("options", &self.options)
            .field("older_bytes", &self.older_bytes)
            .field("totals", &self.totals())
            .finish_non_exhaustive()
    }
}
