//! `-b`: levels measured as the zstd program measures them, the fastest of several runs over whole buffers. What
//! ranks levels by rounds in random order is `perfkit compress-bench`.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use report::ExitStatus;
use zstdkit::workload::{self, Kind};
use zstdkit::{Compressor, DecoderOptions, Decompressor, EncoderOptions};

use crate::commands::codec::codec_failure;
use crate::failure::{Failure, Result};
use crate::io::open::open;
use crate::term::{message, signal};

/// Content that is made where no file is named.
const MADE_BYTES: usize = 10_000_000;
/// The most that is read of all files.
const READ_BYTES_MAX: u64 = 2 << 30;

/// What the letters of benchmarks ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BenchArgs {
    /// `-e`: the last level; the first is that of `-b`.
    pub(crate) last_level: Option<i32>,
    /// `-i`: the least time of each direction, in seconds.
    pub(crate) seconds: u64,
    /// `-S`: files one by one.
    pub(crate) each_file: bool,
    /// Only decompress, files that are compressed.
    pub(crate) decodes_only: bool,
    /// `-P`: what content is like that is made here, in percent.
    pub(crate) compressibility: Option<u64>,
}

impl Default for BenchArgs {
    fn default() -> Self {
        Self {
            last_level: None,
            seconds: 3,
            each_file: false,
            decodes_only: false,
            compressibility: None,
        }
    }
}

/// A benchmark.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BenchPlan {
    /// The settings of the first level.
    pub(crate) encoder: EncoderOptions,
    pub(crate) last_level: i32,
    /// The least time of each direction.
    pub(crate) time: Duration,
    /// Content of a frame; 0: files are not cut.
    pub(crate) block_bytes: u64,
    pub(crate) each_file: bool,
    pub(crate) decodes_only: bool,
    pub(crate) compressibility: Option<u64>,
}

/// Content under a name.
struct Content {
    name: String,
    /// Each becomes a frame.
    blocks: Vec<Vec<u8>>,
}

/// Measures all levels over `files` together, or each by each.
pub(super) fn run(plan: &BenchPlan, files: &[PathBuf], verbosity: i32) -> Result<ExitStatus> {
    let mut sets: Vec<&[PathBuf]> = match plan.each_file {
        true => files.chunks(1).collect(),
        false => vec![files],
    };
    if files.is_empty() {
        sets = vec![&[]];
    }
    for set in sets {
        let content = content(plan, set)?;
        if verbosity < 2 {
            let bytes: usize = content.blocks.iter().map(Vec::len).sum();
            let head = format!(
                "bench {} : input {bytes} bytes, {} seconds, {} KB blocks\n",
                zstdkit::version(),
                plan.time.as_secs(),
                plan.block_bytes >> 10
            );
            message::output(head.as_bytes())?;
        }
        for level in plan.encoder.level..=plan.last_level {
            if signal::interrupted() {
                return Ok(ExitStatus::Interrupted);
            }
            let line = measured(plan, level, &content, verbosity)?;
            message::output(line.as_bytes())?;
        }
    }
    Ok(ExitStatus::Ok)
}

fn content(plan: &BenchPlan, files: &[PathBuf]) -> Result<Content> {
    let cut = match usize::try_from(plan.block_bytes) {
        Ok(bytes @ 32..) if !plan.decodes_only => bytes,
        _ => usize::MAX,
    };
    let mut blocks = Vec::new();
    let mut left = READ_BYTES_MAX;
    for path in files {
        let failed = |error| Failure::io("read", path, &error);
        if path.is_dir() {
            message::remark(&format!("'{}' is a directory and ignored", path.display()));
            continue;
        }
        let mut bytes = Vec::new();
        let file = open(path, OpenOptions::new().read(true)).map_err(failed)?;
        file.take(left).read_to_end(&mut bytes).map_err(failed)?;
        left -= bytes.len() as u64;
        blocks.extend(
            bytes
                .chunks(cut.min(bytes.len().max(1)))
                .map(<[u8]>::to_vec),
        );
    }
    let (name, made) = match files {
        [] => ("made source".to_owned(), Some(made(plan.compressibility))),
        [one] => {
            let name = one.file_name().unwrap_or_default();
            (name.to_string_lossy().into_owned(), None)
        }
        several => (format!(" {} files", several.len()), None),
    };
    if let Some(bytes) = made {
        blocks.extend(bytes.chunks(cut.min(bytes.len())).map(<[u8]>::to_vec));
    }
    if blocks.iter().all(Vec::is_empty) {
        return Err(Failure::new("there is nothing to measure")
            .help("name files with content")
            .code(12));
    }
    Ok(Content { name, blocks })
}

