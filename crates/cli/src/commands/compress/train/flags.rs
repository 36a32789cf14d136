//! Flags of `compress --train`, and the plan that they give.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use zstdkit::EncoderOptions;
use zstdkit::dictionary::TrainMethod;

use crate::args::units;
use crate::failure::{Failure, Result};

/// Default size of a dictionary, that of the zstd program.
const SIZE_BYTES: u64 = 110 << 10;

/// Flags for training a dictionary.
#[derive(Debug, Clone, Args)]
pub(crate) struct TrainArgs {
    /// Train a dictionary on FILEs, samples of what will be compressed; -o names it
    #[arg(long, requires = "output", conflicts_with_all = ["stdout", "rm", "dictionary", "patch_from", "recipe", "stream_size"])]
    pub(crate) train: bool,
    /// Largest size of the dictionary, 110K by default
    #[arg(long, value_name = "SIZE", value_parser = units::size, requires = "train", hide_short_help = true)]
    maxdict: Option<u64>,
    /// Id of the dictionary, which frames refer to
    #[arg(long, value_name = "N", requires = "train", hide_short_help = true)]
    dict_id: Option<NonZeroU32>,
}

/// What to train a dictionary on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrainPlan {
    /// Samples, and directories of them.
    pub(crate) files: Vec<PathBuf>,
    /// The dictionary's file.
    pub(crate) output: PathBuf,
    /// Whether an existing file is replaced.
    pub(crate) force: bool,
    /// Whether directories are walked.
    pub(crate) recursive: bool,
    /// Its largest size, in bytes.
    pub(crate) size_bytes: usize,
    /// Its id.
    pub(crate) id: Option<NonZeroU32>,
    /// What will be compressed with it.
    pub(crate) encoder: EncoderOptions,
    /// Whether some samples are held out to choose the best of several and to measure its worth.
    pub(crate) judged: bool,
    /// By which algorithm; `None`: by the usual one, with several sizes.
    pub(crate) method: Option<TrainMethod>,
    /// Files are cut into samples of this size; `None`: the start of each is one.
    pub(crate) sample_bytes: Option<u64>,
    /// The most that is read of all samples, below the usual limit.
    pub(crate) samples_bytes_max: Option<u64>,
}

/// The size of a dictionary, in bytes.
pub(crate) fn size(asked: Option<u64>) -> Result<usize> {
    let size = asked.unwrap_or(SIZE_BYTES);
    if !(256..=128 << 20).contains(&size) {
        return Err(Failure::usage(format!("--maxdict={size} is out of range"))
            .help("choose a size between 256 bytes and 128M"));
    }
    Ok(usize::try_from(size).unwrap_or(usize::MAX))
}

impl TrainArgs {
    /// The size and the id.
    pub(crate) fn dictionary(&self) -> Result<(usize, Option<NonZeroU32>)> {
        Ok((size(self.maxdict)?, self.dict_id))
    }
}
