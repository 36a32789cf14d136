//! Turns a parsed command line into perfkit's own plans.

use std::path::{Path, PathBuf};

use files::plan::Place;
use zstdkit::{DecoderOptions, EncoderOptions};

use crate::args::levels;
use crate::args::settings::ReferenceArgs;
use crate::commands::compress::flags::{CompressPlan, GzipNames};
use crate::commands::compress::train::flags::TrainPlan;
use crate::commands::decompress::flags::{DecompressMode, DecompressPlan, limit_window};
use crate::commands::formats::Format;
use crate::failure::{Failure, Result};
use crate::zstd_compat::flags::parse::{Asked, CommandLine, Operation, Output};
use crate::zstd_compat::flags::program::{Name, Variables};
use crate::zstd_compat::flags::values::USAGE;

/// The largest and the smallest job size of the library.
const JOB_BYTES: std::ops::RangeInclusive<u64> = 512 << 10..=1 << 30;
/// The most threads.
const THREADS_MAX: u32 = 256;

/// What to do, and how much to print about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ZstdPlan {
    pub(crate) action: Action,
    /// Sources, without those on [`ZstdPlan::lists`].
    pub(crate) files: Vec<PathBuf>,
    /// Files with names of sources, one per line.
    pub(crate) lists: Vec<PathBuf>,
    pub(crate) targets: Targets,
    /// Dictionary, or the older version for a patch.
    pub(crate) reference: ReferenceArgs,
    /// 0: nothing; 1: errors; 2: also a line about the result; 3: a line per file.
    pub(crate) verbosity: i32,
    pub(crate) progress: bool,
    /// Notes to print before the work, if more than errors is printed.
    pub(crate) notes: Vec<String>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    Compress(CompressPlan),
    Decompress(DecompressPlan),
    /// Train a dictionary.
    Train(TrainPlan),
    /// Print the help.
    Help {
        long: bool,
    },
    /// Print the version: only the number, or a line.
    Version {
        bare: bool,
    },
}

/// Where output goes, and what happens to sources and existing targets.
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
    /// Skip sources whose name has the suffix of a compressed file.
    pub(crate) exclude_compressed: bool,
}

/// Parses a command line, including the program's name.
pub(crate) fn parse(
    name: Name,
    argv: &[std::ffi::OsString],
    variables: &Variables,
) -> Result<ZstdPlan> {
    let mut line = CommandLine::read(name, argv, variables)?;
    let stdout = match &line.output {
        Output::Stdout => true,
        Output::File(_) => false,
        // A program that pipes data in expects the result in a pipe, too.
        Output::PerInput => match line.files.as_slice() {
            [] => line.lists.is_empty(),
            [one] => one.as_os_str() == "-",
            _ => false,
        },
    };
    line.check()?;
    let verbosity = match line.verbosity {
        2 if stdout => 1,
        other => other.max(0),
    };
    let action = match (line.asked.take(), line.operation) {
        (Some(Asked::Help { long }), _) => Action::Help { long },
        (Some(Asked::Version { bare }), _) => Action::Version { bare },
        (None, _) if line.training.asked => {
            let output = &line.output;
            let output = match output {
                Output::File(path) => Some(path.as_path()),
                Output::PerInput => None,
                Output::Stdout => Some(Path::new("-")),
            };
            let (force, recursive) = (line.force, line.recursive);
            Action::Train(line.training.plan(&line.files, output, force, recursive)?)
        }
        (None, Operation::Compress) => Action::Compress(line.compress()?),
        (None, Operation::Decompress(mode)) => Action::Decompress(line.decompress(mode, stdout)?),
    };
    Ok(ZstdPlan {
        action,
        targets: Targets {
            output: match line.output {
                Output::File(path) => Some(path),
                _ => None,
            },
            stdout,
            place: line.place,
            force: line.force,
            rm: line.rm,
            recursive: line.recursive,
            exclude_compressed: line.exclude_compressed,
        },
        files: line.files,
        lists: line.lists,
        reference: line.reference,
        verbosity,
        progress: line.progress.unwrap_or(verbosity >= 2),
        notes: line.notes,
    })
}

impl CommandLine {
    /// Refuses contradictions.
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
                    "--patch-from needs exactly one file, but several were named",
                    "make one patch per file",
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
        if self.format != Format::Zstd {
            let levels = self.format.levels();
            level = level.clamp(*levels.start(), *levels.end());
        } else if level > most {
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
        encoder
            .validate()
            .map_err(|error| Failure::new(format!("Incorrect parameter: {error}")).help(USAGE))?;
        Ok(CompressPlan {
            format: self.format,
            gzip_names: GzipNames::default(),
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
        decoder
            .validate()
            .map_err(|error| Failure::new(format!("Incorrect parameter: {error}")).help(USAGE))?;
        let pass_through = self.pass_through.unwrap_or(self.force && stdout);
        Ok(DecompressPlan {
            decoder,
            mode,
            sparse: self.sparse,
            range: None,
            // That program decompresses with one thread. Small files in parallel give the same result.
            threads: 1,
            file_threads: self.file_threads()?,
            pass_through: pass_through && mode == DecompressMode::Write,
            skips_trailing: false,
        })
    }
}
