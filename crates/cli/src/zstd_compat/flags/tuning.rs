//! Flags of the zstd program that change how its frames are made.

use zstdkit::EncoderOptions;

use crate::args::advanced::Advanced;
use crate::commands::compress::flags::AdaptPlan;
use crate::failure::Result;
use crate::zstd_compat::flags::values::{incorrect, signed};

/// The smallest size of compressed blocks to aim at.
const TARGET_BLOCK_BYTES_MIN: u64 = 1340;
/// The window of adapted frames, which keep it at every level.
const ADAPT_WINDOW_LOG: u32 = 23;

/// What was said about frames beyond the level.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tuning {
    pub(crate) advanced: Advanced,
    pub(crate) literals: Option<bool>,
    pub(crate) rows: Option<bool>,
    /// 0: not stated.
    pub(crate) target_block_bytes: u64,
    /// 0: not stated.
    pub(crate) size_hint: u64,
    /// The levels between which the level follows the speed of input and output.
    pub(crate) adapt: Option<AdaptPlan>,
}

impl Tuning {
    /// Applies a flag without a value; returns whether `key` is one.
    pub(super) fn switch(&mut self, key: &str) -> bool {
        match key {
            "--row-match-finder" => self.rows = Some(true),
            "--no-row-match-finder" => self.rows = Some(false),
            "--compress-literals" => self.literals = Some(true),
            "--no-compress-literals" => self.literals = Some(false),
            "--adapt" => self.adapt = Some(self.adapt.unwrap_or_default()),
            _ => return false,
        }
        true
    }

    /// Reads the levels of `--adapt=min=1,max=19`.
    pub(super) fn adapts(&mut self, list: &str, word: &str) -> Result<()> {
        let mut adapt = self.adapt.unwrap_or_default();
        for part in list.split(',') {
            let (key, value) = part.split_once('=').ok_or_else(|| incorrect(word))?;
            let level = signed(value).ok_or_else(|| incorrect(word))?;
            match key {
                "min" => adapt.min = level,
                "max" => adapt.max = level,
                _ => return Err(incorrect(word)),
            }
        }
        if adapt.min > adapt.max {
            return Err(incorrect(word));
        }
        self.adapt = Some(adapt);
        Ok(())
    }

    /// Sets all that was said; `long` is the window of `--long`, with 0 for the usual one.
    pub(super) fn apply(&self, encoder: &mut EncoderOptions, long: Option<u32>) {
        encoder.window_log = long.filter(|&log| log > 0);
        encoder.long_distance = long.is_some();
        self.advanced.apply(encoder);
        encoder.literals = self.literals;
        encoder.row_match_finder = self.rows;
        if self.target_block_bytes > 0 {
            let bytes = self.target_block_bytes.max(TARGET_BLOCK_BYTES_MIN);
            encoder.target_block_bytes = Some(u32::try_from(bytes).unwrap_or(u32::MAX));
        }
        encoder.size_hint = Some(self.size_hint).filter(|&bytes| bytes > 0);
        if self.adapt.is_some() && !encoder.long_distance && encoder.window_log.is_none() {
            encoder.window_log = Some(ADAPT_WINDOW_LOG);
        }
    }
}
