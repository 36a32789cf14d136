//! The layout of frame and block headers (RFC 8878, section 3.1) as pure functions over bytes.
//!
//! The order of the parts is in `walk`. libzstd decodes the contents of blocks.

use crate::error::{Error, Repr};

pub(crate) const MAGIC: u32 = 0xfd2f_b528;
pub(crate) const SKIPPABLE_MAGIC: u32 = 0x184d_2a50;
pub(crate) const SKIPPABLE_MASK: u32 = 0xffff_fff0;
/// Magic and length of a skippable frame.
pub(crate) const SKIPPABLE_HEADER_BYTES: usize = 8;
/// The longest frame header: magic, descriptor, window, dictionary id, content size.
pub(crate) const HEADER_BYTES_MAX: usize = 18;
/// The shortest start of a frame that determines the length of its header.
pub(crate) const HEADER_PREFIX_BYTES: usize = 5;
pub(crate) const BLOCK_HEADER_BYTES: usize = 3;
pub(crate) const CHECKSUM_BYTES: usize = 4;
/// The largest block, compressed or not.
pub(crate) const BLOCK_BYTES_MAX: u32 = 128 << 10;

/// A frame header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) bytes: usize,
    pub(crate) window: u64,
    pub(crate) content_size: Option<u64>,
    pub(crate) dictionary: u32,
    pub(crate) checksum: bool,
    pub(crate) single_segment: bool,
}

impl Header {
    /// The length of the header that starts with these (at least five) bytes.
    pub(crate) fn length(prefix: &[u8]) -> usize {
        let Some(&descriptor) = prefix.get(HEADER_PREFIX_BYTES - 1) else {
            return HEADER_PREFIX_BYTES;
        };
        let single_segment = descriptor & 0x20 != 0;
        HEADER_PREFIX_BYTES
            + usize::from(!single_segment)
            + dictionary_field_bytes(descriptor)
            + content_size_field_bytes(descriptor)
    }

    /// Reads a complete header, including the magic number, at byte `offset` of the stream.
    pub(crate) fn parse(bytes: &[u8], offset: u64) -> Result<Self, Error> {
        let descriptor = bytes[HEADER_PREFIX_BYTES - 1];
        if descriptor & 0x08 != 0 {
            return Err(Repr::FrameHeader {
                offset,
                reason: "a reserved bit is set",
            }
            .into());
        }
        let single_segment = descriptor & 0x20 != 0;
        let mut rest = &bytes[HEADER_PREFIX_BYTES..];
        let mut window = 0;
        if !single_segment {
            window = window_bytes(rest[0]);
            rest = &rest[1..];
        }
        let (dictionary, rest) = rest.split_at(dictionary_field_bytes(descriptor));
        let field = &rest[..content_size_field_bytes(descriptor)];
        let content_size = match field.len() {
            0 => None,
            // The two-byte field counts from 256: smaller sizes fit in one byte.
            2 => Some(little_endian(field) + 256),
            _ => Some(little_endian(field)),
        };
        if let (true, Some(size)) = (single_segment, content_size) {
            window = size;
        }
        Ok(Self {
            bytes: bytes.len(),
            window,
            content_size,
            dictionary: little_endian(dictionary) as u32,
            checksum: descriptor & 0x04 != 0,
            single_segment,
        })
    }

    /// The largest block that this frame may have, compressed or not.
    pub(crate) fn block_bytes_max(&self) -> u32 {
        self.window.min(BLOCK_BYTES_MAX.into()) as u32
    }
}

fn dictionary_field_bytes(descriptor: u8) -> usize {
    [0, 1, 2, 4][usize::from(descriptor & 3)]
}

fn content_size_field_bytes(descriptor: u8) -> usize {
    match descriptor >> 6 {
        0 => usize::from(descriptor & 0x20 != 0),
        code => 1 << code,
    }
}

fn window_bytes(descriptor: u8) -> u64 {
    let base = 1_u64 << (10 + (descriptor >> 3));
    base + base / 8 * u64::from(descriptor & 7)
}

pub(crate) fn little_endian(field: &[u8]) -> u64 {
    field
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// How a block is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Raw,
    Rle,
    Compressed,
}

/// A block header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) last: bool,
    pub(crate) kind: BlockKind,
    /// The size field: content bytes of a raw or RLE block, stored bytes of a compressed block.
    pub(crate) size: u32,
}

