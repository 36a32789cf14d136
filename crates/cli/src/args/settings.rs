//! Flags for codec settings: recipes, blocks and jobs, and the data that frames refer back to.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use files::conflicts::Files;
use zstdkit::{EncoderOptions, Recipe};

use crate::args::units;
use crate::failure::{Failure, Result};

/// Another program's meaning of recipe names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    /// ExZstandard's: a strategy over the parameters of one level
    Exzstandard,
}

/// Flags on how to compress, beyond the level.
#[derive(Debug, Clone, Args)]
pub(crate) struct SettingArgs {
    /// Choose settings by purpose, in place of a level
    ///
    /// fast, balanced, binary, text, structured_data, maximum, or auto, which chooses by the start of
    /// each file. If a level is given too, it sets how hard to try.
    #[arg(long, value_name = "NAME", overrides_with_all = ["recipe", "_no_recipe"])]
    recipe: Option<Recipe>,
    #[arg(long = "no-recipe", overrides_with = "recipe", hide = true)]
    _no_recipe: bool,
    /// Interpret recipe names as another program does
    #[arg(
        long,
        value_enum,
        value_name = "PROGRAM",
        requires = "recipe",
        hide_short_help = true
    )]
    recipe_compat: Option<Compat>,
    /// Largest content of a block, 1K to 128K
    ///
    /// Smaller blocks make calls shorter and the ratio worse.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = units::size,
        overrides_with = "block_size",
        hide_short_help = true
    )]
    block_size: Option<u64>,
    /// Input that a thread compresses at a time
    #[arg(
        short_alias = 'B',
        long,
        value_name = "SIZE",
        value_parser = units::size,
        overrides_with = "job_size",
        hide_short_help = true
    )]
    job_size: Option<u64>,
    /// Limit changes of the output to where the input changed, for rsync; zstd and gzip files
    #[arg(long, overrides_with = "_no_rsyncable", hide_short_help = true)]
    rsyncable: bool,
    #[arg(long = "no-rsyncable", overrides_with = "rsyncable", hide = true)]
    _no_rsyncable: bool,
}

/// Flags for data that frames refer back to, in both directions.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ReferenceArgs {
    /// Use FILE as dictionary; decompression needs the same one
    #[arg(
        short = 'D',
        long = "dictionary",
        value_name = "FILE",
        overrides_with = "dictionary",
        conflicts_with = "patch_from"
    )]
    pub(crate) dictionary: Option<PathBuf>,
    /// Refer back to FILE, an older version; decompression needs it too
    #[arg(
        long,
        value_name = "FILE",
        overrides_with = "patch_from",
        hide_short_help = true
    )]
    pub(crate) patch_from: Option<PathBuf>,
}

impl ReferenceArgs {
    /// Adds what is read to `files`.
    pub(crate) fn files<'a>(&'a self, files: Files<'a>) -> Files<'a> {
        files
            .reads_some("--dictionary", &self.dictionary)
            .reads_some("--patch-from", &self.patch_from)
    }
}

/// A recipe as asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecipePlan {
    /// Which one.
    pub(crate) recipe: Recipe,
    /// The level, where one was given as well.
    pub(crate) level: Option<i32>,
    /// Whether the names mean what they mean elsewhere.
    pub(crate) compat: Option<Compat>,
}

impl RecipePlan {
    /// The settings for content that starts with `first` and has this size.
    pub(crate) fn options(&self, first: &[u8], content_bytes: Option<u64>) -> EncoderOptions {
        if let (None, None) = (self.compat, self.level) {
            return self.recipe.options_for(first, content_bytes);
        }
        let recipe = match self.recipe {
            Recipe::Auto => Recipe::choose(first, content_bytes),
            named => named,
        };
        match (self.compat, self.level) {
            (None, Some(level)) => recipe.options_at_level(level, content_bytes),
            (_, level) => recipe.exzstandard(level),
        }
    }
}

impl SettingArgs {
    /// The recipe, with the level if one was given too.
    pub(crate) fn recipe(&self, level: Option<i32>) -> Option<RecipePlan> {
        self.recipe.map(|recipe| RecipePlan {
            recipe,
            level,
            compat: self.recipe_compat,
        })
    }

    /// Sets what does not depend on the content.
    pub(crate) fn apply(&self, options: &mut EncoderOptions) -> Result<()> {
        if let Some(size) = self.block_size {
            if !(1 << 10..=128 << 10).contains(&size) {
                return Err(
                    Failure::usage(format!("--block-size={size} is out of range"))
                        .help("choose a size between 1K and 128K"),
                );
            }
            options.block_bytes_max = u32::try_from(size).ok();
        }
        if let Some(size) = self.job_size {
            if !(512 << 10..=1 << 30).contains(&size) {
                return Err(Failure::usage(format!("--job-size={size} is out of range"))
                    .help("choose a size between 512K and 1G"));
            }
            options.job_size = usize::try_from(size).ok();
        }
        options.rsyncable = self.rsyncable;
        Ok(())
    }
}
