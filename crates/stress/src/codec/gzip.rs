//! gzip (RFC 1952): deflate in Rust (miniz_oxide, by flate2) and by the C library libdeflate.
//!
//! flate2 keeps a context of bare deflate only, so the ten bytes before it and the eight after it are
//! written and read here.

use flate2::{Compression, Decompress as Inflate, FlushCompress, FlushDecompress, Status};
use libdeflater::{CompressionLvl, Compressor, Decompressor};

use super::{Codec, Compress, Context, Decompress, room};
use crate::error::CodecError;

/// gzip in Rust.
#[derive(Debug, Clone)]
pub struct Gzip {
    name: String,
    level: i32,
}

/// gzip by libdeflate.
#[derive(Debug, Clone)]
pub struct GzipC {
    name: String,
    level: i32,
}

/// No name, no time, no comment, from an unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
const TRAILER_BYTES: usize = 8;
/// What miniz_oxide holds: window, chains and buffers of an encoder; window and tables of a decoder.
const DEFLATE_BYTES: usize = 300 << 10;
const INFLATE_BYTES: usize = 43 << 10;
/// What libdeflate holds, by the greatest of its tables; it does not say.
const LIBDEFLATE_BYTES: usize = 640 << 10;
const LIBINFLATE_BYTES: usize = 12 << 10;

impl Gzip {
    /// Level 1 to 9; others are taken for the nearest.
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
        // What deflate takes at most: five bytes a block of stored bytes, and a few.
        let bound = content.len() + content.len() / 1000 * 5 + 64;
        block.reserve(HEADER.len() + bound + TRAILER_BYTES);
        block.extend_from_slice(&HEADER);
        let status = self
            .0
            .compress_vec(content, block, FlushCompress::Finish)
            .map_err(|error| CodecError::refused("gzip", error))?;
        if status != Status::StreamEnd {
            return Err(CodecError::refused("gzip", "more output than deflate has"));
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
            .ok_or_else(|| refused("not the header that is written here, at byte 0"))?;
        let (body, trailer) = body
            .split_last_chunk::<TRAILER_BYTES>()
            .ok_or_else(|| refused("cut in the trailer"))?;
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
            return Err(refused("not one whole stream of deflate"));
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

impl GzipC {
    /// Level 1 to 12; others are taken for the nearest.
    #[must_use]
    pub fn new(level: i32) -> Self {
        let level = level.clamp(1, 12);
        Self {
            name: format!("gzip-c:{level}"),
            level,
        }
    }
}

impl Codec for GzipC {
    fn name(&self) -> &str {
        &self.name
    }

    fn compressor(&self, _content_bytes_max: usize) -> Result<Box<dyn Compress>, CodecError> {
        let level = CompressionLvl::new(self.level)
            .map_err(|_| CodecError::refused("gzip-c", "no such level"))?;
        Ok(Box::new(GzipCCompress(Compressor::new(level))))
    }

    fn decompressor(&self, content_bytes_max: usize) -> Result<Box<dyn Decompress>, CodecError> {
        Ok(Box::new(GzipCDecompress {
            inner: Decompressor::new(),
            content_bytes_max,
        }))
    }
}

struct GzipCCompress(Compressor);

impl Context for GzipCCompress {
    fn memory_bytes(&self) -> usize {
        LIBDEFLATE_BYTES
    }
}

impl Compress for GzipCCompress {
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
        room(block, self.0.gzip_compress_bound(content.len()));
        let count = self
            .0
            .gzip_compress(content, block)
            .map_err(|error| CodecError::refused("gzip-c", error))?;
        block.truncate(count);
        Ok(())
    }
}

struct GzipCDecompress {
    inner: Decompressor,
    content_bytes_max: usize,
}

impl Context for GzipCDecompress {
    fn memory_bytes(&self) -> usize {
        LIBINFLATE_BYTES
    }
}

impl Decompress for GzipCDecompress {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        room(content, self.content_bytes_max);
        let count = self
            .inner
            .gzip_decompress(block, &mut content[..self.content_bytes_max])
            .map_err(|error| CodecError::refused("gzip-c", error))?;
        content.truncate(count);
        Ok(())
    }
}