/// Text, or bytes of which this many percent repeat.
fn made(compressibility: Option<u64>) -> Vec<u8> {
    match compressibility {
        None => workload::generate(Kind::Source, 0, MADE_BYTES),
        Some(percent) => {
            let mut bytes = workload::generate(Kind::Random, 0, MADE_BYTES);
            for piece in bytes.chunks_mut(1000) {
                let repeated = (piece.len() as u64 * percent.min(100) / 100) as usize;
                piece[..repeated].fill(b'a');
            }
            bytes
        }
    }
}

/// The line about a level.
fn measured(plan: &BenchPlan, level: i32, content: &Content, verbosity: i32) -> Result<String> {
    let failed = |error: zstdkit::Error| codec_failure("measure", &content.name, &error);
    let options = plan.encoder.clone().with_level(level);
    let dictionary = options.dictionary.clone();
    let decoder = DecoderOptions::default()
        .with_window_log_max(31)
        .with_dictionaries(dictionary);
    let mut decompressor = Decompressor::new(&decoder).map_err(failed)?;
    let mut compressor = Compressor::new(&options).map_err(failed)?;
    let mut frames = vec![Vec::new(); content.blocks.len()];
    let packing = match plan.decodes_only {
        true => {
            frames.clone_from(&content.blocks);
            None
        }
        false => Some(
            fastest(plan.time, || {
                for (block, frame) in content.blocks.iter().zip(&mut frames) {
                    compressor.compress_into(block, frame)?;
                }
                Ok(())
            })
            .map_err(failed)?,
        ),
    };
    let mut back = vec![Vec::new(); frames.len()];
    let unpacking = fastest(plan.time, || {
        for (frame, content) in frames.iter().zip(&mut back) {
            decompressor.decompress_into(frame, content)?;
        }
        Ok(())
    })
    .map_err(failed)?;
    if !plan.decodes_only && back != content.blocks {
        return Err(Failure::new(format!(
            "'{}' does not decompress to its content at level {level}",
            content.name
        )));
    }
    let total = |all: &[Vec<u8>]| all.iter().map(Vec::len).sum::<usize>();
    let (plain, packed) = (total(&back), total(&frames));
    let speed = |time: Duration| plain as f64 / 1e6 / time.as_secs_f64().max(1e-9);
    Ok(line(&Row {
        level,
        name: &content.name,
        plain,
        packed,
        packing: packing.map(speed),
        unpacking: speed(unpacking),
        bare: verbosity < 2,
    }))
}

/// Numbers of a line; speeds are in MB/s.
struct Row<'a> {
    level: i32,
    name: &'a str,
    plain: usize,
    packed: usize,
    packing: Option<f64>,
    unpacking: f64,
    /// The form for other programs.
    bare: bool,
}

fn line(row: &Row<'_>) -> String {
    let ratio = row.plain as f64 / row.packed.max(1) as f64;
    let packing = row.packing.unwrap_or(0.0);
    if row.bare {
        return format!(
            "-{:<3}{:11} ({ratio:5.3}) {packing:6.2} MB/s {:6.1} MB/s  {}\n",
            row.level, row.packed, row.unpacking, row.name
        );
    }
    let digits = 1 + usize::from(ratio < 100.0) + usize::from(ratio < 10.0);
    let places = if packing < 10.0 { 2 } else { 1 };
    format!(
        "{:2}#{:<17.17} :{:10} ->{:10} (x{ratio:5.digits$}), {packing:6.places$} MB/s, {:6.1} MB/s\n",
        row.level, row.name, row.plain, row.packed, row.unpacking
    )
}

/// The fastest of runs that take this time together, at least one.
fn fastest(
    time: Duration,
    mut run: impl FnMut() -> std::result::Result<(), zstdkit::Error>,
) -> std::result::Result<Duration, zstdkit::Error> {
    let begun = Instant::now();
    let mut best = Duration::MAX;
    loop {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed());
        if begun.elapsed() >= time || signal::interrupted() {
            return Ok(best);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_as_those_of_the_zstd_program() {
        let row = Row {
            level: 3,
            name: "a",
            plain: 1_988_895,
            packed: 548_023,
            packing: Some(168.94),
            unpacking: 1264.81,
            bare: false,
        };
        assert_eq!(
            line(&row),
            " 3#a                 :   1988895 ->    548023 (x3.629),  168.9 MB/s, 1264.8 MB/s\n"
        );
        let bare = Row { bare: true, ..row };
        assert_eq!(
            line(&bare),
            "-3       548023 (3.629) 168.94 MB/s 1264.8 MB/s  a\n"
        );
    }
}
