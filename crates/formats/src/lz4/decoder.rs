//! Decodes frames, frames of the legacy format and skippable frames in any cut of the input.
//!
//! The blocks are lz4_flex's. Its reader of frames is not used: it takes a file that ends between two blocks, or in
//! the header, for whole. Memory is bounded by the format: 4 MiB a block, 8 MiB in the legacy format, once each for
//! what comes in and what goes out.

use std::hash::Hasher as _;

use lz4_flex::block::decompress_into_with_dict;
use twox_hash::XxHash32;

use super::error::{Lz4Error, Lz4Flaw};

/// The first bytes of a frame.
pub const MAGIC: [u8; 4] = 0x184d_2204_u32.to_le_bytes();
/// The first bytes of a frame of the legacy format.
pub const LEGACY_MAGIC: [u8; 4] = 0x184c_2102_u32.to_le_bytes();
const FRAME: u32 = u32::from_le_bytes(MAGIC);
const LEGACY: u32 = u32::from_le_bytes(LEGACY_MAGIC);
/// The first bytes of a frame that is skipped; the last digit is free.
const SKIPPABLE: u32 = 0x184d_2a50;
const SKIPPABLE_LAST: u32 = 0x184d_2a5f;

/// How far a block may refer back to those before it.
const WINDOW_BYTES: usize = 64 << 10;
/// The content of each block of the legacy format but the last.
const LEGACY_BLOCK_BYTES: usize = 8 << 20;
/// The largest compressed size of such a block (`LZ4_COMPRESSBOUND`).
const LEGACY_STORED_BYTES: usize = LEGACY_BLOCK_BYTES + LEGACY_BLOCK_BYTES / 255 + 16;

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Magic,
    /// The two bytes that say how long the header is.
    Flags,
    Header,
    SkippedSize,
    Skipped(u64),
    BlockSize,
    Block {
        stored: bool,
    },
    ContentSum,
    LegacySize,
    LegacyBlock,
}

/// What the header of the current frame says.
#[derive(Debug, Clone, Copy, Default)]
struct Frame {
    linked: bool,
    block_sums: bool,
    content_sum: bool,
    content_bytes: Option<u64>,
    block_bytes_max: usize,
}

/// What a call did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lz4Step {
    /// Input bytes consumed.
    pub consumed: usize,
    /// Content bytes produced.
    pub produced: usize,
}

/// Decompresses a file of any number of frames.
#[derive(Debug)]
pub struct Lz4Decoder {
    part: Part,
    frame: Frame,
    /// The first two bytes of the frame's header.
    flags: [u8; 2],
    /// The part so far, and how long it will be.
    held: Vec<u8>,
    needed: usize,
    /// The end of the content before the block, then the block, then bytes without a meaning. It never shrinks: to
    /// clear it for each block would take the time of a large one for each small one.
    room: Vec<u8>,
    /// Where the content in `room` ends.
    end: usize,
    /// What of it was given away.
    given: usize,
    sum: XxHash32,
    /// Content of the frame.
    frame_bytes: u64,
    frames: u64,
    consumed: u64,
}

impl Default for Lz4Decoder {
    fn default() -> Self {
        Self {
            part: Part::Magic,
            frame: Frame::default(),
            flags: [0; 2],
            held: Vec::new(),
            needed: 4,
            room: Vec::new(),
            end: 0,
            given: 0,
            sum: XxHash32::with_seed(0),
            frame_bytes: 0,
            frames: 0,
            consumed: 0,
        }
    }
}

