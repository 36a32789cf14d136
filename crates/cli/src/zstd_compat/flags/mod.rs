//! The command line of the `zstd` program, for a binary that goes by one of its names: to the same
//! plans as perfkit's own. [`words`] reads the words, [`advanced`] what follows `--zstd=`,
//! [`training`] what follows `--train`.

mod advanced;
mod training;
mod words;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use zstdkit::{DecoderOptions, EncoderOptions};

use crate::args::levels;
use crate::args::settings::ReferenceArgs;
use crate::commands::compress::flags::CompressPlan;
use crate::commands::compress::train::flags::TrainPlan;
use crate::commands::decompress::flags::{DecompressMode, DecompressPlan, limit_window};
use crate::failure::{Failure, Result};
use crate::io::plan::Place;
use crate::zstd_compat::flags::words::{Operation, Output, Words};

/// The largest and the smallest job that the library takes.
const JOB_BYTES: std::ops::RangeInclusive<u64> = 512 << 10..=1 << 30;
/// The most threads.
const THREADS_MAX: u32 = 256;

/// A name of the zstd program that a binary may go by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Zstd,
    /// With a thread a processor.
    Zstdmt,
    /// Decompresses.
    Unzstd,
    /// Decompresses to standard output, and passes on what is not compressed.
    Zstdcat,
}

impl Name {
    /// The name in the first word of a command line.
    pub(crate) fn of(program: &OsStr) -> Option<Self> {
        let name = Path::new(program).file_name()?.to_str()?;
        Some(match name.strip_suffix(".exe").unwrap_or(name) {
            "zstd" => Self::Zstd,
            "zstdmt" => Self::Zstdmt,
            "unzstd" => Self::Unzstd,
            "zstdcat" => Self::Zstdcat,
            _ => return None,
        })
    }

    /// What messages start with.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Zstdmt => "zstdmt",
            Self::Unzstd => "unzstd",
            Self::Zstdcat => "zstdcat",
        }
    }
}

/// What the environment says, as far as it has been set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    /// `ZSTD_CLEVEL`.
    pub(crate) level: Option<String>,
    /// `ZSTD_NBTHREADS`.
    pub(crate) threads: Option<String>,
}

/// What is to be done, and how much is said about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ZstdPlan {
    pub(crate) action: Action,
    /// Sources, those on [`ZstdPlan::lists`] not among them.
    pub(crate) files: Vec<PathBuf>,
    /// Files with names of sources, one a line.
    pub(crate) lists: Vec<PathBuf>,
    pub(crate) targets: Targets,
    /// Dictionary, or the older version of a patch.
    pub(crate) reference: ReferenceArgs,
    /// 0 says nothing at all, 1 errors, 2 also a line about what was done, 3 a line a file.
    pub(crate) verbosity: i32,
    pub(crate) progress: bool,
    /// What is said before the work, when anything but errors is.
    pub(crate) notes: Vec<String>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    Compress(CompressPlan),
    Decompress(DecompressPlan),
    /// Make a dictionary.
    Train(TrainPlan),
    /// Print how to use it.
    Help {
        long: bool,
    },
    /// Print the version, the bare number or a line.
    Version {
        bare: bool,
    },
}

/// Where output goes, and what happens to sources and to what is there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Targets {
    /// The name given with `-o`.
    pub(crate) output: Option<PathBuf>,
    pub(crate) stdout: bool,
    pub(crate) place: Place,
    /// Overwrite, follow symbolic links, and use terminals.
    pub(crate) force: bool,
    pub(crate) rm: bool,
    pub(crate) recursive: bool,
    /// Pass over sources that are compressed by their names.
    pub(crate) exclude_compressed: bool,
}

/// Reads a command line, the program's name first.
pub(crate) fn parse(
    name: Name,
    argv: &[std::ffi::OsString],
    variables: &Variables,
) -> Result<ZstdPlan> {
    let mut words = Words::read(name, argv, variables)?;
    let stdout = match &words.output {
        Output::Stdout => true,
        Output::File(_) => false,
        // Whoever sends something in wants it back the same way.
        Output::Beside => match words.files.as_slice() {
            [] => words.lists.is_empty(),
            [one] => one.as_os_str() == "-",
            _ => false,
        },
    };
    words.check()?;
    let verbosity = match words.verbosity {
        2 if stdout => 1,
        other => other.max(0),
    };
    let action = match (words.asked.take(), words.operation) {
        (Some(action), _) => action,
        (None, _) if words.training.asked => {
            let Words {
                training,
                files,
                output,
                ..
            } = &words;
            Action::Train(training.plan(files, output, words.force, words.recursive)?)
        }
        (None, Operation::Compress) => Action::Compress(words.compress()?),
        (None, Operation::Decompress(mode)) => Action::Decompress(words.decompress(mode, stdout)?),
    };
    Ok(ZstdPlan {
        action,
        targets: Targets {
            output: match words.output {
                Output::File(path) => Some(path),
                _ => None,
            },
            stdout,
            place: words.place,
            force: words.force,
            rm: words.rm,
            recursive: words.recursive,
            exclude_compressed: words.exclude_compressed,
        },
        files: words.files,
        lists: words.lists,
        reference: words.reference,
        verbosity,
        progress: words.progress.unwrap_or(verbosity >= 2),
        notes: words.notes,
    })
}

