//! Parses `--train` and related flags.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use zstdkit::EncoderOptions;
use zstdkit::dictionary::{Cover, TrainMethod};

use crate::commands::compress::train::flags::{self, TrainPlan};
use crate::failure::{Failure, Result};
use crate::zstd_compat::flags::values::{incorrect, whole};

/// The default file of a dictionary.
const NAME: &str = "dictionary";
/// The selectivity of the legacy algorithm.
const SELECTIVITY: u32 = 9;
/// What other flags say about the training.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Whether an existing file is replaced.
    pub(super) force: bool,
    /// Whether directories are walked.
    pub(super) recursive: bool,
    /// The level that the dictionary is for.
    pub(super) level: i32,
    /// Files are cut into samples of this size; 0: each is one.
    pub(super) sample_bytes: u64,
    /// The most that is read; 0: the usual limit.
    pub(super) memory_bytes: u64,
}

/// The request to train a dictionary.
#[derive(Debug, Clone)]
pub(crate) struct Training {
    pub(crate) asked: bool,
    /// Its largest size, in bytes.
    pub(crate) size_bytes: Option<u64>,
    /// Its id; 0 lets us choose.
    pub(crate) id: u32,
    /// How selective the legacy algorithm is.
    pub(crate) selectivity: u32,
    pub(crate) method: TrainMethod,
}

impl Default for Training {
    fn default() -> Self {
        Self {
            asked: false,
            size_bytes: None,
            id: 0,
            selectivity: SELECTIVITY,
            // What the program itself starts from.
            method: TrainMethod::FastCover(
                Cover::default()
                    .with_d(8)
                    .with_f(20)
                    .with_steps(4)
                    .with_split_percent(75)
                    .with_accel(1),
            ),
        }
    }
}

impl Training {
    /// Requests a dictionary by one of the algorithms; `word` is the whole argument.
    pub(super) fn ask(&mut self, key: &str, settings: Option<&str>, word: &str) -> Result<()> {
        self.asked = true;
        let incorrect = || incorrect(word);
        let cover = match (key, settings) {
            ("--train", None) => return Ok(()),
            ("--train-legacy", settings) => {
                if let Some(text) = settings {
                    let value = text.strip_prefix("selectivity=");
                    let value = value.or_else(|| text.strip_prefix("s="));
                    self.selectivity = value.and_then(whole).ok_or_else(incorrect)?;
                }
                let selectivity = self.selectivity;
                self.method = TrainMethod::Legacy { selectivity };
                return Ok(());
            }
            ("--train-cover" | "--train-fastcover", None) => Cover::default(),
            ("--train-cover" | "--train-fastcover", Some(list)) => {
                cover(list, key == "--train-fastcover").ok_or_else(incorrect)?
            }
            _ => return Err(incorrect()),
        };
        self.method = match key {
            "--train-cover" => TrainMethod::Cover(cover),
            _ => TrainMethod::FastCover(cover),
        };
        Ok(())
    }

    /// The plan to train on `files`; the dictionary goes to `output`, or to a file with the default name.
    pub(crate) fn plan(
        &self,
        files: &[PathBuf],
        output: Option<&Path>,
        bounds: Bounds,
    ) -> Result<TrainPlan> {
        if files.iter().any(|file| file.as_os_str() == "-") {
            return Err(Failure::new("--train does not read standard input")
                .help("name files; each is one sample"));
        }
        let output = match output {
            Some(path) if files::target::is_stdout(path) => {
                return Err(
                    Failure::new("a dictionary cannot go to standard output").help("add -o FILE")
                );
            }
            Some(path) => path.to_owned(),
            None => NAME.into(),
        };
        Ok(TrainPlan {
            // Files on lists are added when the lists are read.
            files: files.to_vec(),
            output,
            force: bounds.force,
            recursive: bounds.recursive,
            size_bytes: flags::size(self.size_bytes)?,
            id: NonZeroU32::new(self.id),
            encoder: EncoderOptions::default().with_level(bounds.level),
            judged: false,
            method: Some(match self.method {
                TrainMethod::Legacy { .. } => TrainMethod::Legacy {
                    selectivity: self.selectivity,
                },
                other => other,
            }),
            sample_bytes: Some(bounds.sample_bytes).filter(|&bytes| bytes > 0),
            samples_bytes_max: Some(bounds.memory_bytes).filter(|&bytes| bytes > 0),
        })
    }
}

/// Settings such as `k=200,d=8,steps=4`; `fast`: of the fast algorithm, which has more of them.
fn cover(list: &str, fast: bool) -> Option<Cover> {
    let mut cover = Cover::default();
    for part in list.split(',') {
        let (key, value) = match part.split_once('=') {
            Some((key, value)) => (key, whole(value)?),
            // The least that a smaller dictionary may be worse by, in percent.
            None if part == "shrink" => (part, 1),
            None => return None,
        };
        match key {
            "k" => cover.k = value,
            "d" => cover.d = value,
            "f" if fast => cover.f = value,
            "accel" if fast => cover.accel = value,
            "steps" => cover.steps = value,
            "split" => cover.split_percent = value,
            "shrink" => cover.shrink = Some(value),
            _ => return None,
        }
    }
    Some(cover)
}
