//! What is measured.

use serde::{Deserialize, Serialize};

/// One case: streams of content, and how it is given and taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) work: Work,
    pub(crate) content_bytes: usize,
    /// Bytes of each write of content, or the most that each read of compressed bytes gives.
    pub(crate) piece_bytes: usize,
    /// Whether each write is flushed. Decoders get what flushes made.
    pub(crate) flush: bool,
    pub(crate) level: i32,
    /// Worker threads. 0: all tasks run on the thread that waits for them.
    pub(crate) workers: usize,
    pub(crate) streams: usize,
    /// Whether the sink, or the source, is ready only each millisecond.
    pub(crate) slow: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Work {
    Encode,
    Decode,
}

impl Cell {
    pub(crate) fn name(&self) -> String {
        let work = match self.work {
            Work::Encode => "encode",
            Work::Decode => "decode",
        };
        let flush = if self.flush { ", flushed" } else { "" };
        let slow = match (self.slow, self.work) {
            (false, _) => "",
            (true, Work::Encode) => ", slow sink",
            (true, Work::Decode) => ", slow source",
        };
        format!(
            "{work} {} x {} at level {} in {}{flush}, {}{slow}",
            self.streams,
            size(self.content_bytes),
            self.level,
            size(self.piece_bytes),
            threads(self.workers)
        )
    }

    /// All content of the cell.
    pub(crate) fn total_bytes(&self) -> usize {
        self.content_bytes * self.streams
    }
}

pub(crate) fn threads(workers: usize) -> String {
    match workers {
        0 => "one thread".to_owned(),
        count => format!("{count} workers"),
    }
}

pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{} KB", bytes >> 10),
        _ => format!("{} MB", bytes >> 20),
    }
}

const KB: usize = 1 << 10;
const MB: usize = 1 << 20;

/// The cells of the sweep.
pub(crate) fn all() -> Vec<Cell> {
    let mut cells = Vec::new();
    let one = Cell {
        work: Work::Encode,
        content_bytes: MB,
        piece_bytes: 16 * KB,
        flush: false,
        level: 3,
        workers: 0,
        streams: 1,
        slow: false,
    };
    for workers in [0, 2] {
        for level in [1, 3, 9] {
            for (content_bytes, piece_bytes, flush) in [
                (KB, 16, false),
                (KB, KB, false),
                (64 * KB, 16, false),
                (64 * KB, 16, true),
                (64 * KB, 64 * KB, false),
                (MB, 16, true),
                (MB, KB, false),
                (MB, KB, true),
                (MB, 64 * KB, false),
                (MB, 64 * KB, true),
                (16 * MB, 64 * KB, false),
            ] {
                cells.push(Cell {
                    content_bytes,
                    piece_bytes,
                    flush,
                    level,
                    workers,
                    ..one.clone()
                });
            }
        }
        for (streams, content_bytes, piece_bytes, flush, level) in [
            (64, KB, KB, false, 3),
            (64, 64 * KB, 16, true, 1),
            (64, 64 * KB, KB, false, 9),
            (64, MB, KB, true, 3),
            (64, MB, 16 * KB, false, 3),
            (16, MB, 16 * KB, false, 9),
        ] {
            cells.push(Cell {
                streams,
                content_bytes,
                piece_bytes,
                flush,
                level,
                workers,
                ..one.clone()
            });
        }
        for (streams, content_bytes, piece_bytes, flush) in [
            (1, KB, KB, false),
            (1, MB, 1, false),
            (1, MB, 16 * KB, false),
            (1, MB, 16 * KB, true),
            (1, 16 * MB, 64 * KB, false),
            (64, 64 * KB, 16 * KB, false),
            (64, MB, 16 * KB, false),
            (64, MB, KB, true),
        ] {
            cells.push(Cell {
                work: Work::Decode,
                streams,
                content_bytes,
                piece_bytes,
                flush,
                workers,
                ..one.clone()
            });
        }
        // What is fast enough otherwise must not wait longer for slow ends than others do.
        for (work, streams, level) in [
            (Work::Encode, 1, 3),
            (Work::Encode, 64, 3),
            (Work::Encode, 64, 9),
            (Work::Decode, 1, 3),
            (Work::Decode, 64, 3),
        ] {
            cells.push(Cell {
                work,
                streams,
                level,
                content_bytes: 256 * KB,
                workers,
                slow: true,
                ..one.clone()
            });
        }
    }
    cells
}
