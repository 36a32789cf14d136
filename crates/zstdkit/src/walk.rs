//! The order of the parts of a stream of frames: a state machine that takes bytes in any cut and says
//! which part each byte belongs to. The scanner and the decoder both use it, so their errors name the
//! same byte.
//!
//! It never looks inside a block.

use crate::error::{Error, Part, Prefix, Repr};
use crate::format::{
    BLOCK_HEADER_BYTES, Block, CHECKSUM_BYTES, HEADER_BYTES_MAX, HEADER_PREFIX_BYTES, Header,
    MAGIC, SKIPPABLE_HEADER_BYTES, SKIPPABLE_MAGIC, SKIPPABLE_MASK, legacy_version, little_endian,
};

/// What the walker found next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// All input was taken.
    NeedInput,
    /// A frame header is complete.
    Header(Header),
    /// A block header is complete; its body follows.
    Block(Block),
    /// The next bytes, this many, belong to a block. Take them with [`Walker::take`].
    Body(u32),
    /// The next bytes, this many, belong to a skippable frame. Take them with [`Walker::take`].
    Skippable(u32),
    /// A frame is complete. Its checksum, if it has one.
    FrameEnd(Option<u32>),
    /// A skippable frame is complete. Its variant.
    SkippableEnd(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Magic,
    SkippableSize,
    /// First the descriptor, then the rest of the header.
    Header,
    BlockHeader,
    Body {
        left: u32,
        last: bool,
    },
    Checksum,
    FrameEnd(Option<u32>),
    Skippable {
        left: u32,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Walker {
    stage: Stage,
    /// Bytes taken since the start of the stream.
    offset: u64,
    frame_start: u64,
    part_start: u64,
    /// The part that is being collected.
    part: [u8; HEADER_BYTES_MAX],
    part_len: usize,
    block_max: u32,
    checksum: bool,
    frames: u64,
    skippable_frames: u64,
}

impl Walker {
    pub(crate) fn new() -> Self {
        Self {
            stage: Stage::Magic,
            offset: 0,
            frame_start: 0,
            part_start: 0,
            part: [0; HEADER_BYTES_MAX],
            part_len: 0,
            block_max: 0,
            checksum: false,
            frames: 0,
            skippable_frames: 0,
        }
    }

    /// A walker at the frame at byte `offset`, after this many frames.
    pub(crate) fn resume(offset: u64, frames: u64, skippable_frames: u64) -> Self {
        Self {
            offset,
            frames,
            skippable_frames,
            ..Self::new()
        }
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn frame_start(&self) -> u64 {
        self.frame_start
    }

    /// Where the current part (header, block, checksum) began.
    pub(crate) fn part_start(&self) -> u64 {
        self.part_start
    }

    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    pub(crate) fn skippable_frames(&self) -> u64 {
        self.skippable_frames
    }

    /// Whether the stream may end here.
    pub(crate) fn at_boundary(&self) -> bool {
        self.stage == Stage::Magic && self.part_len == 0
    }

    /// How many more bytes complete the current part, at least. A block is one part with the header of the
    /// next.
    #[cfg(feature = "tokio")]
    pub(crate) fn wants(&self) -> usize {
        match self.stage {
            Stage::Body { left, last: false } => left as usize + BLOCK_HEADER_BYTES,
            Stage::Body { left, last: true } => left as usize,
            Stage::Skippable { left } => left as usize,
            _ => 1,
        }
    }

    /// The bytes of the header that was reported last.
    pub(crate) fn header_bytes(&self, header: &Header) -> &[u8] {
        &self.part[..header.bytes]
    }

    /// Takes bytes up to the next event.
    pub(crate) fn next(&mut self, input: &[u8]) -> Result<(usize, Event), Error> {
        let mut taken = 0;
        loop {
            let rest = &input[taken..];
            match self.stage {
                Stage::Magic => {
                    if self.part_len == 0 {
                        self.frame_start = self.offset;
                        self.part_start = self.offset;
                    }
                    if !self.collect(rest, 4, &mut taken) {
                        return Ok((taken, Event::NeedInput));
                    }
                    self.stage = self.after_magic()?;
                }
                Stage::SkippableSize => {
                    if !self.collect(rest, SKIPPABLE_HEADER_BYTES, &mut taken) {
                        return Ok((taken, Event::NeedInput));
                    }
                    let left = little_endian(&self.part[4..8]) as u32;
                    self.stage = Stage::Skippable { left };
                }
                Stage::Header => {
                    let want = match self.part_len {
                        len if len < HEADER_PREFIX_BYTES => HEADER_PREFIX_BYTES,
                        len => Header::length(&self.part[..len]),
                    };
                    if !self.collect(rest, want, &mut taken) {
                        return Ok((taken, Event::NeedInput));
                    }
                    if Header::length(&self.part[..want]) > want {
                        continue;
                    }
                    let header = Header::parse(&self.part[..want], self.frame_start)?;
                    self.block_max = header.block_bytes_max();
                    self.checksum = header.checksum;
                    self.start_part(Stage::BlockHeader);
                    return Ok((taken, Event::Header(header)));
                }
                Stage::BlockHeader => {
                    if !self.collect(rest, BLOCK_HEADER_BYTES, &mut taken) {
                        return Ok((taken, Event::NeedInput));
                    }
                    let bytes = [self.part[0], self.part[1], self.part[2]];
                    let block = Block::parse(bytes, self.block_max, self.part_start)?;
                    self.stage = Stage::Body {
                        left: block.stored_bytes(),
                        last: block.last,
                    };
                    self.leave_empty_body();
                    return Ok((taken, Event::Block(block)));
                }
                Stage::Body { left, .. } => {
                    let event = if rest.is_empty() {
                        Event::NeedInput
                    } else {
                        Event::Body(left)
                    };
                    return Ok((taken, event));
                }
                Stage::Checksum => {
                    if !self.collect(rest, CHECKSUM_BYTES, &mut taken) {
                        return Ok((taken, Event::NeedInput));
                    }
                    let stored = little_endian(&self.part[..CHECKSUM_BYTES]) as u32;
                    self.stage = Stage::FrameEnd(Some(stored));
                }
                Stage::FrameEnd(checksum) => {
                    self.frames += 1;
                    let part_start = self.part_start;
                    self.start_part(Stage::Magic);
                    // The error for a wrong checksum names the checksum's byte.
                    self.part_start = part_start;
                    return Ok((taken, Event::FrameEnd(checksum)));
                }
                Stage::Skippable { left: 0 } => {
                    self.skippable_frames += 1;
                    let variant = self.part[0] & 0xf;
                    self.start_part(Stage::Magic);
                    return Ok((taken, Event::SkippableEnd(variant)));
                }
                Stage::Skippable { left } => {
                    let event = if rest.is_empty() {
                        Event::NeedInput
                    } else {
                        Event::Skippable(left)
                    };
                    return Ok((taken, event));
                }
            }
        }
    }

    /// Takes `count` bytes of a body. More than are left would be a bug in the caller and is ignored.
    pub(crate) fn take(&mut self, count: u32) {
        if let Stage::Body { left, .. } | Stage::Skippable { left } = &mut self.stage {
            let count = count.min(*left);
            *left -= count;
            self.offset += u64::from(count);
            self.leave_empty_body();
        }
    }

    fn leave_empty_body(&mut self) {
        if let Stage::Body { left: 0, last } = self.stage {
            self.start_part(match (last, self.checksum) {
                (false, _) => Stage::BlockHeader,
                (true, true) => Stage::Checksum,
                (true, false) => Stage::FrameEnd(None),
            });
        }
    }

    /// How many of the next bytes belong to a block or skippable frame.
    pub(crate) fn body_left(&self) -> u32 {
        match self.stage {
            Stage::Body { left, .. } | Stage::Skippable { left } => left,
            _ => 0,
        }
    }

    /// Whether a block header begins here.
    pub(crate) fn at_block_header(&self) -> bool {
        self.stage == Stage::BlockHeader && self.part_len == 0
    }

    /// Whether the last block of the frame was taken completely.
    pub(crate) fn after_last_block(&self) -> bool {
        matches!(self.stage, Stage::Checksum | Stage::FrameEnd(_))
    }

    /// Whether the current frame ends with a checksum.
    pub(crate) fn checksum_follows(&self) -> bool {
        self.checksum
    }

    /// Checks that the stream may end here.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let part = match self.stage {
            Stage::Magic if self.part_len == 0 => return Ok(()),
            Stage::Magic => {
                let found = &self.part[..self.part_len];
                let magic = MAGIC.to_le_bytes();
                let skippable = SKIPPABLE_MAGIC.to_le_bytes();
                let could_be = magic.starts_with(found)
                    || (found[0] & 0xf0 == skippable[0] && skippable[1..].starts_with(&found[1..]));
                if !could_be {
                    return Err(self.not_a_frame());
                }
                Part::FrameHeader
            }
            Stage::Header => Part::FrameHeader,
            Stage::BlockHeader => Part::BlockHeader,
            Stage::Body { .. } => Part::Block,
            Stage::Checksum => Part::Checksum,
            // `next` reports this without further input, so a caller that loops never stops here.
            Stage::FrameEnd(_) => return Ok(()),
            Stage::SkippableSize | Stage::Skippable { .. } => Part::Skippable,
        };
        let part_start = match part {
            Part::FrameHeader | Part::Skippable => self.frame_start,
            _ => self.part_start,
        };
        Err(Repr::Truncated {
            offset: self.offset,
            part,
            part_start,
        }
        .into())
    }

    fn start_part(&mut self, stage: Stage) {
        self.stage = stage;
        self.part_start = self.offset;
        self.part_len = 0;
    }

    /// Collects a part of `want` bytes. Returns whether it is complete.
    fn collect(&mut self, input: &[u8], want: usize, taken: &mut usize) -> bool {
        let count = want.saturating_sub(self.part_len).min(input.len());
        self.part[self.part_len..self.part_len + count].copy_from_slice(&input[..count]);
        self.part_len += count;
        self.offset += count as u64;
        *taken += count;
        self.part_len >= want
    }

    fn after_magic(&self) -> Result<Stage, Error> {
        let magic = little_endian(&self.part[..4]) as u32;
        if magic == MAGIC {
            Ok(Stage::Header)
        } else if magic & SKIPPABLE_MASK == SKIPPABLE_MAGIC {
            Ok(Stage::SkippableSize)
        } else {
            Err(self.not_a_frame())
        }
    }

    fn not_a_frame(&self) -> Error {
        let found = &self.part[..self.part_len.min(4)];
        let offset = self.frame_start;
        let magic = little_endian(found) as u32;
        match legacy_version(magic).filter(|_| found.len() == 4) {
            Some(version) => Repr::LegacyFormat { offset, version }.into(),
            None if self.frames + self.skippable_frames > 0 => Repr::TrailingData {
                offset,
                found: Prefix::new(found),
            }
            .into(),
            None => Repr::NotZstd {
                offset,
                found: Prefix::new(found),
            }
            .into(),
        }
    }
}