impl Words {
    /// Refuses what cannot be meant.
    fn check(&self) -> Result<()> {
        let stdin = self.files.iter().any(|file| file.as_os_str() == "-")
            || self.files.is_empty() && self.lists.is_empty();
        let refuse = |message: &str, help: &str| Err(Failure::new(message).help(help));
        if self.asked.is_some() || self.training.asked {
            return Ok(());
        }
        if self.operation == Operation::Decompress(DecompressMode::List) && stdin {
            return refuse("--list does not read standard input", "name files to list");
        }
        if self.reference.patch_from.is_some() {
            if self.reference.dictionary.is_some() {
                return refuse(
                    "-D and --patch-from do not go together",
                    "leave one of them out",
                );
            }
            if self.files.len() > 1 {
                return refuse(
                    "--patch-from is for one file, and several were given",
                    "make a patch a file",
                );
            }
        }
        if self.single_thread && self.rsyncable {
            return refuse(
                "--rsyncable and --single-thread do not go together",
                "leave one of them out",
            );
        }
        Ok(())
    }

    fn compress(&mut self) -> Result<CompressPlan> {
        let most = if self.ultra { 22 } else { 19 };
        let mut level = self.level;
        if level > most {
            let reason = format!("level {level} is above {most}, which is taken");
            let more = if self.ultra {
                ""
            } else {
                "; --ultra allows 20 to 22"
            };
            self.notes.push(format!("{reason}{more}"));
            level = most;
        }
        let advanced = &self.advanced;
        let window_log = advanced.window_log.or(self.long);
        let mut encoder = EncoderOptions::default()
            .with_level(level)
            .with_checksum(self.check)
            .with_content_size(self.content_size)
            .with_dictionary_id(self.dictionary_id)
            .with_window_log(window_log)
            .with_long_distance(self.long.is_some())
            .with_overlap_log(advanced.overlap_log)
            .with_parameters(advanced.parameters)
            .with_rsyncable(self.rsyncable);
        if self.block_bytes > 0 {
            let size = self.block_bytes.clamp(*JOB_BYTES.start(), *JOB_BYTES.end());
            encoder.job_size = usize::try_from(size).ok();
        }
        encoder.validate().map_err(|error| {
            Failure::new(format!("Incorrect parameter: {error}")).help(words::USAGE)
        })?;
        Ok(CompressPlan {
            encoder,
            recipe: None,
            threads: levels::threads(self.threads.unwrap_or(1).min(THREADS_MAX))?,
            file_threads: self.file_threads()?,
            stream_size: self.stream_bytes,
            verify: false,
            exclude_compressed: false,
            seekable: None,
        })
    }

    fn file_threads(&self) -> Result<u32> {
        levels::file_threads(self.threads.map(|threads| threads.min(THREADS_MAX)))
    }

    fn decompress(&self, mode: DecompressMode, stdout: bool) -> Result<DecompressPlan> {
        let mut decoder = DecoderOptions::default().with_verify_checksum(self.check);
        if let Some(log) = self.long {
            decoder.window_log_max = log;
        }
        if self.memory_bytes > 0 {
            limit_window(&mut decoder, self.memory_bytes);
        }
        decoder.validate().map_err(|error| {
            Failure::new(format!("Incorrect parameter: {error}")).help(words::USAGE)
        })?;
        let pass_through = self.pass_through.unwrap_or(self.force && stdout);
        Ok(DecompressPlan {
            decoder,
            mode,
            sparse: self.sparse,
            range: None,
            // That program decompresses on one thread. What nobody can see is done by several.
            threads: 1,
            file_threads: self.file_threads()?,
            pass_through: pass_through && mode == DecompressMode::Write,
        })
    }
}

#[cfg(test)]
mod tests;
