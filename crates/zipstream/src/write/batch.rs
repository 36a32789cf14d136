//! Jobs: batches of small entries that are packed as a whole, and chunks of large entries.
//!
//! A job owns its buffers. It can move to a thread, come back, and be reused.

use std::ops::Range;

use super::engines::Engines;
use super::meta::Meta;
use super::options::Job as Described;
use super::records::{Shape, Sizes, put_central, put_local};
use crate::crypt::Encryption;
use crate::crypt::encrypt::Encryptor;
use crate::engine::chunk::WINDOW_BYTES;
use crate::error::Error;
use crate::method::Method;

/// Small entries and the buffers they are packed in.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The number of the first entry.
    pub(crate) first: u64,
    names: Vec<u8>,
    /// Content of all entries. The vector's length is room; the used part ends at `filled`.
    content: Vec<u8>,
    filled: usize,
    items: Vec<Item>,
    /// How the entries are encrypted, when a thread packs them.
    pub(crate) encryption: Option<Encryption>,
    /// Local headers and content, and the directory records, when a thread packs the batch.
    pub(crate) out: Vec<u8>,
    pub(crate) records: Vec<u8>,
}

#[derive(Debug)]
struct Item {
    name: Range<usize>,
    content: Range<usize>,
    meta: Meta,
}

impl Batch {
    /// Bytes of content of the complete entries and of the open one.
    pub(crate) fn filled(&self) -> usize {
        self.filled
    }

    pub(crate) fn entries(&self) -> usize {
        self.items.len()
    }

    /// Whether it is packed in less time than a thread takes to start: 4 KiB of deflate are some 0.05 ms at level 6,
    /// and 1 ms or more at level 10.
    pub(crate) fn is_little(&self) -> bool {
        let quick = |item: &Item| matches!(item.meta.method, Method::Stored | Method::Deflate);
        self.filled <= 4 << 10 && self.items.len() <= 16 && self.items.iter().all(quick)
    }

    /// Room after the content: at least one byte, and at most up to `end` in total.
    pub(crate) fn room(&mut self, end: usize) -> &mut [u8] {
        // A small batch stays small, and to clear much at once would take a while. Vectors keep copies rare.
        const STEP_BYTES: usize = 64 << 10;
        const STEP_BYTES_MAX: usize = 128 << 10;
        if self.content.len() < (self.filled + STEP_BYTES).min(end) {
            let more = self.content.len().clamp(STEP_BYTES, STEP_BYTES_MAX);
            let grown = (self.filled + more).min(end);
            self.content.resize(grown.max(self.content.len()), 0);
        }
        let end = end.min(self.content.len());
        &mut self.content[self.filled..end]
    }

    /// Counts content that was written into the room.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.filled = (self.filled + bytes).min(self.content.len());
    }

    /// Completes an entry whose content starts at `start`.
    pub(crate) fn complete(&mut self, name: &[u8], meta: Meta, start: usize) {
        let name_start = self.names.len();
        self.names.extend_from_slice(name);
        self.items.push(Item {
            name: name_start..self.names.len(),
            content: start..self.filled,
            meta,
        });
    }

    /// The content of the open entry, which starts at `start`.
    #[cfg(feature = "tokio")]
    pub(crate) fn open(&self, start: usize) -> &[u8] {
        self.content.get(start..self.filled).unwrap_or_default()
    }

    /// Removes the content from `start` on, which belongs to no complete entry.
    pub(crate) fn take_back(&mut self, start: usize) -> &[u8] {
        let end = std::mem::replace(&mut self.filled, start);
        &self.content[start..end]
    }

    /// The same, and moves the memory out if nothing else is in it.
    pub(crate) fn take_out(&mut self, start: usize) -> Vec<u8> {
        if start > 0 || !self.items.is_empty() {
            return self.take_back(start).to_vec();
        }
        let end = std::mem::take(&mut self.filled);
        let mut content = std::mem::take(&mut self.content);
        content.truncate(end);
        content
    }

    /// Appends local headers and compressed contents to `out`, whose first byte is byte `base` of
    /// the archive, and directory records to `records`.
    pub(crate) fn pack(
        &self,
        engines: &mut Engines,
        out: &mut Vec<u8>,
        records: &mut Vec<u8>,
        base: u64,
    ) -> Result<(), Error> {
        for item in &self.items {
            let name = &self.names[item.name.clone()];
            let content = &self.content[item.content.clone()];
            let offset = base + out.len() as u64;
            pack_one(engines, name, &item.meta, content, out, records, offset)?;
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.names.clear();
        self.items.clear();
        self.out.clear();
        self.records.clear();
        self.filled = 0;
    }
}

