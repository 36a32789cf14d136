//! LZ4 in Rust and in C, Snappy, and no compression at all.
//!
//! Blocks of LZ4 and Snappy are bare: an LZ4 block does not say how much it holds, and is given as
//! much room as a block of the run may need.

use super::{Codec, Compress, Context, Decompress, room};
use crate::error::CodecError;

/// LZ4 blocks in Rust (lz4_flex).
#[derive(Debug, Clone, Copy)]
pub struct Lz4;

/// LZ4 blocks by the C library.
#[derive(Debug, Clone, Copy)]
pub struct Lz4C;

/// Raw Snappy blocks, in Rust (snap).
#[derive(Debug, Clone, Copy)]
pub struct Snappy;

/// Contents as they are.
#[derive(Debug, Clone, Copy)]
pub struct Stored;

/// The greater of lz4_flex's tables, four bytes an entry.
const LZ4_TABLE_BYTES: usize = 4 * 4096;
/// The greatest table of snap, two bytes an entry.
const SNAPPY_TABLE_BYTES: usize = 2 * (1 << 14);

struct Lz4Compress(lz4_flex::block::CompressTable);
struct Lz4CCompress;
struct SnappyCompress(snap::raw::Encoder);
struct StoredContext(usize);

impl Lz4Compress {
    fn of(content_bytes_max: usize) -> Self {
        Self(match content_bytes_max < usize::from(u16::MAX) {
            true => lz4_flex::block::CompressTable::small(),
            false => lz4_flex::block::CompressTable::large(),
        })
    }
}

/// Decompression of LZ4 and Snappy needs no context but the limit.
struct Lz4Decompress(usize);
struct Lz4CDecompress(usize);
struct SnappyDecompress(usize);

/// The part of [`Codec`] that is alike: what makes a context of each direction.
macro_rules! codec {
    ($codec:ty, $name:literal, $compressor:expr, $decompressor:expr) => {
        impl Codec for $codec {
            fn name(&self) -> &str {
                $name
            }

            fn compressor(&self, bytes_max: usize) -> Result<Box<dyn Compress>, CodecError> {
                let make: fn(usize) -> _ = $compressor;
                Ok(Box::new(make(bytes_max)))
            }

            fn decompressor(&self, bytes_max: usize) -> Result<Box<dyn Decompress>, CodecError> {
                let make: fn(usize) -> _ = $decompressor;
                Ok(Box::new(make(bytes_max)))
            }
        }
    };
}

codec!(Lz4, "lz4", Lz4Compress::of, Lz4Decompress);
codec!(Lz4C, "lz4-c", |_| Lz4CCompress, Lz4CDecompress);
codec!(
    Snappy,
    "snappy",
    |_| SnappyCompress(snap::raw::Encoder::new()),
    SnappyDecompress
);
codec!(Stored, "none", StoredContext, StoredContext);

/// What contexts hold beside themselves.
macro_rules! holds {
    ($($context:ty: $bytes:expr),+ $(,)?) => {$(
        impl Context for $context {
            fn memory_bytes(&self) -> usize {
                size_of::<Self>() + $bytes
            }
        }
    )+};
}

holds!(
    Lz4Compress: LZ4_TABLE_BYTES,
    Lz4CCompress: 0,
    SnappyCompress: SNAPPY_TABLE_BYTES,
    StoredContext: 0,
    Lz4Decompress: 0,
    Lz4CDecompress: 0,
    SnappyDecompress: 0,
);

impl Compress for Lz4Compress {
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
        room(
            block,
            lz4_flex::block::get_maximum_output_size(content.len()),
        );
        let count = lz4_flex::block::compress_into_with_table(content, block, &mut self.0)
            .map_err(|error| CodecError::refused("lz4", error))?;
        block.truncate(count);
        Ok(())
    }
}

impl Decompress for Lz4Decompress {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        room(content, self.0);
        let count = lz4_flex::block::decompress_into(block, &mut content[..self.0])
            .map_err(|error| CodecError::refused("lz4", error))?;
        content.truncate(count);
        Ok(())
    }
}

impl Compress for Lz4CCompress {
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
        let refused = |error| CodecError::refused("lz4-c", error);
        room(
            block,
            lz4::block::compress_bound(content.len()).map_err(refused)?,
        );
        let count = lz4::block::compress_to_buffer(content, None, false, block).map_err(refused)?;
        block.truncate(count);
        Ok(())
    }
}

impl Decompress for Lz4CDecompress {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        room(content, self.0);
        let limit = i32::try_from(self.0).unwrap_or(i32::MAX);
        let count = lz4::block::decompress_to_buffer(block, Some(limit), content)
            .map_err(|error| CodecError::refused("lz4-c", error))?;
        content.truncate(count);
        Ok(())
    }
}

impl Compress for SnappyCompress {
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
        room(block, snap::raw::max_compress_len(content.len()));
        let count = self
            .0
            .compress(content, block)
            .map_err(|error| CodecError::refused("snappy", error))?;
        block.truncate(count);
        Ok(())
    }
}

impl Decompress for SnappyDecompress {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        let refused = |error| CodecError::refused("snappy", error);
        let claimed = snap::raw::decompress_len(block).map_err(refused)?;
        if claimed > self.0 {
            return Err(CodecError::TooLarge {
                codec: "snappy",
                limit_bytes: self.0,
            });
        }
        room(content, claimed);
        let count = snap::raw::Decoder::new()
            .decompress(block, content)
            .map_err(refused)?;
        content.truncate(count);
        Ok(())
    }
}

impl Compress for StoredContext {
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
        block.clear();
        block.extend_from_slice(content);
        Ok(())
    }
}

impl Decompress for StoredContext {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        if block.len() > self.0 {
            return Err(CodecError::TooLarge {
                codec: "none",
                limit_bytes: self.0,
            });
        }
        content.clear();
        content.extend_from_slice(block);
        Ok(())
    }
}
