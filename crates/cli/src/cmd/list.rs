//! `perfkit decompress -l`: what frames say about themselves, without decompressing them.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use latency::report::{Cell, Input, Table, Unit};
use zstdkit::frame::{FrameInfo, Kind, Scanner};

use super::compress::codec_failure;
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::io::plan::Jobs;
use crate::io::source::Source;
use crate::io::target;
use crate::session::{INPUTS_LISTED, Outcome};
use crate::term::{message, signal};

/// Bytes read at a time from a file that can be sought: a frame header and a few block headers.
const PEEK_BYTES: usize = 4096;
/// Bodies shorter than this are read rather than sought over.
const SEEK_BYTES: u32 = 16 * 1024;
/// Frames of which a listing by frames keeps a row.
const ROWS_MAX: usize = 100_000;

/// What a file's frames add up to.
#[derive(Debug, Default)]
struct Summary {
    frames: u64,
    skippable: u64,
    compressed: u64,
    content: Option<u64>,
    window: u64,
    checksums: u64,
}

impl Summary {
    fn new() -> Self {
        Self {
            content: Some(0),
            ..Self::default()
        }
    }

    fn add(&mut self, frame: &FrameInfo) {
        self.compressed += frame.compressed_bytes;
        match frame.kind {
            Kind::Zstd => self.frames += 1,
            Kind::Skippable { .. } => self.skippable += 1,
        }
        self.content = self
            .content
            .zip(frame.content_size)
            .and_then(|(a, b)| a.checked_add(b));
        self.window = self.window.max(frame.window_bytes);
        self.checksums += u64::from(frame.has_checksum);
    }

    /// `XXH64` when every frame has one, as the zstd CLI says it.
    fn check(&self) -> &'static str {
        match self.checksums {
            0 => "none",
            n if n == self.frames => "XXH64",
            _ => "some",
        }
    }
}

/// Lists every job's source, a row a file or, in full, a row a frame.
pub(crate) fn run(jobs: Jobs, full: bool) -> Outcome {
    let mut outcome = Outcome::new("list");
    let mut failed = jobs.failures.len();
    jobs.failures.iter().for_each(message::failure);
    let mut table = if full {
        Table::new("frames", &FRAME_COLUMNS)
    } else {
        Table::new("files", &FILE_COLUMNS)
    };
    for job in &jobs.jobs {
        if signal::interrupted() {
            outcome.status = ExitStatus::Interrupted;
            outcome.complete = false;
            break;
        }
        let mut summary = Summary::new();
        let listed = scan(&job.source, |frame| {
            summary.add(&frame);
            if full && table.rows.len() < ROWS_MAX {
                table.rows.push(frame_row(&job.source, &frame));
            }
        });
        match listed {
            Ok(()) => {
                if !full {
                    table.rows.push(file_row(&job.source, &summary));
                }
                outcome.bytes_in += summary.compressed;
                outcome.workload.inputs_total += 1;
                if outcome.workload.inputs.len() < INPUTS_LISTED {
                    outcome.workload.inputs.push(Input {
                        path: job.source.display().to_string(),
                        bytes: summary.compressed,
                        xxh64: None,
                    });
                }
            }
            Err(failure) => {
                failed += 1;
                message::failure(&failure);
            }
        }
    }
    outcome.tables.push(table);
    if failed > 0 && outcome.status == ExitStatus::Ok {
        outcome.complete = false;
        outcome.status = if outcome.workload.inputs_total == 0 {
            ExitStatus::Failure
        } else {
            ExitStatus::Partial
        };
    }
    outcome
}

const FILE_COLUMNS: [(&str, Unit); 8] = [
    ("frames", Unit::Count),
    ("skippable_frames", Unit::Count),
    ("compressed_bytes", Unit::Bytes),
    ("content_bytes", Unit::Bytes),
    ("ratio", Unit::Ratio),
    ("window_bytes", Unit::Bytes),
    ("check", Unit::Text),
    ("file", Unit::Text),
];

fn file_row(path: &Path, summary: &Summary) -> Vec<Cell> {
    vec![
        summary.frames.into(),
        summary.skippable.into(),
        summary.compressed.into(),
        summary.content.into(),
        ratio(summary.content, summary.compressed),
        summary.window.into(),
        summary.check().into(),
        path.display().to_string().into(),
    ]
}