/// Appends one entry whose content is complete, and its record.
pub(crate) fn pack_one(
    engines: &mut Engines,
    name: &[u8],
    meta: &Meta,
    content: &[u8],
    out: &mut Vec<u8>,
    records: &mut Vec<u8>,
    offset: u64,
) -> Result<(), Error> {
    let mut sizes = Sizes {
        crc32: libdeflater::crc32(content),
        compressed: content.len() as u64,
        content: content.len() as u64,
    };
    let start = out.len();
    // The header's length does not depend on its values: it is rewritten once they are known.
    put_local(out, name, meta, meta.method, Shape::Known(sizes));
    let header = out.len();
    let mut encryptor = match (&engines.encryption, meta.encryption) {
        (Some(encryption), Some(_)) => Some(Encryptor::begin(encryption, out)?),
        _ => None,
    };
    let data = out.len();
    let packed = engines
        .whole
        .compress(meta.method, meta.level, content, out)?;
    let method = if packed {
        meta.method
    } else {
        out.extend_from_slice(content);
        Method::Stored
    };
    if let Some(mut encryptor) = encryptor.take() {
        encryptor.encrypt(&mut out[data..]);
        encryptor.end(out);
        // The AES field is the last extra field and ends with the method.
        out[header - 2..header].copy_from_slice(&method.code().to_le_bytes());
    }
    sizes.compressed = (out.len() - header) as u64;
    let shape = Shape::Known(sizes);
    let mut fixed = [0; 30];
    restate(&mut fixed, meta, method, &sizes);
    out[start + 4..start + 6].copy_from_slice(&fixed[4..6]);
    out[start + 8..start + 10].copy_from_slice(&fixed[8..10]);
    out[start + 14..start + 22].copy_from_slice(&fixed[14..22]);
    put_central(records, name, meta, method, shape, &sizes, offset);
    Ok(())
}

/// The fields of a local header that depend on the result of compression.
fn restate(fixed: &mut [u8; 30], meta: &Meta, method: Method, sizes: &Sizes) {
    fixed[4..6].copy_from_slice(&meta.version(method).to_le_bytes());
    fixed[8..10].copy_from_slice(&meta.method_code(method).to_le_bytes());
    fixed[14..18].copy_from_slice(&meta.stated_crc(sizes.crc32).to_le_bytes());
    // A whole entry is far below 4 GiB.
    fixed[18..22].copy_from_slice(&(sizes.compressed as u32).to_le_bytes());
}

/// How the chunks of a large entry are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Coding {
    /// Deflate that continues from chunk to chunk.
    #[default]
    Deflate,
    /// Zstd frames: a thread gets one whole frame.
    #[cfg(feature = "zstd")]
    Frames,
    /// Not compressed.
    Stored,
}

/// A chunk of a large entry, after the window that primes it.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) entry: u64,
    pub(crate) coding: Coding,
    pub(crate) level: i32,
    pub(crate) first: bool,
    pub(crate) last: bool,
    /// Window, then content.
    buffer: Vec<u8>,
    window_bytes: usize,
    filled: usize,
    pub(crate) out: Vec<u8>,
    pub(crate) crc32: u32,
}

impl Chunk {
    pub(crate) fn content(&self) -> &[u8] {
        &self.buffer[self.window_bytes..self.filled]
    }

    /// Room for content: at most a part of what is missing up to `end` bytes in total.
    pub(crate) fn room(&mut self, end: usize) -> &mut [u8] {
        // Clearing all memory of a large frame at once would take a while.
        const STEP_BYTES: usize = 256 << 10;
        let until = (self.window_bytes + end).min(self.filled + STEP_BYTES);
        if self.buffer.len() < until {
            self.reserve(end);
            self.buffer.resize(until, 0);
        }
        &mut self.buffer[self.filled..until]
    }

    pub(crate) fn advance(&mut self, bytes: usize) {
        self.filled = (self.filled + bytes).min(self.buffer.len());
    }

    /// Takes content, but not beyond `end` bytes in total, and returns how much.
    pub(crate) fn put(&mut self, content: &[u8], end: usize) -> usize {
        let bytes = content.len().min(end.saturating_sub(self.content().len()));
        // What lies behind is room.
        self.buffer.truncate(self.filled);
        self.reserve(end);
        self.buffer.extend_from_slice(&content[..bytes]);
        self.filled += bytes;
        bytes
    }

    /// Reserves at once what a chunk with a window needs, so that it never moves.
    fn reserve(&mut self, end: usize) {
        let more = (WINDOW_BYTES + end).saturating_sub(self.buffer.len());
        self.buffer.reserve_exact(more);
    }

