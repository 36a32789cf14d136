//! What the segments of a patch refer back to, for `perfkit decompress -lv`: a row for each range of the older file, so
//! that a segment can be cut out and given to any zstd program.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use latency::report::{Cell, Table, Unit};
use report::names;
use zstdkit::frame::{FrameInfo, FrameKind};
use zstdkit::patch::{HEADER_BYTES_MAX, SegmentHeader};

/// The most rows; ranges beyond are left out.
const ROWS_MAX: usize = 100_000;

const COLUMNS: [(&str, Unit); 7] = [
    ("frame_offset_bytes", Unit::Count),
    ("content_offset_bytes", Unit::Count),
    ("content_bytes", Unit::Count),
    ("older_offset_bytes", Unit::Count),
    ("older_bytes", Unit::Count),
    ("older_xxh64", Unit::Text),
    ("file", Unit::Text),
];

/// The rows of the files of a run.
pub(crate) struct Segments {
    table: Table,
    /// Where the current file may have headers of segments.
    offsets: Vec<u64>,
}

impl Segments {
    pub(crate) fn new() -> Self {
        Self {
            table: Table::new("segments", &COLUMNS),
            offsets: Vec::new(),
        }
    }

    /// Remembers a frame of the current file.
    pub(crate) fn add_frame(&mut self, frame: &FrameInfo) {
        let fits = frame.compressed_bytes <= HEADER_BYTES_MAX as u64;
        if matches!(frame.kind, FrameKind::Skippable { .. }) && fits && !self.is_full() {
            self.offsets.push(frame.offset);
        }
    }

    /// Reads the headers of the current file, if it is a file. What cannot be read is left out.
    pub(crate) fn finish_file(&mut self, path: &Path) {
        let offsets = std::mem::take(&mut self.offsets);
        let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        let Some(mut file) = File::open(path).ok().filter(|_| is_file) else {
            return;
        };
        let mut bytes = Vec::new();
        for offset in offsets {
            bytes.clear();
            let read = file.seek(SeekFrom::Start(offset)).and_then(|_| {
                let most = HEADER_BYTES_MAX as u64;
                file.by_ref().take(most).read_to_end(&mut bytes)
            });
            if let (Ok(_), Ok((header, length))) = (read, SegmentHeader::parse(&bytes, offset)) {
                self.rows(path, offset + length as u64, &header);
            }
        }
    }

    /// The table, if there are segments.
    pub(crate) fn table(self) -> Option<Table> {
        (!self.table.rows.is_empty()).then_some(self.table)
    }

    fn is_full(&self) -> bool {
        self.table.rows.len() >= ROWS_MAX || self.offsets.len() >= ROWS_MAX
    }

    fn rows(&mut self, path: &Path, frame_offset: u64, header: &SegmentHeader) {
        let row = |older: Option<(u64, u64)>| -> Vec<Cell> {
            vec![
                frame_offset.into(),
                header.content_start.into(),
                header.content_bytes.into(),
                older.map(|(start, _)| start).into(),
                older.map(|(_, bytes)| bytes).into(),
                format!("{:016x}", header.prefix_xxh64).into(),
                names::path(path).into(),
            ]
        };
        if header.ranges.is_empty() && !self.is_full() {
            self.table.rows.push(row(None));
        }
        for range in &header.ranges {
            if self.is_full() {
                return;
            }
            let part = (range.start, range.end - range.start);
            self.table.rows.push(row(Some(part)));
        }
    }
}
