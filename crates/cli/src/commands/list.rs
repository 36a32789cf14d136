//! `perfkit decompress -l`: lists frames by their headers, without decompressing them.

use std::fs::File;
use std::path::Path;

use files::plan::Jobs;
use files::source::Source;
use files::{ReadSeek, url};
use latency::report::{Cell, Input, Table, Unit};
use report::{ExitStatus, INPUTS_LISTED, Outcome, names};
use zstdkit::frame::{FrameInfo, FrameKind, Scanner};

use crate::commands::codec::{EMPTY_HELP, codec_failure};
use crate::commands::frames;
use crate::commands::segments::Segments;
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::term::{message, signal};

/// The largest seek table that is read to count its frames.
const TABLE_BYTES_MAX: u64 = 256 << 20;
/// The most frames that get a row; the rest is counted, with a warning.
const ROWS_MAX: usize = 100_000;

/// The sums over the frames of one file, or of all files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summary {
    pub(crate) files: u64,
    pub(crate) frames: u64,
    pub(crate) skips: u64,
    pub(crate) compressed_bytes: u64,
    /// `None` if any frame does not state it.
    pub(crate) uncompressed_bytes: Option<u64>,
    pub(crate) window_bytes: u64,
    pub(crate) checksums: u64,
    /// Frames in the seek table, if there is one.
    pub(crate) seekable_frames: Option<u64>,
}

impl Summary {
    /// Empty sums over `files` files.
    pub(crate) fn of(files: u64) -> Self {
        Self {
            files,
            frames: 0,
            skips: 0,
            compressed_bytes: 0,
            uncompressed_bytes: Some(0),
            window_bytes: 0,
            checksums: 0,
            seekable_frames: None,
        }
    }

    pub(crate) fn add_frame(&mut self, frame: &FrameInfo) {
        let skip = matches!(frame.kind, FrameKind::Skippable { .. });
        self.add(&Self {
            files: 0,
            frames: u64::from(!skip),
            skips: u64::from(skip),
            compressed_bytes: frame.compressed_bytes,
            uncompressed_bytes: frame.content_size,
            window_bytes: frame.window_bytes,
            checksums: u64::from(frame.has_checksum),
            seekable_frames: None,
        });
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.frames += other.frames;
        self.skips += other.skips;
        self.compressed_bytes = self.compressed_bytes.saturating_add(other.compressed_bytes);
        self.uncompressed_bytes = self
            .uncompressed_bytes
            .zip(other.uncompressed_bytes)
            .and_then(|(a, b)| a.checked_add(b));
        self.window_bytes = self.window_bytes.max(other.window_bytes);
        self.checksums += other.checksums;
        if let Some(frames) = other.seekable_frames {
            *self.seekable_frames.get_or_insert(0) += frames;
        }
    }

    /// `XXH64` if every frame has a checksum, as the zstd command shows it.
    pub(crate) fn check(&self) -> &'static str {
        match self.checksums {
            0 => "none",
            n if n == self.frames => "XXH64",
            _ => "some",
        }
    }

    /// A row of [`SUMMARY_COLUMNS`], after its name.
    fn row(&self, name: Cell) -> Vec<Cell> {
        vec![
            self.frames.into(),
            self.skips.into(),
            self.compressed_bytes.into(),
            self.uncompressed_bytes.into(),
            ratio(self.uncompressed_bytes, self.compressed_bytes),
            self.check().into(),
            self.window_bytes.into(),
            self.seekable_frames.into(),
            name,
        ]
    }
}

/// The columns of the zstd command, plus the frames in the seek table and the window that a decoder needs.
const SUMMARY_COLUMNS: [(&str, Unit); 8] = [
    ("frames", Unit::Count),
    ("skips", Unit::Count),
    ("compressed_bytes", Unit::Bytes),
    ("uncompressed_bytes", Unit::Bytes),
    ("ratio", Unit::Ratio),
    ("check", Unit::Text),
    ("window_bytes", Unit::Bytes),
    ("seekable", Unit::Count),
];

