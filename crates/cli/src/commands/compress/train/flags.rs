//! Flags of `compress --train`, and what they come to.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use zstdkit::EncoderOptions;

use crate::args::units;
use crate::failure::{Failure, Result};

/// The size of a dictionary that was not asked for, as the zstd program has it.
const SIZE_BYTES: u64 = 110 << 10;

/// Flags on making a dictionary.
#[derive(Debug, Clone, Args)]
pub(crate) struct TrainArgs {
    /// Make a dictionary out of FILEs, samples of what will be compressed, into -o DICT
    #[arg(long, requires = "output", conflicts_with_all = ["stdout", "rm", "dictionary", "patch_from", "recipe", "stream_size"])]
    pub(crate) train: bool,
    /// The most that the dictionary may take, 110K unless given
    #[arg(long, value_name = "SIZE", value_parser = units::size, requires = "train", hide_short_help = true)]
    maxdict: Option<u64>,
    /// The number that frames will name it by
    #[arg(long, value_name = "N", requires = "train", hide_short_help = true)]
    dict_id: Option<NonZeroU32>,
}

/// What to make a dictionary of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrainPlan {
    /// Samples, and directories of them.
    pub(crate) files: Vec<PathBuf>,
    /// The dictionary's file.
    pub(crate) output: PathBuf,
    /// Whether an existing one is replaced.
    pub(crate) force: bool,
    /// Whether directories are walked.
    pub(crate) recursive: bool,
    /// The most bytes that it may take.
    pub(crate) size_bytes: usize,
    /// Its number.
    pub(crate) id: Option<NonZeroU32>,
    /// What will be compressed with it.
    pub(crate) encoder: EncoderOptions,
    /// Whether samples are kept back to choose the best of several by, and to say what it is worth.
    pub(crate) judged: bool,
}

/// The size of a dictionary, in bytes.
pub(crate) fn size(asked: Option<u64>) -> Result<usize> {
    let size = asked.unwrap_or(SIZE_BYTES);
    if !(256..=128 << 20).contains(&size) {
        return Err(Failure::usage(format!("--maxdict={size} is out of range"))
            .help("a dictionary has between 256 bytes and 128M"));
    }
    Ok(usize::try_from(size).unwrap_or(usize::MAX))
}

impl TrainArgs {
    /// The size, and the number.
    pub(crate) fn dictionary(&self) -> Result<(usize, Option<NonZeroU32>)> {
        Ok((size(self.maxdict)?, self.dict_id))
    }
}
