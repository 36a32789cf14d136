//! zstd: the C library through zstdkit (feature `zstd`).

use std::sync::{Arc, OnceLock};

use zstdkit::{Compressor, DecoderOptions, Decompressor, EncoderOptions, Recipe};

use super::{Codec, Compress, Context, Decompress};
use crate::error::CodecError;

/// A level or a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZstdSetting {
    /// A level of the library.
    Level(i32),
    /// A recipe of zstdkit, chosen by the first block that the codec gets.
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

/// zstd by zstdkit. Frames have no checksum: the run compares contents.
#[derive(Debug, Clone)]
pub struct Zstd {
    name: String,
    setting: ZstdSetting,
    /// The options that the first block led to.
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

/// Options without a checksum, which nothing would read.
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

/// A context made before the first block, which decides the settings.
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
