//! What follows `--train` and its relatives: samples to a dictionary.

use std::num::NonZeroU32;
use std::path::PathBuf;

use zstdkit::EncoderOptions;

use crate::commands::compress::train::flags::{self, TrainPlan};
use crate::failure::{Failure, Result};
use crate::zstd_compat::flags::words::Output;

/// The file of a dictionary that was not named.
const NAME: &str = "dictionary";
/// What the fast cover algorithm is given: other values cannot be chosen.
const FIXED: [&str; 5] = ["d=8", "f=20", "steps=4", "split=75", "accel=1"];

/// What was said about a dictionary to make.
#[derive(Debug, Clone, Default)]
pub(crate) struct Training {
    pub(crate) asked: bool,
    /// The most bytes that it may take.
    pub(crate) size_bytes: Option<u64>,
    /// Its number; 0 leaves the choice to us.
    pub(crate) id: u32,
}

impl Training {
    /// Asks for a dictionary by one of the algorithms; what to say about that.
    pub(crate) fn ask(&mut self, key: &str, settings: Option<&str>) -> Result<Option<String>> {
        self.asked = true;
        let other = settings.unwrap_or_default().split(',');
        let mut other = other.filter(|one| !one.is_empty() && !FIXED.contains(one));
        if let Some(setting) = other.next() {
            return Err(
                Failure::new(format!("{key}={setting}: this cannot be chosen here"))
                    .help("leave it out; perfkit compress --train tries several and judges them"),
            );
        }
        let differs = matches!(key, "--train-cover" | "--train-legacy");
        Ok(differs.then(|| format!("{key}: the fast cover algorithm is used in its place")))
    }

    /// The dictionary to make of `files`.
    pub(crate) fn plan(
        &self,
        files: &[PathBuf],
        output: &Output,
        force: bool,
        recursive: bool,
    ) -> Result<TrainPlan> {
        if files.iter().any(|file| file.as_os_str() == "-") {
            return Err(Failure::new("--train does not read standard input")
                .help("name files, one a sample"));
        }
        let output = match output {
            Output::File(path) if crate::io::target::is_stdout(path) => None,
            Output::File(path) => Some(path.clone()),
            Output::Beside => Some(NAME.into()),
            Output::Stdout => None,
        };
        let output = output.ok_or_else(|| {
            Failure::new("standard output is no place for a dictionary").help("add -o FILE")
        })?;
        Ok(TrainPlan {
            // Those on lists are added when they are read.
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