const FRAME_COLUMNS: [(&str, Unit); 10] = [
    ("offset_bytes", Unit::Count),
    ("kind", Unit::Text),
    ("compressed_bytes", Unit::Count),
    ("content_bytes", Unit::Count),
    ("ratio", Unit::Ratio),
    ("window_bytes", Unit::Bytes),
    ("blocks", Unit::Count),
    ("dictionary", Unit::Count),
    ("checksum", Unit::Text),
    ("file", Unit::Text),
];

fn frame_row(path: &Path, frame: &FrameInfo) -> Vec<Cell> {
    let kind = match frame.kind {
        Kind::Zstd => "zstd".to_owned(),
        Kind::Skippable { variant } => format!("skippable {variant}"),
    };
    vec![
        frame.offset.into(),
        kind.into(),
        frame.compressed_bytes.into(),
        frame.content_size.into(),
        ratio(frame.content_size, frame.compressed_bytes),
        frame.window_bytes.into(),
        frame.blocks.into(),
        frame.dictionary_id.map(u64::from).into(),
        frame.checksum.map(|sum| format!("{sum:08x}")).into(),
        path.display().to_string().into(),
    ]
}

fn ratio(content: Option<u64>, compressed: u64) -> Cell {
    content
        .map(|content| content as f64 / compressed as f64)
        .into()
}

fn scan(path: &Path, mut each: impl FnMut(FrameInfo)) -> Result<()> {
    let mut scanner = Scanner::new();
    let file = (path.as_os_str() != "-")
        .then(|| File::open(path))
        .transpose();
    match file {
        Ok(Some(file)) if file.metadata().is_ok_and(|metadata| metadata.is_file()) => {
            seek(path, file, &mut scanner, &mut each)?;
        }
        Ok(_) => read(path, &mut scanner, &mut each)?,
        Err(error) => return Err(Failure::io("read", path, &error)),
    }
    match scanner.finish() {
        Ok(_) => Ok(()),
        Err(error) if error.is_no_frame() => Err(Failure::new(format!(
            "cannot list {}: it is empty",
            target::display(path)
        ))),
        Err(error) => Err(codec_failure("list", &target::display(path), &error)),
    }
}

/// Reads headers and seeks over bodies: a listing costs a read a block, whatever a block holds.
fn seek(
    path: &Path,
    mut file: File,
    scanner: &mut Scanner,
    each: &mut impl FnMut(FrameInfo),
) -> Result<()> {
    let failed = |error| Failure::io("read", path, &error);
    let length = file.metadata().map_err(failed)?.len();
    let mut buffer = [0; PEEK_BYTES];
    let mut offset = 0;
    loop {
        let skip = scanner.skippable_bytes();
        // The last byte of a body is always read: a file may end before it.
        if skip > SEEK_BYTES && offset + u64::from(skip) < length {
            let skipped = scanner.skip(skip - 1);
            offset = file
                .seek(SeekFrom::Current(i64::from(skipped)))
                .map_err(failed)?;
        }
        let count = match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        };
        offset += count as u64;
        feed(path, &buffer[..count], scanner, each)?;
    }
}

fn read(path: &Path, scanner: &mut Scanner, each: &mut impl FnMut(FrameInfo)) -> Result<()> {
    let mut source = Source::open(path, false)?;
    let mut buffer = Vec::new();
    loop {
        buffer = source.next(buffer).map_err(|error| source.error(&error))?;
        if buffer.is_empty() {
            return Ok(());
        }
        feed(path, &buffer, scanner, each)?;
    }
}

fn feed(
    path: &Path,
    mut input: &[u8],
    scanner: &mut Scanner,
    each: &mut impl FnMut(FrameInfo),
) -> Result<()> {
    while !input.is_empty() {
        let (taken, frame) = scanner
            .push(input)
            .map_err(|error| codec_failure("list", &target::display(path), &error))?;
        input = &input[taken..];
        if let Some(frame) = frame {
            each(frame);
        }
    }
    Ok(())
}
