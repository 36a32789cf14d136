//! Archives that are written inside of a runtime, and who writes them.

use std::io::{Cursor, Write as _};
use std::sync::Arc;

use async_zip::base::write::ZipFileWriter;
use async_zip::{Compression, DeflateOption, ZipEntryBuilder};
use futures_lite::io::AsyncWriteExt as _;
use s_zip::AsyncStreamingZipWriter;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};
use zipstream::tokio::AsyncArchiveWriter;
use zipstream::{EntryOptions, Method};
use zstdkit::workload::Kind;

use crate::Result;
use crate::cell::{size, threads};
use crate::measure::{Measured, Tasks};
use crate::side::{Said, said};

const KB: usize = 1 << 10;
const MB: usize = 1 << 20;

/// The level of deflate: what all of them take by default.
const LEVEL: i32 = 6;
/// Bytes of each write of content.
const PIECE_BYTES: usize = 64 * KB;

/// One case: archives of entries of one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArchiveCell {
    pub(crate) archives: usize,
    entries: usize,
    entry_bytes: usize,
    workers: usize,
}

impl ArchiveCell {
    pub(crate) fn name(&self) -> String {
        let archives = match self.archives {
            1 => "archive".to_owned(),
            count => format!("{count} archives"),
        };
        let entries = match self.entries {
            1 => "entry",
            _ => "entries",
        };
        format!(
            "{archives} of {} {entries} of {}, {}",
            self.entries,
            size(self.entry_bytes),
            threads(self.workers)
        )
    }

    pub(crate) fn total_bytes(&self) -> usize {
        self.archives * self.entries * self.entry_bytes
    }
}

/// The cells of the sweep.
pub(crate) fn all() -> Vec<ArchiveCell> {
    let mut cells = Vec::new();
    for workers in [0, 2] {
        for (archives, entries, entry_bytes) in [
            (1, 1, 16 * MB),
            (1, 50, 100_000),
            (1, 20_000, KB),
            (32, 10, 100_000),
        ] {
            cells.push(ArchiveCell {
                archives,
                entries,
                entry_bytes,
                workers,
            });
        }
    }
    cells
}

/// Who writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Writer {
    Zipstream,
    AsyncZip,
    SZip,
    SpawnBlocking,
}

impl Writer {
    pub(crate) const ALL: [Self; 4] = [
        Self::Zipstream,
        Self::AsyncZip,
        Self::SZip,
        Self::SpawnBlocking,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Zipstream => "zipstream",
            Self::AsyncZip => "async_zip",
            Self::SZip => "s-zip",
            Self::SpawnBlocking => "spawn_blocking",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|side| side.name() == name);
        found.ok_or_else(|| format!("no writer {name}").into())
    }

    /// One archive, in memory.
    async fn archive(self, contents: Contents) -> Said<Vec<u8>> {
        match self {
            Self::Zipstream => zipstream(&contents).await,
            Self::AsyncZip => async_zip(&contents).await,
            Self::SZip => s_zip(&contents).await,
            Self::SpawnBlocking => spawn_blocking(move || zip(&contents)).await.map_err(said)?,
        }
    }
}

/// The entries of an archive: names, and the parts of one content.
#[derive(Debug, Clone)]
struct Contents {
    content: Arc<[u8]>,
    names: Arc<[String]>,
    entry_bytes: usize,
}

impl Contents {
    fn new(cell: &ArchiveCell) -> Self {
        let bytes = cell.entries * cell.entry_bytes;
        Self {
            content: zstdkit::workload::generate(Kind::JsonLines, 7, bytes).into(),
            names: (0..cell.entries)
                .map(|number| format!("part/{number:05}.json"))
                .collect(),
            entry_bytes: cell.entry_bytes,
        }
    }

    fn each(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let contents = self.content.chunks(self.entry_bytes);
        self.names.iter().map(String::as_str).zip(contents)
    }
}

/// Measures in this process.
pub(crate) fn one(side: Writer, cell: &ArchiveCell) -> Result<Measured> {
    let contents = Contents::new(cell);
    let tasks = Tasks {
        count: cell.archives,
        workers: cell.workers,
    };
    tasks.measure(
        |_| side.archive(contents.clone()),
        |archives| {
            for archive in archives {
                check(archive, &contents)?;
            }
            Ok(archives.first().map_or(0, |archive| archive.len() as u64))
        },
    )
}

/// Reads every archive with the crate `zip`.
fn check(archive: &[u8], contents: &Contents) -> Result<()> {
    let mut archive = ZipArchive::new(Cursor::new(archive))?;
    if archive.len() != contents.names.len() {
        return Err(format!("{} entries", archive.len()).into());
    }
    for (number, (name, content)) in contents.each().enumerate() {
        let mut entry = archive.by_index(number)?;
        let mut found = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut found)?;
        if entry.name()? != name || found != content {
            return Err(format!("wrong content of {name}").into());
        }
    }
    Ok(())
}

async fn zipstream(contents: &Contents) -> Said<Vec<u8>> {
    let mut writer = AsyncArchiveWriter::new(Vec::new());
    for (name, content) in contents.each() {
        let options = EntryOptions::new(Method::Deflate).level(LEVEL);
        writer.start_entry(name, &options).await.map_err(said)?;
        for piece in content.chunks(PIECE_BYTES) {
            writer.push(piece).await.map_err(said)?;
        }
        writer.finish_entry().await.map_err(said)?;
    }
    Ok(writer.finish().await.map_err(said)?.0)
}

async fn async_zip(contents: &Contents) -> Said<Vec<u8>> {
    let mut writer = ZipFileWriter::with_tokio(Vec::new());
    for (name, content) in contents.each() {
        let entry = ZipEntryBuilder::new(name.into(), Compression::Deflate)
            .deflate_option(DeflateOption::Other(LEVEL));
        if content.len() <= MB {
            writer
                .write_entry_whole(entry, content)
                .await
                .map_err(said)?;
            continue;
        }
        let mut stream = writer.write_entry_stream(entry).await.map_err(said)?;
        for piece in content.chunks(PIECE_BYTES) {
            stream.write_all(piece).await.map_err(said)?;
        }
        stream.close().await.map_err(said)?;
    }
    Ok(writer.close().await.map_err(said)?.into_inner())
}

async fn s_zip(contents: &Contents) -> Said<Vec<u8>> {
    let sink = Cursor::new(Vec::new());
    let mut writer = AsyncStreamingZipWriter::from_writer_with_compression(sink, LEVEL as u32);
    for (name, content) in contents.each() {
        writer.start_entry(name).await.map_err(said)?;
        for piece in content.chunks(PIECE_BYTES) {
            writer.write_data(piece).await.map_err(said)?;
        }
    }
    Ok(writer.finish().await.map_err(said)?.into_inner())
}

/// On a thread that may block.
fn zip(contents: &Contents) -> Said<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(LEVEL.into()));
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in contents.each() {
        writer.start_file(name, options).map_err(said)?;
        for piece in content.chunks(PIECE_BYTES) {
            writer.write_all(piece).map_err(said)?;
        }
    }
    Ok(writer.finish().map_err(said)?.into_inner())
}
