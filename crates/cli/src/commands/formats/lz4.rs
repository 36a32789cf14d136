//! Reads lz4 files (frames, frames of the legacy format, skippable frames) in any cut of the input.
//!
//! The blocks are lz4_flex's. Its reader of frames is not used: it takes a file that ends between two blocks, or in
//! the header, for whole. Memory is bounded by the format: 4 MiB a block, 8 MiB in the legacy format, once each for
//! what comes in and what goes out.

use std::hash::Hasher as _;

use lz4_flex::block::decompress_into_with_dict;
use twox_hash::XxHash32;

/// The first bytes of a frame.
pub(super) const MAGIC: u32 = 0x184d_2204;
/// The first bytes of a frame of the legacy format.
pub(super) const LEGACY: u32 = 0x184c_2102;
/// The first bytes of a frame that is skipped; the last digit is free.
const SKIPPABLE: u32 = 0x184d_2a50;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Did {
    pub(super) consumed: usize,
    pub(super) produced: usize,
}

/// Why input is refused, and the byte of it.
pub(super) type Refused = (String, u64);

/// Decompresses a file of any number of frames.
#[derive(Debug)]
pub(super) struct Lz4Decoder {
    part: Part,
    frame: Frame,
    /// The first two bytes of the frame's header.
    flags: [u8; 2],
    /// The part so far, and how long it will be.
    held: Vec<u8>,
    needed: usize,
    /// The end of the content before the block, then the block.
    content: Vec<u8>,
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
            content: Vec::new(),
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
    pub(super) fn frames(&self) -> u64 {
        self.frames
    }

