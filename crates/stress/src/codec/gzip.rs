//! gzip (RFC 1952) with deflate in Rust (miniz_oxide, by flate2; feature `gzip`).
//!
//! flate2 keeps contexts of bare deflate only, so this module writes and reads the ten bytes before it and
//! the eight after it.

use flate2::{Compression, Decompress as Inflate, FlushCompress, FlushDecompress, Status};

use super::{Codec, Compress, Context, Decompress};
use crate::error::CodecError;

/// gzip in Rust.
#[derive(Debug, Clone)]
pub struct Gzip {
    name: String,
    level: i32,
}

/// No name, no time, no comment, from an unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
const TRAILER_BYTES: usize = 8;
/// Memory of miniz_oxide: window, chains and buffers of an encoder; window and tables of a decoder.
const DEFLATE_BYTES: usize = 300 << 10;
const INFLATE_BYTES: usize = 43 << 10;

impl Gzip {
    /// Level 1 to 9; other levels become the nearest.
    #[must_use]
    pub fn new(level: i32) -> Self {
        let level = level.clamp(1, 9);
        Self {
            name: format!("gzip:{level}"),
            level,
        }
    }
}

impl Codec for Gzip {
    fn name(&self) -> &str {
        &self.name
    }

    fn compressor(&self, _content_bytes_max: usize) -> Result<Box<dyn Compress>, CodecError> {
        let level = Compression::new(self.level.unsigned_abs());
        Ok(Box::new(GzipCompress(flate2::Compress::new(level, false))))
    }

    fn decompressor(&self, content_bytes_max: usize) -> Result<Box<dyn Decompress>, CodecError> {
        Ok(Box::new(GzipDecompress {
            inner: Inflate::new(false),
            content_bytes_max,
        }))
    }
}

struct GzipCompress(flate2::Compress);

impl Context for GzipCompress {
    fn memory_bytes(&self) -> usize {
        DEFLATE_BYTES
    }
}

impl Compress for GzipCompress {
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
        self.0.reset();
        block.clear();
        // The most that deflate needs: five bytes per stored block, and a few more.
        let bound = content.len() + content.len() / 1000 * 5 + 64;
        block.reserve(HEADER.len() + bound + TRAILER_BYTES);
        block.extend_from_slice(&HEADER);
        let status = self
            .0
            .compress_vec(content, block, FlushCompress::Finish)
            .map_err(|error| CodecError::refused("gzip", error))?;
        if status != Status::StreamEnd {
            return Err(CodecError::refused(
                "gzip",
                "more output than the bound of deflate",
            ));
        }
        block.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
        block.extend_from_slice(&(content.len() as u32).to_le_bytes());
        Ok(())
    }
}

struct GzipDecompress {
    inner: Inflate,
    content_bytes_max: usize,
}

impl Context for GzipDecompress {
    fn memory_bytes(&self) -> usize {
        INFLATE_BYTES
    }
}

impl Decompress for GzipDecompress {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        let refused = |reason: &str| CodecError::refused("gzip", reason);
        let body = block
            .strip_prefix(&HEADER)
            .ok_or_else(|| refused("byte 0: not the header that this codec writes"))?;
        let (body, trailer) = body
            .split_last_chunk::<TRAILER_BYTES>()
            .ok_or_else(|| refused("truncated in the trailer"))?;
        self.inner.reset(false);
        content.clear();
        content.reserve(self.content_bytes_max + 1);
        let status = self
            .inner
            .decompress_vec(body, content, FlushDecompress::Finish)
            .map_err(|error| refused(&error.to_string()))?;
        if content.len() > self.content_bytes_max {
            return Err(CodecError::TooLarge {
                codec: "gzip",
                limit_bytes: self.content_bytes_max,
            });
        }
        if status != Status::StreamEnd || self.inner.total_in() != body.len() as u64 {
            return Err(refused("not one complete deflate stream"));
        }
        let mut expected = [0; TRAILER_BYTES];
        expected[..4].copy_from_slice(&crc32fast::hash(content).to_le_bytes());
        expected[4..].copy_from_slice(&(content.len() as u32).to_le_bytes());
        if *trailer != expected {
            return Err(refused("checksum or size mismatch in the last eight bytes"));
        }
        Ok(())
    }
}