impl Lz4Decoder {
    /// Frames that were read to their end, each verified.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Consumes input and gives content, until either is used up: a block at most.
    ///
    /// # Errors
    ///
    /// The input is invalid. All content before the invalid part was given already.
    pub fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<Lz4Step, Lz4Error> {
        let mut did = Lz4Step::default();
        loop {
            let ready = &self.room[self.given..self.end];
            let bytes = ready.len().min(output.len() - did.produced);
            output[did.produced..did.produced + bytes].copy_from_slice(&ready[..bytes]);
            self.given += bytes;
            did.produced += bytes;
            if self.given < self.end {
                return Ok(did);
            }
            let rest = &input[did.consumed..];
            if let Part::Skipped(left) = self.part {
                let taken = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                self.consumed += taken as u64;
                did.consumed += taken;
                match left - taken as u64 {
                    0 => self.expect(Part::Magic, 4),
                    left => {
                        self.part = Part::Skipped(left);
                        return Ok(did);
                    }
                }
                continue;
            }
            let taken = (self.needed - self.held.len()).min(rest.len());
            self.held.extend_from_slice(&rest[..taken]);
            self.consumed += taken as u64;
            did.consumed += taken;
            if self.held.len() < self.needed {
                return Ok(did);
            }
            let start = self.consumed - self.held.len() as u64;
            let held = std::mem::take(&mut self.held);
            let result = self.take(&held, start);
            self.held = held;
            self.held.clear();
            result.map_err(|flaw| Lz4Error::new(flaw, start))?;
        }
    }

    /// Whether the input may end here.
    ///
    /// # Errors
    ///
    /// [`Lz4Flaw::Truncated`] if it ends too early.
    pub fn finish(&self) -> Result<(), Lz4Error> {
        match self.part {
            Part::Magic if self.held.is_empty() && self.frames > 0 => Ok(()),
            Part::LegacySize if self.held.is_empty() => Ok(()),
            _ => Err(Lz4Error::new(Lz4Flaw::Truncated, self.consumed)),
        }
    }

    fn expect(&mut self, part: Part, bytes: usize) {
        self.part = part;
        self.needed = bytes;
    }

    /// Handles a part that is complete.
    fn take(&mut self, held: &[u8], start: u64) -> Result<(), Lz4Flaw> {
        match self.part {
            Part::Magic => self.magic(number(held), start),
            Part::Flags => self.flags(held[0], held[1]),
            Part::Header => self.header(held),
            Part::SkippedSize => {
                self.part = Part::Skipped(u64::from(number(held)));
                Ok(())
            }
            Part::Skipped(_) => Ok(()),
            Part::BlockSize => self.block_size(number(held)),
            Part::Block { stored } => {
                let sum = if self.frame.block_sums { 4 } else { 0 };
                let (data, sum) = held.split_at(held.len() - sum);
                if !sum.is_empty() {
                    equal("block", number(sum), xxh32(data))?;
                }
                self.block(data, stored)?;
                self.expect(Part::BlockSize, 4);
                Ok(())
            }
            Part::ContentSum => {
                let computed = (self.sum.finish() & u64::from(u32::MAX)) as u32;
                equal("content", number(held), computed)?;
                self.end_frame();
                Ok(())
            }
            Part::LegacySize => match number(held) {
                FRAME | LEGACY | SKIPPABLE..=SKIPPABLE_LAST => {
                    self.end_frame();
                    self.magic(number(held), start)
                }
                size if (1..=LEGACY_STORED_BYTES).contains(&(size as usize)) => {
                    self.expect(Part::LegacyBlock, size as usize);
                    Ok(())
                }
                stated => Err(Lz4Flaw::LegacyBlockTooLarge { stated }),
            },
            Part::LegacyBlock => {
                self.block(held, false)?;
                self.expect(Part::LegacySize, 4);
                Ok(())
            }
        }
    }

    fn magic(&mut self, magic: u32, start: u64) -> Result<(), Lz4Flaw> {
        self.frame = Frame {
            block_bytes_max: LEGACY_BLOCK_BYTES,
            ..Frame::default()
        };
        (self.end, self.given) = (0, 0);
        match magic {
            FRAME => self.expect(Part::Flags, 2),
            LEGACY => self.expect(Part::LegacySize, 4),
            SKIPPABLE..=SKIPPABLE_LAST => self.expect(Part::SkippedSize, 4),
            _ if start > 0 => return Err(Lz4Flaw::TrailingData),
            _ => return Err(Lz4Flaw::NotLz4),
        }
        Ok(())
    }

