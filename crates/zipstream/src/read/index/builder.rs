//! Making an index while a stream is decoded.

use super::deflate_index::{DeflateIndex, PART_BYTES_MAX, WINDOW_BYTES};
use super::format::{Head, Point, sum_of, write};
use crate::crc::Crc32;
use crate::deflate::{CONTENT_BYTES, Compressor, Inflater, Piece};
use crate::engine::content::invalid_deflate;
use crate::error::{Error, ErrorKind};

/// The level of the windows: they are small, and read more often than they are written.
const WINDOW_LEVEL: i32 = 6;

/// Decodes a deflate stream once and makes an index of it. Nothing is read or written here.
///
/// ```
/// use zipstream::deflate::Compressor;
/// use zipstream::{IndexBuilder, IndexedReader};
///
/// let content: Vec<u8> = (0..400_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
/// let mut stream = Vec::new();
/// Compressor::new(6).compress(&content, 0, true, &mut stream);
///
/// let mut builder = IndexBuilder::new(256 << 10);
/// let mut rest = &stream[..];
/// while !builder.is_done() {
///     let piece = builder.push(rest)?;
///     rest = &rest[piece.consumed..];
/// }
/// let index = builder.finish(0)?;
/// assert!(index.points() > 3);
///
/// // Any range, at the cost of the part that it is in.
/// let reader = IndexedReader::new(&stream, &index)?;
/// let mut range = Vec::new();
/// reader.read_range(1_000_000..1_000_100, &mut |piece: &[u8]| {
///     range.extend_from_slice(piece);
///     Ok::<_, zipstream::Error>(())
/// })?;
/// assert_eq!(range, content[1_000_000..1_000_100]);
/// # Ok::<(), zipstream::Error>(())
/// ```
pub struct IndexBuilder {
    inflater: Inflater,
    compressor: Compressor,
    spacing: u64,
    points: Vec<Point>,
    windows: Vec<u8>,
    /// Checksum of the content since the last point.
    crc: Crc32,
    produced: u64,
}

impl std::fmt::Debug for IndexBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexBuilder")
            .field("points", &self.points.len())
            .field("produced", &self.produced)
            .finish_non_exhaustive()
    }
}

impl IndexBuilder {
    /// Bytes of content between points where nothing else is needed: an index of them takes at most 0.8 %
    /// of the content.
    pub const SPACING_BYTES: u64 = 4 << 20;

    /// A builder at the start of a stream. Points are `spacing` bytes of content apart, and up to a block
    /// more: 4 KiB to 64 MiB.
    pub fn new(spacing: u64) -> Self {
        let mut builder = Self {
            inflater: Inflater::new(),
            compressor: Compressor::new(WINDOW_LEVEL),
            spacing: spacing.clamp(4 << 10, PART_BYTES_MAX / 2),
            points: vec![Point::default()],
            windows: Vec::new(),
            crc: Crc32::new(),
            produced: 0,
        };
        builder.stop_in_time();
        builder
    }

    /// Consumes input, all of it or as much as makes a piece of content, and returns the piece, as
    /// [`Inflater::push`] does.
    ///
    /// # Errors
    /// Invalid data ([`ErrorKind::Corrupt`]), or a stream with no block to start at within 128 MiB
    /// ([`ErrorKind::Unsupported`]): some compressors write a single block at their fastest level.
    pub fn push(&mut self, input: &[u8]) -> Result<Piece<'_>, Error> {
        let piece = self.inflater.push(input);
        let piece = piece.map_err(|error| invalid_deflate(&error))?;
        let (consumed, done, produced) = (piece.consumed, piece.done, piece.content.len());
        self.crc.update(piece.content);
        self.produced += produced as u64;
        let last = self.points.last().copied().unwrap_or_default();
        let since = self.produced - last.content;
        let compressed = self.inflater.consumed().saturating_sub(last.bit / 8);
        if since.max(compressed) > PART_BYTES_MAX {
            let what =
                "no block of its compressed content starts within 128 MiB: it cannot have an index";
            return Err(Error::new(ErrorKind::Unsupported, what));
        }
        let block = self.inflater.block_start().filter(|_| !done);
        if let Some(bit) = block.filter(|_| since >= self.spacing) {
            self.add_point(bit)?;
        }
        self.stop_in_time();
        let content = self.inflater.last_content(produced);
        Ok(Piece {
            consumed,
            content,
            done,
        })
    }

    /// Has the next piece end with a block if it may reach the next point.
    fn stop_in_time(&mut self) {
        let last = self.points.last().map_or(0, |last| last.content);
        if self.produced - last + CONTENT_BYTES as u64 >= self.spacing {
            self.inflater.stop_at_block();
        }
    }

    fn add_point(&mut self, bit: u64) -> Result<(), Error> {
        self.end_part();
        if self.points.len() >= u32::MAX as usize {
            let what = "too many points for an index: use a larger spacing";
            return Err(Error::new(ErrorKind::Setting, what));
        }
        let window = self.inflater.last_content(WINDOW_BYTES as usize);
        let before = self.windows.len();
        self.compressor.compress(window, 0, true, &mut self.windows);
        self.points.push(Point {
            content: self.produced,
            bit,
            crc32: 0,
            window_crc32: sum_of(window),
            // Little more than the window.
            window_bytes: (self.windows.len() - before) as u32,
        });
        Ok(())
    }

    fn end_part(&mut self) {
        let crc = std::mem::take(&mut self.crc);
        if let Some(last) = self.points.last_mut() {
            last.crc32 = crc.sum();
        }
    }

    /// Whether the stream has ended.
    pub fn is_done(&self) -> bool {
        self.inflater.is_done()
    }

    /// Bytes of content so far.
    pub fn content_bytes(&self) -> u64 {
        self.produced
    }

    /// The index of a stream that has ended and that starts at byte `start` of its source.
    ///
    /// # Errors
    /// The stream has not ended.
    pub fn finish(mut self, start: u64) -> Result<DeflateIndex, Error> {
        if !self.is_done() {
            let what = format!(
                "its compressed content has not ended: {}",
                self.inflater.truncated()
            );
            return Err(Error::new(ErrorKind::Truncated, what));
        }
        self.end_part();
        let ends = self.points.iter().skip(1).map(|point| point.content);
        let ends = ends.chain([self.produced]);
        let parts = self.points.iter().zip(ends);
        let crc32 = parts.fold(0, |sum, (point, end)| {
            Crc32::joined(sum, point.crc32, end - point.content)
        });
        let head = Head {
            start,
            compressed_bytes: self.inflater.consumed(),
            content_bytes: self.produced,
            crc32,
            points: self.points.len() as u32,
        };
        DeflateIndex::open(write(&head, &self.points, &self.windows))
    }
}
