//! `--trace FILE`: a line about each source, behind those that the file has.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use crate::term::message;
use crate::zstd_compat::messages::Way;

/// The version of libzstd as one number: 1.5.7.
const VERSION: u32 = 10_507;
/// Content up to this size is not split.
const JOB_BYTES_MIN: u64 = 512 << 10;
const HEAD: &str = "Algorithm, Version, Method, Mode, Level, Workers, Dictionary Size, Uncompressed Size, \
                    Compressed Size, Duration Nanos, Compression Ratio, Speed MB/s\n";

/// The file, and what its lines have in common.
#[derive(Debug)]
pub(super) struct Trace {
    file: File,
    pub(super) level: i32,
    pub(super) workers: u32,
    pub(super) dictionary_bytes: u64,
    /// When the source before this one was done.
    since: Cell<Instant>,
}

impl Trace {
    /// Opens the file. One that cannot be opened is only remarked upon, as the work does not depend on it.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let new = !path.is_file();
        let opened = OpenOptions::new().append(true).create(true).open(path);
        let written = opened.and_then(|mut file| {
            if new {
                file.write_all(HEAD.as_bytes())?;
            }
            Ok(file)
        });
        match written {
            Ok(file) => Some(Self {
                file,
                level: 0,
                workers: 0,
                dictionary_bytes: 0,
                since: Cell::new(Instant::now()),
            }),
            Err(error) => {
                let reason = crate::failure::reason(&error);
                message::remark(&format!("cannot write '{}': {reason}", path.display()));
                None
            }
        }
    }

    /// Adds a line about a source that was just finished.
    pub(super) fn add(&self, way: Way, read_bytes: u64, written_bytes: u64) {
        let now = Instant::now();
        let time = now.saturating_duration_since(self.since.replace(now));
        let (method, plain, packed) = match way {
            Way::Compressed => ("compress", read_bytes, written_bytes),
            Way::Decompressed => ("decompress", written_bytes, read_bytes),
        };
        // Content of one job is compressed without threads.
        let workers = if plain > JOB_BYTES_MIN {
            self.workers
        } else {
            0
        };
        let line = format!(
            "zstd, {VERSION}, {method}, streaming, {}, {}, {}, {plain}, {packed}, {}, {:.2}, {:.2}\n",
            self.level,
            workers,
            self.dictionary_bytes,
            time.as_nanos(),
            plain as f64 / packed.max(1) as f64,
            plain as f64 * 1000.0 / time.as_nanos().max(1) as f64,
        );
        if let Err(error) = (&self.file).write_all(line.as_bytes()) {
            let reason = crate::failure::reason(&error);
            message::remark(&format!("cannot write the trace: {reason}"));
        }
    }
}