    /// Whether the content repeats itself from end to end.
    #[cfg(feature = "tokio")]
    pub(crate) fn repeats(&self) -> bool {
        crate::deflate::repeats(&self.buffer[..self.filled], self.window_bytes)
    }

    /// Makes this the chunk that follows `before`.
    pub(crate) fn follow(&mut self, before: &Self) {
        let end = before.filled;
        let window = match before.coding {
            Coding::Deflate => &before.buffer[end.saturating_sub(WINDOW_BYTES)..end],
            _ => &[],
        };
        if self.buffer.len() < window.len() {
            self.buffer.resize(window.len(), 0);
        }
        self.buffer[..window.len()].copy_from_slice(window);
        self.window_bytes = window.len();
        self.filled = window.len();
        (self.entry, self.coding, self.level) = (before.entry, before.coding, before.level);
        (self.first, self.last) = (false, false);
    }

    /// Keeps the end of the content as the window of the next chunk.
    pub(crate) fn slide(&mut self) {
        self.first = false;
        let start = match self.coding {
            Coding::Deflate => self.filled.saturating_sub(WINDOW_BYTES),
            _ => self.filled,
        };
        self.buffer.copy_within(start..self.filled, 0);
        self.window_bytes = self.filled - start;
        self.filled = self.window_bytes;
        self.last = false;
    }

    /// Starts an entry.
    pub(crate) fn begin(&mut self, entry: u64, coding: Coding, level: i32) {
        self.window_bytes = 0;
        self.filled = 0;
        (self.first, self.last) = (true, false);
        (self.entry, self.coding, self.level) = (entry, coding, level);
    }

    /// Appends the compressed content and keeps its checksum. `whole` means that this chunk is one
    /// complete unit of its coding, and not a part of one.
    pub(crate) fn pack(
        &mut self,
        engines: &mut Engines,
        whole: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let data = &self.buffer[..self.filled];
        let start = self.window_bytes;
        let content = &data[start..];
        self.crc32 = libdeflater::crc32(content);
        match self.coding {
            Coding::Deflate => {
                let chunks = &mut engines.chunks;
                chunks.compress(self.level, data, start, self.last, out);
                Ok(())
            }
            #[cfg(feature = "zstd")]
            Coding::Frames if whole && (self.first || !content.is_empty()) => {
                engines.frames.whole(self.level, content, out)
            }
            #[cfg(feature = "zstd")]
            Coding::Frames if whole => Ok(()),
            #[cfg(feature = "zstd")]
            Coding::Frames => {
                let (level, first, last) = (self.level, self.first, self.last);
                engines.frames.part(level, content, first, last, out)
            }
            Coding::Stored => {
                let _ = whole;
                out.extend_from_slice(content);
                Ok(())
            }
        }
    }
}

/// What a thread receives and returns.
#[derive(Debug)]
pub(crate) enum Job {
    Batch(Batch),
    Chunk(Chunk),
}

impl Job {
    /// Does the work into the job's own buffers.
    pub(crate) fn run(&mut self, engines: &mut Engines) -> Result<(), Error> {
        match self {
            Self::Batch(batch) => {
                let (mut out, mut records) = (
                    std::mem::take(&mut batch.out),
                    std::mem::take(&mut batch.records),
                );
                // A thread works for many archives, each with its own password.
                engines.encryption = batch.encryption.take();
                let result = batch.pack(engines, &mut out, &mut records, 0);
                engines.encryption = None;
                (batch.out, batch.records) = (out, records);
                result
            }
            Self::Chunk(chunk) => {
                let mut out = std::mem::take(&mut chunk.out);
                let result = chunk.pack(engines, true, &mut out);
                chunk.out = out;
                result
            }
        }
    }

    pub(crate) fn describe(&self) -> Described {
        match self {
            Self::Batch(batch) => batch.describe(),
            Self::Chunk(chunk) => chunk.describe(),
        }
    }

    /// Empties it for reuse.
    pub(crate) fn recycle(&mut self) {
        match self {
            Self::Batch(batch) => batch.clear(),
            Self::Chunk(chunk) => chunk.out.clear(),
        }
    }
}

impl Batch {
    pub(crate) fn describe(&self) -> Described {
        Described {
            entry: self.first,
            entries: self.items.len() as u64,
            content_bytes: self.filled as u64,
        }
    }
}

impl Chunk {
    pub(crate) fn describe(&self) -> Described {
        Described {
            entry: self.entry,
            entries: 0,
            content_bytes: self.content().len() as u64,
        }
    }
}
