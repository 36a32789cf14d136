//! `perfkit decompress`: its flags, and the plan that they give.

use std::path::PathBuf;

use clap::Args;
use files::conflicts::{Files, Stdout};
use zstdkit::DecoderOptions;

use crate::args::files::FileArgs;
use crate::args::levels;
use crate::args::output::{ReportArgs, TerminalArgs};
use crate::args::settings::ReferenceArgs;
use crate::args::units::{self, ByteRange};
use crate::failure::{Failure, Result};

/// Decompress files, test or list.
///
/// Reads zstd, gzip, xz, lzma and lz4. Without FILE, or with `-`, decompresses standard input to standard output. Otherwise decompresses
/// each FILE.zst (.gz, .xz, .lzma, .lz4) to FILE and keeps the source. The format is that of the first
/// bytes. The report goes to standard error, a listing (-l, zstd only) to standard output.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit decompress access.log.zst
  curl -s http://host/big.zst | perfkit decompress - | wc -c
  perfkit decompress --range 64M..65M big.log.zst | grep error")]
pub(crate) struct DecompressArgs {
    /// Files to decompress; `-` is standard input
    ///
    /// With the build feature `web`, FILE may also be a URL (http, https, file), with `cloud` of a store
    /// (s3, gs, az), too. It is read as it arrives, and the target goes to the current directory.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Decompress and verify, but write nothing
    #[arg(short, long, conflicts_with_all = ["list", "output", "stdout", "rm"])]
    pub(crate) test: bool,
    /// List each file; -v lists every frame
    ///
    /// Nothing is decompressed: sizes come from the frame headers. What a header does not state is
    /// shown as —.
    #[arg(short, long, conflicts_with_all = ["output", "stdout", "rm"])]
    pub(crate) list: bool,
    /// Decompress only bytes A up to B of the content
    ///
    /// To standard output, unless -o names a file. Either end may be left out (`64M..`, `..4K`). Reads
    /// only the frames of that range. They are found by the seek table, or, in files without one, by
    /// the frame headers.
    #[arg(long, value_name = "A..B", value_parser = units::range, conflicts_with_all = ["list", "rm"])]
    pub(crate) range: Option<ByteRange>,
    /// Number of threads for several files or frames; 0: one per CPU
    ///
    /// The default is 0, and at most 16 for small files. A small file, or a file of one frame, is
    /// decompressed by one thread.
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
    /// Accept windows up to 2^N bytes, N from 10 to 31
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "27", overrides_with_all = ["long", "_no_long"])]
    long: Option<u32>,
    #[arg(long = "no-long", overrides_with = "long", hide = true)]
    _no_long: bool,
    /// Refuse frames whose window is larger than SIZE
    #[arg(short = 'M', long = "memory-limit", visible_alias = "memory", value_name = "SIZE", value_parser = units::size)]
    memory_limit: Option<u64>,
    /// Fail if a file decompresses to more than SIZE
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    max_output: Option<u64>,
    /// Leave holes for runs of zeros in regular files (the default)
    #[arg(long, overrides_with = "no_sparse", hide_short_help = true)]
    sparse: bool,
    /// Write every zero
    #[arg(long, overrides_with = "sparse")]
    no_sparse: bool,
    /// Copy input that is not compressed unchanged
    #[arg(long, overrides_with = "_no_pass_through", conflicts_with_all = ["test", "list", "range"], hide_short_help = true)]
    pass_through: bool,
    #[arg(long = "no-pass-through", overrides_with = "pass_through", hide = true)]
    _no_pass_through: bool,
    #[command(flatten)]
    pub(crate) reference: ReferenceArgs,
    #[command(flatten)]
    pub(crate) files_args: FileArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// What `decompress` does with the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecompressMode {
    /// Write them.
    Write,
    /// Verify them and write nothing.
    Test,
    /// Read only the frame headers.
    List,
}

/// What `decompress` is to do, whatever the flags were called.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DecompressPlan {
    /// Settings of the decoder.
    pub(crate) decoder: DecoderOptions,
    /// Threads for files of several frames, at least 1.
    pub(crate) threads: u32,
    /// Small files that are decompressed in parallel, at least 1.
    pub(crate) file_threads: u32,
    /// The part of the content that is asked for.
    pub(crate) range: Option<ByteRange>,
    /// Write, test or list.
    pub(crate) mode: DecompressMode,
    /// Whether zeros may become holes.
    pub(crate) sparse: bool,
    /// Whether input that is not compressed is copied unchanged.
    pub(crate) pass_through: bool,
    /// Whether only gzip files are read, and other data behind one is skipped, as gzip does.
    pub(crate) as_gzip: bool,
}

/// The most memory that a decoder needs in addition to its window.
pub(crate) const CONTEXT_BYTES: u64 = 1 << 20;

/// Limits windows to `bytes`, as `--memory` of the zstd program does. The decoder's other memory does
/// not count and has its own bound.
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
                    .help("choose a window log between 10 and 31; --long alone means 27"));
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
            pass_through: self.pass_through,
            as_gzip: false,
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
