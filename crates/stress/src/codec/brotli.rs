//! Brotli in Rust (feature `brotli`). Neither direction keeps a context: each call makes and drops its
//! state.

use std::io::Read;

use brotli::Decompressor;
use brotli::enc::BrotliEncoderParams;

use super::{Codec, Compress, Context, Decompress};
use crate::error::CodecError;

const NAME: &str = "brotli";
/// Bytes that the decoder reads at a time.
const READ_BYTES: usize = 4 << 10;
/// Exponents of the window sizes of the format.
const WINDOW_LOGS: std::ops::RangeInclusive<u32> = 10..=24;

/// Brotli at a quality from 0 to 11.
#[derive(Debug, Clone)]
pub struct Brotli {
    name: String,
    quality: i32,
}

impl Brotli {
    /// Brotli of this quality; a quality above 11 becomes 11, one below 0 becomes 0.
    #[must_use]
    pub fn new(quality: i32) -> Self {
        let quality = quality.clamp(0, 11);
        Self {
            name: format!("{NAME}:{quality}"),
            quality,
        }
    }
}

impl Codec for Brotli {
    fn name(&self) -> &str {
        &self.name
    }

    fn compressor(&self, content_bytes_max: usize) -> Result<Box<dyn Compress>, CodecError> {
        let log = content_bytes_max.max(1).next_power_of_two().ilog2();
        let params = BrotliEncoderParams {
            quality: self.quality,
            lgwin: log.clamp(*WINDOW_LOGS.start(), *WINDOW_LOGS.end()) as i32,
            ..BrotliEncoderParams::default()
        };
        Ok(Box::new(BrotliCompress(params)))
    }

    fn decompressor(&self, content_bytes_max: usize) -> Result<Box<dyn Decompress>, CodecError> {
        Ok(Box::new(BrotliDecompress(content_bytes_max)))
    }
}

struct BrotliCompress(BrotliEncoderParams);

/// The limit on content.
struct BrotliDecompress(usize);

impl Context for BrotliCompress {
    fn memory_bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl Context for BrotliDecompress {
    fn memory_bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl Compress for BrotliCompress {
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
        block.clear();
        let mut rest = content;
        brotli::BrotliCompress(&mut rest, block, &self.0)
            .map_err(|error| CodecError::refused(NAME, error))?;
        Ok(())
    }
}

impl Decompress for BrotliDecompress {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        content.clear();
        // One byte more shows that the limit is exceeded.
        let most = (self.0 as u64).saturating_add(1);
        Decompressor::new(block, READ_BYTES)
            .take(most)
            .read_to_end(content)
            .map_err(|error| CodecError::refused(NAME, error))?;
        match content.len() > self.0 {
            true => Err(CodecError::TooLarge {
                codec: NAME,
                limit_bytes: self.0,
            }),
            false => Ok(()),
        }
    }
}
