//! `perfkit compress`: its flags, and the plan that they give.

use std::path::PathBuf;

use clap::Args;
use files::conflicts::Files;
use zstdkit::EncoderOptions;

use crate::args::advanced::Advanced;
use crate::args::files::FileArgs;
use crate::args::output::{ReportArgs, TerminalArgs};
use crate::args::settings::{RecipePlan, ReferenceArgs, SettingArgs};
use crate::args::{levels, units};
use crate::commands::compress::train::flags::{TrainArgs, TrainPlan};
use crate::commands::formats::Format;
use crate::commands::formats::settings::PackSettings;
use crate::failure::{Failure, Result};

/// Compress files, directories or standard input.
///
/// To zstd, or to the --format that is named. Without FILE, or with `-`, compresses standard input to standard output. Otherwise compresses each
/// FILE to FILE.zst, or to FILE with the suffix of the --format, and keeps the source. The report goes
/// to standard error.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit compress -3 access.log
  tar c src | perfkit compress -19 -T2 - > src.tar.zst
  perfkit compress -r logs/ --slo 'hold.p99<=1ms' --export-json run.json")]
pub(crate) struct CompressArgs {
    /// Files to compress; `-` is standard input
    ///
    /// With the build feature `web`, FILE may also be a URL (http, https, file), with `cloud` of a store
    /// (s3, gs, az), too. It is read as it arrives, and the target goes to the current directory.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write zstd (the default), gzip, xz, lzma or lz4
    ///
    /// gzip is compressed by -T threads, and is the same for any number of them. xz, lzma and lz4 take
    /// one thread, and of the settings only the level: 0 to 9, 0 to 9, 1 to 12.
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        hide_possible_values = true,
        overrides_with = "format",
        conflicts_with = "train"
    )]
    format: Option<Format>,
    /// Level 1 to 19, 3 by default, also spelled -1 … -19
    ///
    /// 20 to 22 with --ultra. Of gzip 1 to 10, 6 by default. Digits and letters may share an argument, as in the zstd command: -19T0
    /// is --level=19 --threads=0.
    #[arg(long, value_name = "N", overrides_with_all = ["level", "fast"], allow_negative_numbers = true)]
    level: Option<i32>,
    /// Allow levels 20 to 22, which need much memory
    #[arg(long, overrides_with = "_no_ultra")]
    ultra: bool,
    #[arg(long = "no-ultra", overrides_with = "ultra", hide = true)]
    _no_ultra: bool,
    /// Compress faster than level 1: the higher N, the faster
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", overrides_with_all = ["level", "fast"])]
    fast: Option<u32>,
    /// Look for repetitions over 2^N bytes, N from 10 to 31
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "27", overrides_with_all = ["long", "_no_long"])]
    long: Option<u32>,
    #[arg(long = "no-long", overrides_with = "long", hide = true)]
    _no_long: bool,
    /// Number of threads; 0: one per CPU
    ///
    /// The default is 1 for a large file. Small files are compressed in parallel, each by one thread:
    /// by default one per CPU, at most 16.
    #[arg(short = 'T', long, value_name = "N", overrides_with = "threads")]
    threads: Option<u32>,
    /// Write independent frames of SIZE and a seek table
    ///
    /// Each frame has SIZE of content (2M by default) and is compressed independently, by -T threads.
    /// The table at the end of the file makes it possible to decompress any part without the rest. The
    /// file has the same bytes for any number of threads, and any zstd program decompresses it.
    #[arg(long, value_name = "SIZE", num_args = 0..=1, require_equals = true, default_missing_value = "2M", value_parser = units::size, overrides_with_all = ["seekable", "_no_seekable"])]
    seekable: Option<u64>,
    #[arg(long = "no-seekable", overrides_with = "seekable", hide = true)]
    _no_seekable: bool,
    /// Take at most SIZE of memory for the tables and windows of compression
    ///
    /// Threads and the window are lowered to fit, unless --long sets the window. What cannot fit is refused before
    /// anything is allocated. Files are compressed one after the other.
    #[arg(
        short = 'M',
        long = "memory-limit",
        visible_alias = "memory",
        value_name = "SIZE",
        value_parser = units::size,
        overrides_with = "memory_limit",
        hide_short_help = true
    )]
    memory_limit: Option<u64>,
    /// Set single parameters, such as wlog=23,strat=5, in place of those of the level
    ///
    /// wlog, clog, hlog, slog, mml, tlen, strat, ovlog, and with --long lhlog, lmml, lblog and lhrlog, as in the zstd
    /// command.
    #[arg(
        long,
        value_name = "LIST",
        overrides_with = "zstd",
        hide_short_help = true
    )]
    zstd: Option<Advanced>,
    /// Do not state the id of the dictionary in frames
    #[arg(long = "no-dict-id", alias = "no-dictID", hide_short_help = true)]
    no_dict_id: bool,
    /// Write a checksum of the content into each frame (the default)
    #[arg(short = 'C', long, overrides_with = "no_check", hide_short_help = true)]
    check: bool,
    /// Write no checksum
    #[arg(long, overrides_with = "check")]
    no_check: bool,
    /// Write the content size into each frame where it is known (the default)
    #[arg(long, overrides_with = "no_content_size", hide_short_help = true)]
    content_size: bool,
    /// Write no content size
    #[arg(long, overrides_with = "content_size", hide_short_help = true)]
    no_content_size: bool,
    /// Size of standard input, for smaller contexts and a content size in the frame
    #[arg(long, value_name = "SIZE", value_parser = units::size, hide_short_help = true)]
    stream_size: Option<u64>,
    /// Decompress the output and compare it with the input
    ///
    /// This is not timed. If they differ, the exit code is 1 and no file is replaced.
    #[arg(long, overrides_with = "_no_verify")]
    verify: bool,
    #[arg(long = "no-verify", overrides_with = "verify", hide = true)]
    _no_verify: bool,
    /// Skip files with the suffix of the format when walking a directory (the default)
    #[arg(long, overrides_with = "no_exclude_compressed", hide_short_help = true)]
    exclude_compressed: bool,
    /// Also compress files with that suffix when walking a directory
    #[arg(long, overrides_with = "exclude_compressed", hide_short_help = true)]
    no_exclude_compressed: bool,
    #[command(flatten)]
    settings: SettingArgs,
    #[command(flatten)]
    pub(crate) reference: ReferenceArgs,
    /// Write a patch of segments of SIZE, 1K to 1G
    ///
    /// A patch from or to a file of more than 2 GiB always is one, and needs less than 1.5 GiB of memory (-M sets
    /// another limit). Each segment refers back to what resembles it in the older file. `perfkit decompress
    /// --patch-from` applies it.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = units::size,
        requires = "patch_from",
        conflicts_with_all = ["seekable", "verify"],
        overrides_with = "patch_segment",
        hide_short_help = true
    )]
    pub(crate) patch_segment: Option<u64>,
    #[command(flatten)]
    train: TrainArgs,
    #[command(flatten)]
    pub(crate) files_args: FileArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// What gzip members state of their source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct GzipNames {
    /// Its name.
    pub(crate) name: bool,
    /// When it was last changed.
    pub(crate) time: bool,
}

