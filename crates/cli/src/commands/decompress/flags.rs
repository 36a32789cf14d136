//! `perfkit decompress`: flags, and what they come to.

use std::path::PathBuf;

use clap::Args;
use zstdkit::DecoderOptions;

use crate::args::files::FileArgs;
use crate::args::levels;
use crate::args::output::{ReportArgs, TerminalArgs};
use crate::args::settings::ReferenceArgs;
use crate::args::units::{self, ByteRange};
use crate::failure::{Failure, Result};
use crate::io::conflicts::{Files, Stdout};

/// Decompress, test or list zstd files.
///
/// Without FILE, or with `-`, standard input is decompressed to standard output. Otherwise each
/// FILE.zst becomes FILE; the source is kept. The report goes to standard error, a listing (-l) to
/// standard output.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit decompress access.log.zst
  curl -s http://host/big.zst | perfkit decompress - | wc -c
  perfkit decompress --range 64M..65M big.log.zst | grep error")]
pub(crate) struct DecompressArgs {
    /// Files to decompress; `-` is standard input
    ///
    /// A binary with the feature `cloud` takes URLs as well (http, https, s3, gs, az, file): what they
    /// name is read as it arrives, and its target is in the current directory.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Decompress and check, write nothing
    #[arg(short, long, conflicts_with_all = ["list", "output", "stdout", "rm"])]
    pub(crate) test: bool,
    /// List what is in each file; -v lists every frame
    ///
    /// Nothing is decompressed: a frame states its sizes. What it does not state is shown as —.
    #[arg(short, long, conflicts_with_all = ["output", "stdout", "rm"])]
    pub(crate) list: bool,
    /// Write bytes A up to B of the content only
    ///
    /// To standard output, unless -o names a file. Either end may be left out (`64M..`, `..4K`). Only
    /// the frames that hold the range are read, found by the table of a seekable file. In files of
    /// several frames without a table they are found by their headers.
    #[arg(long, value_name = "A..B", value_parser = units::range, conflicts_with_all = ["list", "rm"])]
    pub(crate) range: Option<ByteRange>,
    /// Threads for many files or files of many frames, 0 for one a processor
    ///
    /// The default is 0, and at most 16 for small files. A file of one frame is decompressed by one
    /// thread, and so is a small one.
    #[arg(short = 'T', long, value_name = "N", overrides_with = "threads")]
    threads: Option<u32>,
    /// The same as --report json
    #[arg(long)]
    pub(crate) json: bool,
    /// Verify content checksums (the default)
    #[arg(short = 'C', long, overrides_with = "no_check", hide_short_help = true)]
    check: bool,
    /// Do not verify content checksums
    #[arg(long, overrides_with = "check")]
    no_check: bool,
    /// Accept windows of up to 2^N bytes, N from 10 to 31
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "27", overrides_with_all = ["long", "_no_long"])]
    long: Option<u32>,
    #[arg(long = "no-long", overrides_with = "long", hide = true)]
    _no_long: bool,
    /// Refuse frames whose window is above SIZE
    #[arg(short = 'M', long = "memory-limit", visible_alias = "memory", value_name = "SIZE", value_parser = units::size)]
    memory_limit: Option<u64>,
    /// Fail when a file gives more than SIZE
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    max_output: Option<u64>,
    /// Leave holes for runs of zeros in regular files (the default)
    #[arg(long, overrides_with = "no_sparse", hide_short_help = true)]
    sparse: bool,
    /// Write every zero
    #[arg(long, overrides_with = "sparse")]
    no_sparse: bool,
    #[command(flatten)]
    pub(crate) reference: ReferenceArgs,
    #[command(flatten)]
    pub(crate) files_args: FileArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// What `decompress` shall do with the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecompressMode {
    /// Write them.
    Write,
    /// Check them and write nothing.
    Test,
    /// Look at the frame headers only.
    List,
}

/// What `decompress` shall do, free of spelling.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DecompressPlan {
    /// Settings of the decoder.
    pub(crate) decoder: DecoderOptions,
    /// Threads for files of many frames, at least 1.
    pub(crate) threads: u32,
    /// Small files that are decompressed at a time, at least 1.
    pub(crate) file_threads: u32,
    /// The part of the content that is asked for.
    pub(crate) range: Option<ByteRange>,
    /// Write, test or list.
    pub(crate) mode: DecompressMode,
    /// Whether zeros may become holes.
    pub(crate) sparse: bool,
    /// Whether what is no frame is written as it is.
    pub(crate) pass_through: bool,
}

/// What a decoder takes beside its window, at most.
pub(crate) const CONTEXT_BYTES: u64 = 1 << 20;

/// Limits windows to `bytes`, as `--memory` of the zstd program does. What a decoder takes beside its
/// window is not counted against it, and has a bound of its own.
pub(crate) fn limit_window(decoder: &mut DecoderOptions, bytes: u64) {
    decoder.window_log_max = bytes
        .checked_next_power_of_two()
        .map_or(31, u64::ilog2)
        .clamp(10, 31);
    decoder.window_limit = Some(bytes);
    decoder.memory_limit = Some(bytes.saturating_add(CONTEXT_BYTES));
}

impl DecompressArgs {
    /// Resolves the flags; no side effects.
    pub(crate) fn plan(&self) -> Result<DecompressPlan> {
        let mut decoder = DecoderOptions::default()
            .with_verify_checksum(!self.no_check)
            .with_output_limit(self.max_output);
        match self.long {
            Some(log @ 10..=31) => decoder.window_log_max = log,
            Some(log) => {
                return Err(Failure::usage(format!("--long={log} is out of range"))
                    .help("a window log lies between 10 and 31; --long alone means 27"));
            }
            None => {}
        }
        if let Some(limit) = self.memory_limit {
            let log = decoder.window_log_max;
            limit_window(&mut decoder, limit);
            if self.long.is_some() {
                decoder.window_log_max = log;
            }
        }
        let mode = match (self.test, self.list) {
            (true, _) => DecompressMode::Test,
            (_, true) => DecompressMode::List,
            _ => DecompressMode::Write,
        };
        Ok(DecompressPlan {
            decoder,
            threads: levels::threads(self.threads.unwrap_or(0))?,
            file_threads: levels::file_threads(self.threads)?,
            range: self.range,
            mode,
            sparse: !self.no_sparse,
            pass_through: false,
        })
    }
}

impl DecompressArgs {
    /// What it reads and writes, as far as the command line alone says: targets that are named after
    /// their sources come with the jobs.
    pub(crate) fn files(&self) -> Files<'_> {
        let files = self
            .files_args
            .files(&self.files, &self.report, &self.terminal);
        match self.list {
            true => self.reference.files(files).stdout(Stdout::Report),
            false => self.reference.files(files),
        }
    }
}
