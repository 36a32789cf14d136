//! Turns a parsed command line into perfkit's own plans.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use files::plan::Place;
use zstdkit::{DecoderOptions, EncoderOptions};

use crate::args::levels;
use crate::args::settings::ReferenceArgs;
use crate::commands::compress::flags::{CompressPlan, GzipNames};
use crate::commands::compress::train::flags::TrainPlan;
use crate::commands::decompress::flags::{DecompressMode, DecompressPlan, limit_window};
use crate::commands::formats::Format;
use crate::commands::formats::settings::PackSettings;
use crate::failure::{Failure, Result};
use crate::zstd_compat::bench::BenchPlan;
use crate::zstd_compat::cores;
use crate::zstd_compat::flags::parse::{Asked, CommandLine, Operation, Output};
use crate::zstd_compat::flags::program::{Name, Variables};
use crate::zstd_compat::flags::training::Bounds;
use crate::zstd_compat::flags::values::USAGE;

/// The largest and the smallest job size of the library.
const JOB_BYTES: std::ops::RangeInclusive<u64> = 512 << 10..=1 << 30;
/// The largest block.
const BLOCK_BYTES: u64 = 128 << 10;
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
    /// Whether the settings of the level are printed for each file.
    pub(crate) shows_settings: bool,
    /// Where a line about each file goes.
    pub(crate) trace: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    Compress(CompressPlan),
    Decompress(DecompressPlan),
    /// Measure levels.
    Bench(BenchPlan),
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
    if name.names_target() {
        line.choose_by_name();
        line.name_target()?;
    }
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
            let bounds = Bounds {
                force: line.force,
                recursive: line.recursive,
                level: line.level.clamp(-131_072, 22),
                sample_bytes: line.block_bytes,
                memory_bytes: line.memory_bytes,
            };
            Action::Train(line.training.plan(&line.files, output, bounds)?)
        }
        (None, Operation::Bench) => Action::Bench(line.bench()?),
        (None, Operation::Compress) => Action::Compress(line.compress()?),
        (None, Operation::Decompress(mode)) => Action::Decompress(line.decompress(mode, stdout)?),
    };
    Ok(ZstdPlan {
        action,
        shows_settings: line.shows_settings,
        trace: line.trace,
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
    /// Takes the second of two files for the target, as lz4 does. Of a single one, the target is standard output where
    /// that leads somewhere.
    fn name_target(&mut self) -> Result<()> {
        let writes = matches!(
            self.operation,
            Operation::Compress | Operation::Decompress(DecompressMode::Write)
        );
        if !writes
            || self.several
            || self.recursive
            || !self.lists.is_empty()
            || self.training.asked
            || self.output != Output::PerInput
        {
            return Ok(());
        }
        match self.files.as_slice() {
            [_] if !self.terminals.1 && !std::io::stdout().is_terminal() => {
                self.output = Output::Stdout;
            }
            [_, target] => {
                self.output = match target.as_os_str() == "-" {
                    true => Output::Stdout,
                    false => Output::File(target.clone()),
                };
                self.files.truncate(1);
            }
            [_, _, third, ..] => {
                let third = third.display();
                return Err(Failure::usage(format!(
                    "'{third}' is a third file, after a source and its target"
                ))
                .help("-m takes all files as sources"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Refuses contradictions.
    fn check(&self) -> Result<()> {
        let stdin = self.files.iter().any(|file| file.as_os_str() == "-")
            || self.files.is_empty() && self.lists.is_empty();
        let refuse = |message: &str, help: &str| Err(Failure::new(message).help(help));
        let other = self.training.asked || self.operation == Operation::Bench;
        if self.asked.is_some() || other {
            return Ok(());
        }
        if self.terminals.0 && stdin && !self.force {
            return refuse(
                "stdin is a console, aborting",
                "name files, or pipe data in",
            );
        }
        let data =
            self.operation == Operation::Compress && stdin && self.output == Output::PerInput;
        if self.terminals.1 && data && !self.force {
            return refuse("stdout is a console, aborting", "add -c, or -o FILE");
        }
        let writes = Operation::Decompress(DecompressMode::Write);
        if self.shows_settings && self.operation == writes {
            return refuse(
                "can't use --show-default-cparams in decompression mode",
                "leave it out",
            );
        }
        if self.single_thread && self.tuning.adapt.is_some() {
            return refuse(
                "Adaptive mode is not compatible with single thread mode",
                "leave --adapt or --single-thread out",
            );
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
        let mut level = self.level.max(*EncoderOptions::levels().start());
        if self.format != Format::Zstd {
            let levels = self.format.levels();
            // The program of this name has zlib's levels.
            let highest = match self.format {
                Format::Gzip => 9,
                _ => *levels.end(),
            };
            level = level.clamp(*levels.start(), highest);
        } else if level > most {
            self.notes.push(format!(
                "compression level higher than max, reduced to {most}"
            ));
            level = most;
        }
        if let Some(adapt) = self.tuning.adapt {
            level = level.max(adapt.min).min(adapt.max);
        }
        let mut encoder = EncoderOptions::default()
            .with_level(level)
            .with_checksum(self.check)
            .with_content_size(self.content_size)
            .with_dictionary_id(self.dictionary_id)
            .with_rsyncable(self.rsyncable);
        self.tuning.apply(&mut encoder, self.long);
        // Bounds that the program takes its values back to.
        encoder.overlap_log = encoder.overlap_log.map(|log| log.min(9));
        if self.block_bytes > 0 {
            let size = self.block_bytes.clamp(*JOB_BYTES.start(), *JOB_BYTES.end());
            encoder.job_size = usize::try_from(size).ok();
        }
        encoder.validate().map_err(|error| unfit(&error))?;
        Ok(CompressPlan {
            adapt: self.tuning.adapt,
            memory_limit: None,
            format: self.format,
            gzip_names: GzipNames::default(),
            encoder,
            recipe: None,
            threads: self.worker_threads()?,
            file_threads: self.file_threads()?,
            stream_size: self.stream_bytes,
            packing: PackSettings {
                lz4: self.lz4.settings,
                ..PackSettings::default()
            },
            verify: false,
            exclude_compressed: false,
            seekable: None,
        })
    }

    /// Threads that share a file. 0 stands for one per core, or one per processor if that was asked for.
    fn worker_threads(&self) -> Result<u32> {
        match self.threads.unwrap_or(1).min(THREADS_MAX) {
            0 if !self.logical_cores => Ok(cores::physical()),
            asked => levels::threads(asked),
        }
    }

    fn bench(&self) -> Result<BenchPlan> {
        if self.format != Format::Zstd {
            return Err(
                Failure::new("benchmark mode is only compatible with zstd format")
                    .help("leave out --format"),
            );
        }
        let first = self.level.min(22);
        let last = self.bench.last_level.map_or(first, |last| last.min(22));
        let decodes_only = self.bench.decodes_only;
        let threads = self.worker_threads()?;
        let mut encoder = EncoderOptions::default()
            .with_level(if decodes_only { 0 } else { first })
            .with_checksum(false)
            .with_workers(if threads > 1 { threads } else { 0 });
        self.tuning.apply(&mut encoder, self.long);
        encoder.validate().map_err(|error| unfit(&error))?;
        Ok(BenchPlan {
            last_level: if decodes_only { 0 } else { last.max(first) },
            encoder,
            time: Duration::from_secs(self.bench.seconds),
            block_bytes: self.block_bytes,
            each_file: self.bench.each_file,
            decodes_only,
            compressibility: self.bench.compressibility,
        })
    }

    fn file_threads(&self) -> Result<u32> {
        levels::file_threads(self.threads.map(|threads| threads.min(THREADS_MAX)))
    }

    fn decompress(&self, mode: DecompressMode, stdout: bool) -> Result<DecompressPlan> {
        let mut decoder = DecoderOptions::default().with_verify_checksum(self.check);
        let long = self.tuning.advanced.window_log.or(self.long);
        if let Some(log) = long.filter(|&log| log > 0) {
            decoder.window_log_max = log;
        }
        if self.memory_bytes > 0 {
            // A window of less is not in the format.
            if !(1 << 10..=1 << 31).contains(&self.memory_bytes) {
                return Err(Failure::new("Parameter is out of bound: -M")
                    .help(USAGE)
                    .code(11));
            }
            // A decoder holds a block in any case.
            limit_window(&mut decoder, self.memory_bytes.max(BLOCK_BYTES));
        }
        decoder.validate().map_err(|error| unfit(&error))?;
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
            as_gzip: false,
        })
    }
}

/// The failure for a value that the library refuses, with the program's code for it.
fn unfit(error: &zstdkit::Error) -> Failure {
    Failure::new(format!("Parameter is out of bound: {error}"))
        .help(USAGE)
        .code(11)
}