/// Levels between which the level of a frame follows the speed of what is read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AdaptPlan {
    /// The lowest.
    pub(crate) min: i32,
    /// The highest.
    pub(crate) max: i32,
}

impl Default for AdaptPlan {
    fn default() -> Self {
        let levels = EncoderOptions::levels();
        Self {
            min: *levels.start(),
            max: *levels.end(),
        }
    }
}

/// What `compress` is to do, whatever the flags were called.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CompressPlan {
    /// What is written.
    pub(crate) format: Format,
    /// Whether gzip members state the name and the time of their source.
    pub(crate) gzip_names: GzipNames,
    /// Settings of the encoder; of other formats only the level and the checksum.
    pub(crate) encoder: EncoderOptions,
    /// Levels that the level may move between, if it follows the speed of input and output.
    pub(crate) adapt: Option<AdaptPlan>,
    /// Settings by purpose, which take the place of the level.
    pub(crate) recipe: Option<RecipePlan>,
    /// Threads asked for, at least 1.
    pub(crate) threads: u32,
    /// Small files that are compressed in parallel, at least 1.
    pub(crate) file_threads: u32,
    /// The most memory for tables and windows, in bytes.
    pub(crate) memory_limit: Option<u64>,
    /// Content per frame of a seekable file, in bytes.
    pub(crate) seekable: Option<usize>,
    /// Declared size of standard input.
    pub(crate) stream_size: Option<u64>,
    /// Settings that only xz, lzma or lz4 have.
    pub(crate) packing: PackSettings,
    /// Whether to decode the output and compare it.
    pub(crate) verify: bool,
    /// Whether a walk skips files that are already compressed.
    pub(crate) exclude_compressed: bool,
}

