//! Parses `--train` and related flags.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use zstdkit::EncoderOptions;

use crate::commands::compress::train::flags::{self, TrainPlan};
use crate::failure::{Failure, Result};

/// The default file of a dictionary.
const NAME: &str = "dictionary";
/// The parameters of the fast cover algorithm; no other values are supported.
const FIXED: [&str; 5] = ["d=8", "f=20", "steps=4", "split=75", "accel=1"];

/// The request to train a dictionary.
#[derive(Debug, Clone, Default)]
pub(crate) struct Training {
    pub(crate) asked: bool,
    /// Its largest size, in bytes.
    pub(crate) size_bytes: Option<u64>,
    /// Its id; 0 lets us choose.
    pub(crate) id: u32,
}

impl Training {
    /// Requests a dictionary by one of the algorithms; returns a note about it.
    pub(crate) fn ask(&mut self, key: &str, settings: Option<&str>) -> Result<Option<String>> {
        self.asked = true;
        let other = settings.unwrap_or_default().split(',');
        let mut other = other.filter(|one| !one.is_empty() && !FIXED.contains(one));
        if let Some(setting) = other.next() {
            return Err(
                Failure::new(format!("{key}={setting}: these settings cannot be chosen")).help(
                    "leave them out; `perfkit compress --train` tries several and keeps the best",
                ),
            );
        }
        let differs = matches!(key, "--train-cover" | "--train-legacy");
        Ok(differs.then(|| format!("{key}: the fast cover algorithm is used in its place")))
    }

    /// The plan to train on `files`; the dictionary goes to `output`, or to a file with the default name.
    pub(crate) fn plan(
        &self,
        files: &[PathBuf],
        output: Option<&Path>,
        force: bool,
        recursive: bool,
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
            force,
            recursive,
            size_bytes: flags::size(self.size_bytes)?,
            id: NonZeroU32::new(self.id),
            encoder: EncoderOptions::default(),
            judged: false,
        })
    }
}
