//! Raw Snappy blocks in Rust (snap, feature `snappy`). A block states how much content it holds.

use super::{Compress, Decompress, room};
use crate::error::CodecError;

/// Raw Snappy blocks, in Rust (snap).
#[derive(Debug, Clone, Copy)]
pub struct Snappy;

/// The largest table of snap, two bytes an entry.
const TABLE_BYTES: usize = 2 * (1 << 14);

struct SnappyCompress(snap::raw::Encoder);

/// The limit on content.
struct SnappyDecompress(usize);

super::codec!(
    Snappy,
    "snappy",
    |_| SnappyCompress(snap::raw::Encoder::new()),
    SnappyDecompress
);
super::holds!(SnappyCompress: TABLE_BYTES, SnappyDecompress: 0);

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