    /// Consumes input and gives content, until either is used up: a block at most.
    pub(super) fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<Did, Refused> {
        let mut did = Did {
            consumed: 0,
            produced: 0,
        };
        loop {
            let ready = &self.content[self.given..];
            let bytes = ready.len().min(output.len() - did.produced);
            output[did.produced..did.produced + bytes].copy_from_slice(&ready[..bytes]);
            self.given += bytes;
            did.produced += bytes;
            if self.given < self.content.len() {
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
            result.map_err(|what| (what, start))?;
        }
    }

    /// Whether the input may end here, and else at which byte it ends too early.
    pub(super) fn finish(&self) -> Result<(), u64> {
        match self.part {
            Part::Magic if self.held.is_empty() && self.frames > 0 => Ok(()),
            Part::LegacySize if self.held.is_empty() => Ok(()),
            _ => Err(self.consumed),
        }
    }

    fn expect(&mut self, part: Part, bytes: usize) {
        self.part = part;
        self.needed = bytes;
    }

    /// Handles a part that is complete.
    fn take(&mut self, held: &[u8], start: u64) -> Result<(), String> {
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
                    equal("checksum of the block", number(sum), xxh32(data))?;
                }
                self.block(data, stored, self.frame.block_bytes_max)?;
                self.expect(Part::BlockSize, 4);
                Ok(())
            }
            Part::ContentSum => {
                let computed = (self.sum.finish() & u64::from(u32::MAX)) as u32;
                equal("checksum of the content", number(held), computed)?;
                self.end();
                Ok(())
            }
            Part::LegacySize => match number(held) {
                MAGIC | LEGACY | SKIPPABLE..=0x184d_2a5f => {
                    self.end();
                    self.magic(number(held), start)
                }
                size if (1..=LEGACY_STORED_BYTES).contains(&(size as usize)) => {
                    self.expect(Part::LegacyBlock, size as usize);
                    Ok(())
                }
                size => Err(format!(
                    "a block of {size} bytes is too large for lz4's legacy format"
                )),
            },
            Part::LegacyBlock => {
                self.content.clear();
                self.given = 0;
                self.block(held, false, LEGACY_BLOCK_BYTES)?;
                self.expect(Part::LegacySize, 4);
                Ok(())
            }
        }
    }

    fn magic(&mut self, magic: u32, start: u64) -> Result<(), String> {
        self.frame = Frame::default();
        self.content.clear();
        self.given = 0;
        match magic {
            MAGIC => self.expect(Part::Flags, 2),
            LEGACY => self.expect(Part::LegacySize, 4),
            SKIPPABLE..=0x184d_2a5f => self.expect(Part::SkippedSize, 4),
            _ if start > 0 => return Err("what follows the last lz4 frame is none".to_owned()),
            _ => return Err("no lz4 frame".to_owned()),
        }
        Ok(())
    }

    fn flags(&mut self, flags: u8, block: u8) -> Result<(), String> {
        let bit = |at: u8| flags >> at & 1 == 1;
        if flags >> 6 != 1 {
            return Err(format!("version {} of lz4 frames is unknown", flags >> 6));
        }
        if bit(1) || block & 0x8f != 0 {
            return Err(format!(
                "the header of the lz4 frame sets reserved bits: {flags:02x} {block:02x}"
            ));
        }
        if bit(0) {
            return Err("the lz4 frame needs a dictionary, which is not supported".to_owned());
        }
        let log = match block >> 4 {
            size @ 4..=7 => 8 + 2 * usize::from(size),
            size => return Err(format!("block size {size} of the lz4 frame is unknown")),
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

    fn header(&mut self, held: &[u8]) -> Result<(), String> {
        let (header, sum) = held.split_at(held.len() - 1);
        // The checksum is over the flags, too.
        let computed = (xxh32(&[&self.flags, header].concat()) >> 8 & 0xff) as u8;
        equal(
            "checksum of the header",
            u32::from(sum[0]),
            u32::from(computed),
        )?;
        if let (Some(size), Some(bytes)) = (&mut self.frame.content_bytes, header.first_chunk()) {
            *size = u64::from_le_bytes(*bytes);
        }
        self.sum = XxHash32::with_seed(0);
        self.frame_bytes = 0;
        self.expect(Part::BlockSize, 4);
        Ok(())
    }

    fn block_size(&mut self, size: u32) -> Result<(), String> {
        if size == 0 {
            if let Some(stated) = self.frame.content_bytes
                && stated != self.frame_bytes
            {
                return Err(format!(
                    "size of the content: stated {stated}, counted {}",
                    self.frame_bytes
                ));
            }
            match self.frame.content_sum {
                true => self.expect(Part::ContentSum, 4),
                false => self.end(),
            }
            return Ok(());
        }
        let stored = size >> 31 == 1;
        let bytes = (size & 0x7fff_ffff) as usize;
        let most = self.frame.block_bytes_max;
        if bytes > most {
            return Err(format!(
                "a block of {bytes} bytes, but the frame allows {most}"
            ));
        }
        let sum = if self.frame.block_sums { 4 } else { 0 };
        self.expect(Part::Block { stored }, bytes + sum);
        Ok(())
    }

    /// Decodes a block behind the content that it may refer to.
    fn block(&mut self, data: &[u8], stored: bool, most: usize) -> Result<(), String> {
        let kept = match self.frame.linked {
            true => self.content.len().min(WINDOW_BYTES),
            false => 0,
        };
        self.content.drain(..self.content.len() - kept);
        self.given = kept;
        if stored {
            self.content.extend_from_slice(data);
        } else {
            self.content.resize(kept + most, 0);
            let (window, room) = self.content.split_at_mut(kept);
            let bytes = decompress_into_with_dict(data, room, window)
                .map_err(|error| format!("invalid lz4 block: {error}"))?;
            self.content.truncate(kept + bytes);
        }
        let block = &self.content[kept..];
        self.frame_bytes += block.len() as u64;
        if self.frame.content_sum {
            self.sum.write(block);
        }
        Ok(())
    }

    fn end(&mut self) {
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

fn equal(what: &str, stated: u32, computed: u32) -> Result<(), String> {
    match stated == computed {
        true => Ok(()),
        false => Err(format!(
            "{what}: stated {stated:08x}, computed {computed:08x}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use lz4::liblz4::BlockChecksum;
    use lz4::{BlockMode, BlockSize, ContentChecksum, EncoderBuilder};

    use super::*;

    /// SplitMix64, so that each run has the same cases.
    struct Random(u64);

    impl Random {
        fn below(&mut self, below: usize) -> usize {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            ((mixed ^ (mixed >> 27)) >> 8) as usize % below
        }
    }

    /// A frame with settings that are drawn; whether the content has a checksum.
    fn frame(random: &mut Random) -> (Vec<u8>, bool) {
        let bytes = [0, 1, 13, 500, 70_000, 200_000][random.below(6)];
        let content: Vec<u8> = (0..bytes)
            .map(|at| match at % 97 < 60 {
                true => b"lorem ipsum dolor "[at % 18],
                false => random.below(256) as u8,
            })
            .collect();
        let sum = random.below(4) > 0;
        let mut encoder = EncoderBuilder::new()
            .level([1, 4, 9][random.below(3)])
            .block_size(BlockSize::Max64KB)
            .block_mode([BlockMode::Linked, BlockMode::Independent][random.below(2)].clone())
            .block_checksum(match random.below(2) {
                0 => BlockChecksum::NoBlockChecksum,
                _ => BlockChecksum::BlockChecksumEnabled,
            })
            .checksum(match sum {
                true => ContentChecksum::ChecksumEnabled,
                false => ContentChecksum::NoChecksum,
            })
            .content_size(if random.below(2) == 0 {
                0
            } else {
                bytes as u64
            })
            .build(Vec::new())
            .expect("an encoder");
        encoder.write_all(&content).expect("written");
        (encoder.finish().0, sum)
    }

    /// What is read in parts of this size, or why not and at which byte.
    fn read(file: &[u8], part: usize) -> Result<Vec<u8>, (String, u64)> {
        let mut decoder = Lz4Decoder::default();
        let (mut content, mut room) = (Vec::new(), vec![0; 1 << 15]);
        for mut rest in file.chunks(part.max(1)) {
            loop {
                let did = decoder.push(rest, &mut room)?;
                content.extend_from_slice(&room[..did.produced]);
                rest = &rest[did.consumed..];
                if rest.is_empty() && did.produced < room.len() {
                    break;
                }
            }
        }
        let ended = decoder.finish();
        ended.map(|()| content).map_err(|at| ("cut".to_owned(), at))
    }

    /// What lz4's own library reads.
    fn theirs(file: &[u8]) -> Option<Vec<u8>> {
        let mut decoder = lz4::Decoder::new(file).ok()?;
        let mut content = Vec::new();
        decoder.read_to_end(&mut content).ok()?;
        decoder.finish().1.ok().map(|()| content)
    }

    #[test]
    fn changed_frames_are_judged_as_lz4_judges_them_in_any_cut() {
        let mut random = Random(4);
        let (mut read_count, mut refused) = (0, 0);
        for _ in 0..1500 {
            let (mut file, sum) = frame(&mut random);
            match random.below(4) {
                0 => {}
                1 => file.truncate(random.below(file.len())),
                // The header, where most is decided, or anywhere.
                2 => {
                    let at = random.below(file.len().min(20));
                    file[at] ^= 1 << random.below(8);
                }
                _ => {
                    let at = random.below(file.len());
                    file[at] = random.below(256) as u8;
                }
            }
            let whole = read(&file, file.len());
            for part in [1 + random.below(40), 1 + random.below(70_000)] {
                assert_eq!(read(&file, part).is_ok(), whole.is_ok());
                assert!(read(&file, part).ok() == whole.clone().ok());
            }
            match &whole {
                Ok(content) => {
                    read_count += 1;
                    // Without a checksum, a changed block may be read in more than one way.
                    assert!(!sum || theirs(&file).as_ref() == Some(content));
                }
                Err((why, at)) => {
                    refused += 1;
                    assert!(*at <= file.len() as u64, "{why}");
                    let may_differ = !sum || why.contains("follows") || why.contains("dictionary");
                    assert!(may_differ || theirs(&file).is_none(), "{why} at byte {at}");
                }
            }
        }
        assert!(read_count > 300 && refused > 600, "{read_count} {refused}");
    }
}
