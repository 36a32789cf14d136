//! zstd: the C library through zstdkit, and the one written in Rust.

use std::sync::{Arc, OnceLock};

use ruzstd::decoding::FrameDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use zstdkit::{Compressor, DecoderOptions, Decompressor, EncoderOptions, Recipe};

use super::{Codec, Compress, Context, Decompress};
use crate::error::CodecError;

/// A level or a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZstdSetting {
    /// A level of the library.
    Level(i32),
    /// A recipe of zstdkit, with a look at the first block that the codec is given.
    Recipe(Recipe),
}

impl ZstdSetting {
    /// Reads a level or the name of a recipe.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text.parse::<i32>() {
            Ok(level) => EncoderOptions::levels()
                .contains(&level)
                .then_some(Self::Level(level)),
            Err(_) => text.parse().ok().map(Self::Recipe),
        }
    }
}

/// zstd by zstdkit. Frames have no checksum: the run compares contents itself.
#[derive(Debug, Clone)]
pub struct Zstd {
    name: String,
    setting: ZstdSetting,
    /// What the look at the first block came to.
    looked: Arc<OnceLock<EncoderOptions>>,
}

impl Zstd {
    /// zstd with this setting.
    #[must_use]
    pub fn new(setting: ZstdSetting) -> Self {
        let name = match setting {
            ZstdSetting::Level(level) => format!("zstd:{level}"),
            ZstdSetting::Recipe(recipe) => format!("zstd:{recipe}"),
        };
        Self {
            name,
            setting,
            looked: Arc::default(),
        }
    }
}

/// Options without a checksum, at which nobody looks.
fn bare(options: EncoderOptions) -> EncoderOptions {
    options.with_checksum(false)
}

impl Codec for Zstd {
    fn name(&self) -> &str {
        &self.name
    }

    fn compressor(&self, content_bytes_max: usize) -> Result<Box<dyn Compress>, CodecError> {
        let options = match (self.setting, self.looked.get()) {
            (ZstdSetting::Level(level), _) => &bare(EncoderOptions::default().with_level(level)),
            (ZstdSetting::Recipe(_), Some(options)) => options,
            (ZstdSetting::Recipe(recipe), None) => {
                return Ok(Box::new(Looking {
                    recipe,
                    content_bytes_max,
                    looked: self.looked.clone(),
                    inner: None,
                }));
            }
        };
        Ok(Box::new(ZstdCompress(Compressor::new(options)?)))
    }

    fn decompressor(&self, content_bytes_max: usize) -> Result<Box<dyn Decompress>, CodecError> {
        let options = DecoderOptions::default().with_output_limit(content_bytes_max as u64);
        Ok(Box::new(ZstdDecompress(Decompressor::new(&options)?)))
    }
}

struct ZstdCompress(Compressor);

impl Context for ZstdCompress {
    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

impl Compress for ZstdCompress {
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
        self.0.compress_into(content, block)?;
        Ok(())
    }
}

/// Made before the first block was seen, which decides the settings.
struct Looking {
    recipe: Recipe,
    content_bytes_max: usize,
    looked: Arc<OnceLock<EncoderOptions>>,
    inner: Option<ZstdCompress>,
}

impl Context for Looking {
    fn memory_bytes(&self) -> usize {
        self.inner.as_ref().map_or(0, Context::memory_bytes)
    }
}

impl Compress for Looking {
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
        let inner = match &mut self.inner {
            Some(inner) => inner,
            none => {
                let bytes = Some(self.content_bytes_max as u64);
                let look = || bare(self.recipe.options_for(content, bytes));
                let options = self.looked.get_or_init(look);
                none.insert(ZstdCompress(Compressor::new(options)?))
            }
        };
        inner.compress(content, block)
    }
}

struct ZstdDecompress(Decompressor);

impl Context for ZstdDecompress {
    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

impl Decompress for ZstdDecompress {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        self.0.decompress_into(block, content)?;
        Ok(())
    }
}

/// zstd in Rust (ruzstd), at its one level. Its encoder has no context to keep.
#[derive(Debug, Clone, Copy)]
pub struct ZstdRust;

const RUST: &str = "zstd-rust";
/// What its decoder holds at least, by its tables; it does not say.
const RUST_DECODER_BYTES: usize = 128 << 10;

impl Codec for ZstdRust {
    fn name(&self) -> &str {
        RUST
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

/// Frames that ask for a larger window are refused, unless blocks are larger.
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
        RUST_DECODER_BYTES
    }
}

impl Decompress for RustDecompress {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        super::room(content, self.content_bytes_max);
        let count = self
            .inner
            .decode_all(block, &mut content[..self.content_bytes_max])
            .map_err(|error| CodecError::refused(RUST, error))?;
        content.truncate(count);
        Ok(())
    }
}
