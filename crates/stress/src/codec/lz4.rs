//! LZ4 blocks in Rust (lz4_flex, feature `lz4`) and by the C library (feature `lz4-c`).
//!
//! Blocks are bare: an LZ4 block does not state how much content it holds, so it gets as much room as a
//! block of the run may need.

use super::{Compress, Decompress, room};
use crate::error::CodecError;

/// LZ4 blocks in Rust (lz4_flex).
#[cfg(feature = "lz4")]
#[derive(Debug, Clone, Copy)]
pub struct Lz4;

/// LZ4 blocks by the C library.
#[cfg(feature = "lz4-c")]
#[derive(Debug, Clone, Copy)]
pub struct Lz4C;

/// The larger of lz4_flex's tables, four bytes an entry.
#[cfg(feature = "lz4")]
const TABLE_BYTES: usize = 4 * 4096;

#[cfg(feature = "lz4")]
struct Lz4Compress(lz4_flex::block::CompressTable);
#[cfg(feature = "lz4-c")]
struct Lz4CCompress;

// Decompression needs no context but the limit on content.
#[cfg(feature = "lz4")]
struct Lz4Decompress(usize);
#[cfg(feature = "lz4-c")]
struct Lz4CDecompress(usize);

#[cfg(feature = "lz4")]
impl Lz4Compress {
    fn new(content_bytes_max: usize) -> Self {
        Self(match content_bytes_max < usize::from(u16::MAX) {
            true => lz4_flex::block::CompressTable::small(),
            false => lz4_flex::block::CompressTable::large(),
        })
    }
}

#[cfg(feature = "lz4")]
super::codec!(Lz4, "lz4", Lz4Compress::new, Lz4Decompress);
#[cfg(feature = "lz4-c")]
super::codec!(Lz4C, "lz4-c", |_| Lz4CCompress, Lz4CDecompress);
#[cfg(feature = "lz4")]
super::holds!(Lz4Compress: TABLE_BYTES, Lz4Decompress: 0);
#[cfg(feature = "lz4-c")]
super::holds!(Lz4CCompress: 0, Lz4CDecompress: 0);

#[cfg(feature = "lz4")]
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

#[cfg(feature = "lz4")]
impl Decompress for Lz4Decompress {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        room(content, self.0);
        let count = lz4_flex::block::decompress_into(block, &mut content[..self.0])
            .map_err(|error| CodecError::refused("lz4", error))?;
        content.truncate(count);
        Ok(())
    }
}

#[cfg(feature = "lz4-c")]
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

#[cfg(feature = "lz4-c")]
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
