//! Settings that only xz, lzma or lz4 have.

use std::num::NonZeroU64;

use lzma_rust2::{EncodeMode, LzmaOptions, MfType};

/// All of them; each format takes its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PackSettings {
    /// The checksum of xz blocks.
    pub(crate) check: Check,
    /// Content per xz block, at most.
    pub(crate) block_bytes: Option<NonZeroU64>,
    pub(crate) lzma: LzmaSettings,
    pub(crate) lz4: Lz4Settings,
}

/// The checksum of xz blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Check {
    None,
    Crc32,
    #[default]
    Crc64,
    Sha256,
}

/// Settings of LZMA, where they differ from those of the level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LzmaSettings {
    /// Whether it searches for longer.
    pub(crate) extreme: bool,
    pub(crate) dictionary_bytes: Option<u32>,
    pub(crate) lc: Option<u32>,
    pub(crate) lp: Option<u32>,
    pub(crate) pb: Option<u32>,
    pub(crate) fast: Option<bool>,
    pub(crate) nice: Option<u32>,
    pub(crate) hash_chain: Option<bool>,
    pub(crate) depth: Option<i32>,
}

impl LzmaSettings {
    /// The settings of a level with these in their place.
    pub(crate) fn options(self, level: u32) -> LzmaOptions {
        let mut options = LzmaOptions::with_preset(level);
        if self.extreme {
            options.mode = EncodeMode::Normal;
            options.mf = MfType::Bt4;
            (options.nice_len, options.depth_limit) = match level {
                3 | 5 => (192, 0),
                _ => (LzmaOptions::NICE_LEN_MAX, 512),
            };
        }
        options.dict_size = self.dictionary_bytes.unwrap_or(options.dict_size);
        options.lc = self.lc.unwrap_or(options.lc);
        options.lp = self.lp.unwrap_or(options.lp);
        options.pb = self.pb.unwrap_or(options.pb);
        options.nice_len = self.nice.unwrap_or(options.nice_len);
        options.depth_limit = self.depth.unwrap_or(options.depth_limit);
        match self.fast {
            Some(true) => options.mode = EncodeMode::Fast,
            Some(false) => options.mode = EncodeMode::Normal,
            None => {}
        }
        match self.hash_chain {
            Some(true) => options.mf = MfType::Hc4,
            Some(false) => options.mf = MfType::Bt4,
            None => {}
        }
        options
    }
}

/// Settings of lz4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lz4Settings {
    /// 4 to 7: 64 KiB, 256 KiB, 1 MiB, 4 MiB.
    pub(crate) block: u8,
    /// Whether blocks refer to those before them.
    pub(crate) linked: bool,
    /// Whether each block has a checksum.
    pub(crate) block_sums: bool,
    /// Faster than level 1 by so much; 0: by the level.
    pub(crate) acceleration: u32,
    pub(crate) favors_decoding: bool,
    /// Whether the legacy format is written.
    pub(crate) legacy: bool,
}

impl Default for Lz4Settings {
    fn default() -> Self {
        Self {
            block: 7,
            linked: false,
            block_sums: false,
            acceleration: 0,
            favors_decoding: false,
            legacy: false,
        }
    }
}
