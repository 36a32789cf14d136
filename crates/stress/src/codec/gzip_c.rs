//! gzip (RFC 1952) by the C library libdeflate (feature `gzip-c`).

use libdeflater::{CompressionLvl, Compressor, Decompressor};

use super::{Codec, Compress, Context, Decompress, room};
use crate::error::CodecError;

/// gzip by libdeflate.
#[derive(Debug, Clone)]
pub struct GzipC {
    name: String,
    level: i32,
}

/// Memory of libdeflate by the largest of its tables; the library does not report it.
const COMPRESSOR_BYTES: usize = 640 << 10;
const DECOMPRESSOR_BYTES: usize = 12 << 10;

impl GzipC {
    /// Level 1 to 12; other levels become the nearest.
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
        COMPRESSOR_BYTES
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
        DECOMPRESSOR_BYTES
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