impl Block {
    /// Reads the header of the block at byte `offset` of the stream.
    pub(crate) fn parse(bytes: [u8; 3], max: u32, offset: u64) -> Result<Self, Error> {
        let value = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
        let (last, size) = (value & 1 != 0, value >> 3);
        let kind = match value >> 1 & 3 {
            0 => BlockKind::Raw,
            1 => BlockKind::Rle,
            2 => BlockKind::Compressed,
            _ => {
                return Err(Repr::Block {
                    offset,
                    reason: "reserved block type",
                }
                .into());
            }
        };
        // An RLE block stores one byte, which does not fit a frame whose window is empty. One code path
        // of libzstd refuses it, another accepts it.
        let least = if kind == BlockKind::Rle { 1 } else { 0 };
        if size.max(least) > max {
            let size = size.max(least);
            return Err(Repr::BlockSize { offset, size, max }.into());
        }
        // The format has no empty compressed block. One code path of libzstd reads it as an empty raw
        // block, another refuses it.
        if kind == BlockKind::Compressed && size == 0 {
            return Err(Repr::Block {
                offset,
                reason: "empty compressed block",
            }
            .into());
        }
        Ok(Self { last, kind, size })
    }

    /// The number of bytes that follow the header.
    pub(crate) fn stored_bytes(self) -> u32 {
        match self.kind {
            BlockKind::Rle => 1,
            BlockKind::Raw | BlockKind::Compressed => self.size,
        }
    }

    /// The most content bytes that this block may hold.
    pub(crate) fn content_bytes_max(self, max: u32) -> u32 {
        match self.kind {
            BlockKind::Raw | BlockKind::Rle => self.size,
            BlockKind::Compressed => max,
        }
    }
}

/// The length of the skippable frame whose header is at the start of a buffer.
pub(crate) fn skippable_bytes(stream: &[u8]) -> Option<u64> {
    let header = stream.first_chunk::<SKIPPABLE_HEADER_BYTES>()?;
    let magic = little_endian(&header[..4]) as u32;
    let bytes = SKIPPABLE_HEADER_BYTES as u64 + little_endian(&header[4..]);
    (magic & SKIPPABLE_MASK == SKIPPABLE_MAGIC).then_some(bytes)
}

/// The bytes after the skippable frame at the start of a buffer, if it starts with a complete one.
pub(crate) fn after_skippable_frame(stream: &[u8]) -> Option<&[u8]> {
    stream.get(usize::try_from(skippable_bytes(stream)?).ok()?..)
}

/// The header of the frame at the start of a buffer, and the bytes after it.
pub(crate) fn split_header(stream: &[u8]) -> Option<(Header, &[u8])> {
    if !stream.starts_with(&MAGIC.to_le_bytes()) {
        return None;
    }
    let (header, rest) = stream.split_at_checked(Header::length(stream))?;
    Some((Header::parse(header, 0).ok()?, rest))
}

/// The most content that the blocks of a frame can hold, and the bytes after the frame, as far as this number of blocks
/// reaches, which is counted down. `None`: it is incomplete.
pub(crate) fn measure_blocks<'a>(
    header: &Header,
    mut rest: &'a [u8],
    blocks_left: &mut usize,
) -> Option<Measured<'a>> {
    let max = header.block_bytes_max();
    let mut bound = 0_u64;
    while *blocks_left > 0 {
        *blocks_left -= 1;
        let (bytes, body) = rest.split_first_chunk::<BLOCK_HEADER_BYTES>()?;
        let block = Block::parse(*bytes, max, 0).ok()?;
        bound += u64::from(block.content_bytes_max(max));
        rest = body.get(block.stored_bytes() as usize..)?;
        if block.last {
            let checksum = if header.checksum { CHECKSUM_BYTES } else { 0 };
            let rest = rest.get(checksum..)?;
            let ended = true;
            return Some(Measured { bound, rest, ended });
        }
    }
    let ended = false;
    Some(Measured { bound, rest, ended })
}

/// What [`measure_blocks`] finds.
pub(crate) struct Measured<'a> {
    /// The most content of the blocks.
    pub(crate) bound: u64,
    pub(crate) rest: &'a [u8],
    /// Whether the frame ends there, its checksum included.
    pub(crate) ended: bool,
}

/// The minor version of a legacy format's magic number: 1 to 7.
pub(crate) fn legacy_version(magic: u32) -> Option<u8> {
    match magic {
        0x1eb5_2ffd => Some(1),
        0xfd2f_b522..=0xfd2f_b527 => Some((magic & 0xf) as u8),
        _ => None,
    }
}