    fn flags(&mut self, flags: u8, block: u8) -> Result<(), Lz4Flaw> {
        let bit = |at: u8| flags >> at & 1 == 1;
        if flags >> 6 != 1 {
            return Err(Lz4Flaw::Version { stated: flags >> 6 });
        }
        if bit(1) || block & 0x8f != 0 {
            return Err(Lz4Flaw::Reserved { flags, block });
        }
        if bit(0) {
            return Err(Lz4Flaw::Dictionary);
        }
        let log = match block >> 4 {
            size @ 4..=7 => 8 + 2 * usize::from(size),
            stated => return Err(Lz4Flaw::BlockSize { stated }),
        };
        self.frame = Frame {
            linked: !bit(5),
            block_sums: bit(4),
            content_sum: bit(2),
            content_bytes: bit(3).then_some(0),
            block_bytes_max: 1 << log,
        };
        self.flags = [flags, block];
        self.expect(Part::Header, if bit(3) { 8 } else { 0 } + 1);
        Ok(())
    }

    fn header(&mut self, held: &[u8]) -> Result<(), Lz4Flaw> {
        let (header, sum) = held.split_at(held.len() - 1);
        // The checksum is over the flags, too.
        let computed = (xxh32(&[&self.flags, header].concat()) >> 8 & 0xff) as u8;
        equal("header", u32::from(sum[0]), u32::from(computed))?;
        if let (Some(size), Some(bytes)) = (&mut self.frame.content_bytes, header.first_chunk()) {
            *size = u64::from_le_bytes(*bytes);
        }
        self.sum = XxHash32::with_seed(0);
        self.frame_bytes = 0;
        self.expect(Part::BlockSize, 4);
        Ok(())
    }

    fn block_size(&mut self, size: u32) -> Result<(), Lz4Flaw> {
        if size == 0 {
            if let Some(stated) = self.frame.content_bytes
                && stated != self.frame_bytes
            {
                return Err(Lz4Flaw::ContentSize {
                    stated,
                    counted: self.frame_bytes,
                });
            }
            match self.frame.content_sum {
                true => self.expect(Part::ContentSum, 4),
                false => self.end_frame(),
            }
            return Ok(());
        }
        let stored = size >> 31 == 1;
        let bytes = (size & 0x7fff_ffff) as usize;
        let most = self.frame.block_bytes_max;
        if bytes > most {
            return Err(Lz4Flaw::BlockTooLarge {
                stated: bytes as u64,
                limit: most as u64,
            });
        }
        let sum = if self.frame.block_sums { 4 } else { 0 };
        self.expect(Part::Block { stored }, bytes + sum);
        Ok(())
    }

    /// Decodes a block behind the content that it may refer to. All of that was given away.
    fn block(&mut self, data: &[u8], stored: bool) -> Result<(), Lz4Flaw> {
        let most = self.frame.block_bytes_max;
        let kept = match self.frame.linked {
            true => self.end.min(WINDOW_BYTES),
            false => 0,
        };
        let bytes = most + 2 * WINDOW_BYTES;
        if self.room.len() < bytes {
            self.room.resize(bytes, 0);
        }
        // So the window is moved once for each of its lengths that was decoded, not once for each block.
        if self.end + most > self.room.len() {
            self.room.copy_within(self.end - kept..self.end, 0);
            self.end = kept;
        }
        let (before, room) = self.room.split_at_mut(self.end);
        let room = &mut room[..most];
        let bytes = if stored {
            room[..data.len()].copy_from_slice(data);
            data.len()
        } else {
            decompress_into_with_dict(data, room, &before[self.end - kept..]).map_err(|error| {
                Lz4Flaw::Block {
                    why: error.to_string(),
                }
            })?
        };
        let block = &room[..bytes];
        self.frame_bytes += bytes as u64;
        if self.frame.content_sum {
            self.sum.write(block);
        }
        self.given = self.end;
        self.end += bytes;
        Ok(())
    }

    fn end_frame(&mut self) {
        self.frames += 1;
        self.expect(Part::Magic, 4);
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes
        .first_chunk()
        .map_or(0, |four| u32::from_le_bytes(*four))
}

fn xxh32(bytes: &[u8]) -> u32 {
    XxHash32::oneshot(0, bytes)
}

fn equal(of: &'static str, stated: u32, computed: u32) -> Result<(), Lz4Flaw> {
    match stated == computed {
        true => Ok(()),
        false => Err(Lz4Flaw::Checksum {
            of,
            stated,
            computed,
        }),
    }
}