impl CompressArgs {
    /// Resolves the flags; no side effects.
    pub(crate) fn plan(&self) -> Result<CompressPlan> {
        let format = self.format.unwrap_or_default();
        let level = self.resolved_level(format)?;
        if let Some(log) = self.long
            && !(10..=31).contains(&log)
        {
            return Err(Failure::usage(format!("--long={log} is out of range"))
                .help("choose a window log between 10 and 31; --long alone means 27"));
        }
        let seekable = self.seekable.map(frame_bytes).transpose()?;
        let mut encoder = EncoderOptions::default()
            .with_level(level)
            .with_checksum(!self.no_check)
            .with_content_size(!self.no_content_size);
        if let Some(log) = self.long {
            encoder.window_log = Some(log);
            encoder.long_distance = true;
        }
        self.settings.apply(&mut encoder)?;
        encoder.dictionary_id = !self.no_dict_id;
        if let Some(advanced) = self.zstd {
            advanced.apply(&mut encoder);
            encoder.validate().map_err(|error| {
                Failure::usage(format!("--zstd: {error}")).help("choose a value in that range")
            })?;
        }
        if format != Format::Zstd {
            let plain = EncoderOptions::default()
                .with_level(level)
                .with_checksum(encoder.checksum)
                .with_content_size(encoder.content_size)
                .with_rsyncable(encoder.rsyncable && format == Format::Gzip);
            let of_zstd = encoder != plain
                || self.settings.recipe(None).is_some()
                || self.reference.dictionary.is_some()
                || self.reference.patch_from.is_some()
                || self.seekable.is_some()
                || self.memory_limit.is_some();
            if of_zstd {
                return Err(Failure::usage(format!(
                    "--format {} does not go with settings that only zstd has",
                    format.name()
                ))
                .help("leave out --long, --seekable, --recipe, -D, --patch-from and the like"));
            }
            if format == Format::Gzip && self.no_check {
                return Err(Failure::usage("gzip files always have a checksum")
                    .help("leave out --no-check"));
            }
        }
        let level_given = self.level.is_some() || self.fast.is_some();
        Ok(CompressPlan {
            format,
            gzip_names: GzipNames::default(),
            encoder,
            adapt: None,
            recipe: self.settings.recipe(level_given.then_some(level)),
            threads: levels::threads(self.threads.unwrap_or(1))?,
            file_threads: match self.memory_limit {
                Some(_) => 1,
                None => levels::file_threads(self.threads)?,
            },
            memory_limit: self.memory_limit,
            seekable,
            stream_size: self.stream_size,
            packing: PackSettings::default(),
            verify: self.verify,
            exclude_compressed: !self.no_exclude_compressed,
        })
    }

    /// What to train a dictionary on, if `--train` was given.
    pub(crate) fn train(&self) -> Result<Option<TrainPlan>> {
        let Some(output) = self.files_args.output.clone().filter(|_| self.train.train) else {
            return Ok(None);
        };
        if self.files.is_empty() || self.files.iter().any(|file| file.as_os_str() == "-") {
            return Err(Failure::usage("--train needs files: each is one sample")
                .help("name files, or directories with -r"));
        }
        if files::target::is_stdout(&output) {
            return Err(Failure::usage("a dictionary cannot go to standard output")
                .help("name its file: -o DICT"));
        }
        let (size_bytes, id) = self.train.dictionary()?;
        Ok(Some(TrainPlan {
            files: self.files.clone(),
            output,
            force: self.files_args.force,
            recursive: self.files_args.recursive,
            size_bytes,
            id,
            encoder: self.plan()?.encoder,
            judged: true,
            method: None,
            sample_bytes: None,
            samples_bytes_max: None,
        }))
    }

    fn resolved_level(&self, format: Format) -> Result<i32> {
        let levels = format.levels();
        match (self.fast, format) {
            (Some(n), Format::Zstd) => levels::fast(n),
            (None, Format::Zstd) => levels::level(self.level.unwrap_or(3), self.ultra),
            (None, _) if !self.ultra => match self.level.unwrap_or(format.level()) {
                level if levels.contains(&level) => Ok(level),
                level => Err(Failure::usage(format!(
                    "level {level} is out of range for {}",
                    format.name()
                ))
                .help(format!(
                    "choose a level from {} to {}",
                    levels.start(),
                    levels.end()
                ))),
            },
            _ => Err(Failure::usage(format!(
                "--fast and --ultra are levels of zstd, and not of {}",
                format.name()
            ))
            .help(format!(
                "choose a level from {} to {}",
                levels.start(),
                levels.end()
            ))),
        }
    }
}

/// Content of a frame of a seekable file.
fn frame_bytes(size: u64) -> Result<usize> {
    match usize::try_from(size) {
        Ok(bytes) if (1 << 10..=1 << 30).contains(&bytes) => Ok(bytes),
        _ => Err(Failure::usage(format!("--seekable={size} is out of range"))
            .help("choose 1K to 1G of content per frame; --seekable alone means 2M")),
    }
}

impl CompressArgs {
    /// What it reads and writes, as far as the command line alone says: targets that are named after
    /// their sources come with the jobs.
    pub(crate) fn files(&self) -> Files<'_> {
        let files = self
            .files_args
            .files(&self.files, &self.report, &self.terminal);
        let files = self.reference.files(files);
        match (&self.files_args.output, self.train.train) {
            (Some(output), true) => files
                .sources(&self.files, self.files_args.recursive)
                .writes("the dictionary", output),
            _ => files,
        }
    }
}
