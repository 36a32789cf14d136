//! zstd in Rust (ruzstd, feature `zstd-rust`).

use ruzstd::decoding::FrameDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::{Codec, Compress, Context, Decompress, room};
use crate::error::CodecError;

/// zstd in Rust (ruzstd), at its only level. Its encoder keeps no context.
#[derive(Debug, Clone, Copy)]
pub struct ZstdRust;

const NAME: &str = "zstd-rust";
/// Memory of its decoder by its tables; the crate does not report it.
const DECODER_BYTES: usize = 128 << 10;

impl Codec for ZstdRust {
    fn name(&self) -> &str {
        NAME
    }

    fn compressor(&self, _content_bytes_max: usize) -> Result<Box<dyn Compress>, CodecError> {
        Ok(Box::new(RustCompress))
    }

    fn decompressor(&self, content_bytes_max: usize) -> Result<Box<dyn Decompress>, CodecError> {
        let mut inner = FrameDecoder::new();
        inner.set_max_window_size(WINDOW_BYTES_MAX.max(content_bytes_max as u64));
        Ok(Box::new(RustDecompress {
            inner,
            content_bytes_max,
        }))
    }
}

/// Frames with a larger window are refused, unless blocks are larger.
const WINDOW_BYTES_MAX: u64 = 8 << 20;

struct RustCompress;

impl Context for RustCompress {
    fn memory_bytes(&self) -> usize {
        0
    }
}

impl Compress for RustCompress {
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
        *block = compress_to_vec(content, CompressionLevel::Fastest);
        Ok(())
    }
}

struct RustDecompress {
    inner: FrameDecoder,
    content_bytes_max: usize,
}

impl Context for RustDecompress {
    fn memory_bytes(&self) -> usize {
        DECODER_BYTES
    }
}

impl Decompress for RustDecompress {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        room(content, self.content_bytes_max);
        let count = self
            .inner
            .decode_all(block, &mut content[..self.content_bytes_max])
            .map_err(|error| CodecError::refused(NAME, error))?;
        content.truncate(count);
        Ok(())
    }
}