fn summary_table(name: &str, last: (&'static str, Unit)) -> Table {
    let columns: Vec<_> = SUMMARY_COLUMNS.into_iter().chain([last]).collect();
    Table::new(name, &columns)
}

/// Lists the source of every job, one row per file, with their total and, in full, one row per frame.
pub(crate) fn run(jobs: Jobs, full: bool) -> Outcome {
    let mut outcome = Outcome::new("list");
    let mut failed = jobs.failures.len();
    for error in &jobs.failures {
        message::failure(&error.into());
    }
    let mut files = summary_table("files", ("file", Unit::Text));
    let mut frames = Table::new("frames", &FRAME_COLUMNS);
    let mut segments = Segments::new();
    let mut total = Summary::of(0);
    for job in &jobs.jobs {
        if signal::interrupted() {
            outcome.status = ExitStatus::Interrupted;
            outcome.complete = false;
            break;
        }
        let mut summary = Summary::of(1);
        let listed = scan(&job.source, |frame| {
            summary.add_frame(&frame);
            segments.add_frame(&frame);
            if full && frames.rows.len() < ROWS_MAX {
                frames.rows.push(frame_row(&job.source, &frame));
            }
        });
        match listed {
            Ok(seekable_frames) => {
                summary.seekable_frames = seekable_frames;
                if full {
                    segments.finish_file(&job.source);
                }
                let path = names::path(&job.source);
                files.rows.push(summary.row(path.as_str().into()));
                total.add(&summary);
                if outcome.workload.inputs.len() < INPUTS_LISTED {
                    outcome.workload.inputs.push(Input {
                        path,
                        bytes: summary.compressed_bytes,
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
    outcome.workload.inputs_total = total.files;
    if failed > 0 && outcome.status == ExitStatus::Ok {
        outcome.complete = false;
        outcome.status = if total.files == 0 {
            ExitStatus::Failure
        } else {
            ExitStatus::Partial
        };
    }
    outcome.tables = tables(frames, files, &total, full);
    outcome.tables.extend(segments.table());
    outcome
}

/// The tables to show: one file needs no total.
fn tables(frames: Table, files: Table, total: &Summary, full: bool) -> Vec<Table> {
    let mut tables = Vec::new();
    if full {
        let all = total.frames + total.skips;
        if frames.rows.len() == ROWS_MAX && all > ROWS_MAX as u64 {
            message::note(
                &format!("of {all} frames the first {ROWS_MAX} are listed"),
                "list fewer files at a time",
            );
        }
        tables.push(frames);
    }
    tables.push(files);
    if total.files > 1 {
        let mut table = summary_table("total", ("files", Unit::Count));
        table.rows.push(total.row(total.files.into()));
        tables.push(table);
    }
    tables
}

const FRAME_COLUMNS: [(&str, Unit); 10] = [
    ("offset_bytes", Unit::Count),
    ("kind", Unit::Text),
    ("compressed_bytes", Unit::Count),
    ("uncompressed_bytes", Unit::Count),
    ("ratio", Unit::Ratio),
    ("window_bytes", Unit::Bytes),
    ("blocks", Unit::Count),
    ("dictionary", Unit::Count),
    ("checksum", Unit::Text),
    ("file", Unit::Text),
];

fn frame_row(path: &Path, frame: &FrameInfo) -> Vec<Cell> {
    let kind = match frame.kind {
        FrameKind::Zstd => "zstd".to_owned(),
        FrameKind::Skippable { variant } => format!("skippable {variant}"),
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
        names::path(path).into(),
    ]
}

fn ratio(content: Option<u64>, compressed: u64) -> Cell {
    content
        .map(|content| content as f64 / compressed as f64)
        .into()
}

/// Scans the frames of a file; returns how many its seek table has, if there is one.
pub(crate) fn scan(path: &Path, mut each: impl FnMut(FrameInfo)) -> Result<Option<u64>> {
    let mut each = |frame| {
        each(frame);
        true
    };
    let mut table = None;
    let mut scanner = Scanner::new();
    if url::of(path).is_some() {
        let mut file = frames::seekable(path)?;
        frames::walk(path, &mut *file, &mut scanner, u64::MAX, &mut each)?;
        table = seekable(path, &mut *file);
        return listed(path, &scanner).map(|()| table);
    }
    // Opened once: the writer of a FIFO may be gone after the first reader.
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    if is_file && path.as_os_str() != "-" {
        let mut file = File::open(path).map_err(|error| Failure::io("read", path, &error))?;
        frames::walk(path, &mut file, &mut scanner, u64::MAX, &mut each)?;
        table = seekable(path, &mut file);
    } else {
        read(path, &mut scanner, &mut each)?;
    }
    listed(path, &scanner).map(|()| table)
}

/// Whether the file may end after what was scanned.
fn listed(path: &Path, scanner: &Scanner) -> Result<()> {
    match scanner.finish() {
        Ok(_) => Ok(()),
        Err(error) if error.is_no_frame() => Err(Failure::new(format!(
            "cannot list {}: it is empty",
            files::display(path)
        ))
        .help(EMPTY_HELP)),
        Err(error) => Err(codec_failure("list", &files::display(path), &error)),
    }
}

/// The number of frames in the seek table of a file, if it has one.
fn seekable(path: &Path, file: &mut (impl ReadSeek + ?Sized)) -> Option<u64> {
    match frames::seek_table(file, TABLE_BYTES_MAX) {
        Ok(Ok(table)) => table.map(|table| table.len() as u64),
        Ok(Err(error)) => {
            let name = files::display(path);
            message::note(
                &format!("{name}: {error}"),
                "its frames are readable all the same",
            );
            None
        }
        // The second read failed: the listing is complete without it.
        Err(_) => None,
    }
}

fn read(
    path: &Path,
    scanner: &mut Scanner,
    each: &mut impl FnMut(FrameInfo) -> bool,
) -> Result<()> {
    let mut source = Source::open(path, context())?;
    loop {
        let buffer = source.next_buffer().map_err(|error| source.error(error))?;
        if buffer.is_empty() {
            return Ok(());
        }
        frames::feed(path, &buffer, scanner, each)?;
    }
}
