//! Lists frames without decoding them: where each begins, what its headers state, and an upper bound on
//! its content that does not rely on the stated size.
//!
//! ```
//! let frame = zstdkit::compress(b"hello hello", &Default::default())?;
//! let frames = zstdkit::frame::list(&frame)?;
//! assert_eq!(frames.len(), 1);
//! assert_eq!(frames[0].content_size, Some(11));
//! assert!(frames[0].has_checksum);
//! # Ok::<(), zstdkit::Error>(())
//! ```

use crate::decoder::{Totals, window_memory_bytes};
use crate::error::{Error, Repr};
use crate::format::{self, BlockKind, Header};
use crate::walk::{Event, Walker};

/// The first bytes of a frame of compressed data.
pub const MAGIC: [u8; 4] = format::MAGIC.to_le_bytes();
/// The first bytes of the first kind of frames that decoders skip. The lowest four bits of the first byte tell their
/// variant.
pub const SKIPPABLE_MAGIC: [u8; 4] = format::SKIPPABLE_MAGIC.to_le_bytes();

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// A frame of compressed data.
    Zstd,
    /// A frame that decoders skip. The variant is the low four bits of its magic number.
    Skippable {
        /// 0 to 15.
        variant: u8,
    },
}

/// The number of blocks of each kind in a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BlockCounts {
    /// Blocks stored uncompressed.
    pub raw: u64,
    /// Blocks of one repeated byte.
    pub rle: u64,
    /// Compressed blocks.
    pub compressed: u64,
}

/// A frame as its headers describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameInfo {
    /// The byte of the stream where it begins.
    pub offset: u64,
    /// Its length in bytes, from the magic number to the checksum.
    pub compressed_bytes: u64,
    /// The kind of frame.
    pub kind: FrameKind,
    /// The size of the content, if the header states it.
    pub content_size: Option<u64>,
    /// The most content that its blocks can hold, whatever the header states. Exact if no block is
    /// compressed.
    pub content_bound: u64,
    /// The window that a decoder needs.
    pub window_bytes: u64,
    /// The memory that a streaming [`Decoder`](crate::Decoder) allocates for it, without the context.
    pub decoder_bytes: u64,
    /// Whether it is a single segment: the window is the content itself.
    pub single_segment: bool,
    /// The id of the dictionary it was compressed with.
    pub dictionary_id: Option<u32>,
    /// Whether a checksum of the content follows the blocks.
    pub has_checksum: bool,
    /// The stored checksum.
    pub checksum: Option<u32>,
    /// The number of blocks.
    pub blocks: u64,
    /// The number of blocks of each kind.
    pub block_counts: BlockCounts,
}

impl FrameInfo {
    fn new(offset: u64, header: &Header) -> Self {
        Self {
            offset,
            compressed_bytes: 0,
            kind: FrameKind::Zstd,
            content_size: header.content_size,
            content_bound: 0,
            window_bytes: header.window,
            decoder_bytes: window_memory_bytes(header),
            single_segment: header.single_segment,
            dictionary_id: Some(header.dictionary).filter(|&id| id != 0),
            has_checksum: header.checksum,
            checksum: None,
            blocks: 0,
            block_counts: BlockCounts::default(),
        }
    }

    fn skippable(offset: u64, compressed_bytes: u64, variant: u8) -> Self {
        Self {
            offset,
            compressed_bytes,
            kind: FrameKind::Skippable { variant },
            content_size: Some(0),
            content_bound: 0,
            window_bytes: 0,
            decoder_bytes: 0,
            single_segment: false,
            dictionary_id: None,
            has_checksum: false,
            checksum: None,
            blocks: 0,
            block_counts: BlockCounts::default(),
        }
    }

    fn count(&mut self, block: crate::format::Block, max: u32) {
        self.blocks += 1;
        let bound = u64::from(block.content_bytes_max(max));
        self.content_bound = self.content_bound.saturating_add(bound);
        match block.kind {
            BlockKind::Raw => self.block_counts.raw += 1,
            BlockKind::Rle => self.block_counts.rle += 1,
            BlockKind::Compressed => self.block_counts.compressed += 1,
        }
    }
}

/// Finds the frames of a stream that arrives in pieces. It buffers at most one header.
///
/// ```
/// let stream = zstdkit::compress(&[7; 300_000], &Default::default())?;
/// let mut scanner = zstdkit::frame::Scanner::new();
/// for piece in stream.chunks(5) {
///     let mut input = piece;
///     while !input.is_empty() {
///         let (taken, frame) = scanner.push(input)?;
///         input = &input[taken..];
///         if let Some(frame) = frame {
///             assert_eq!(frame.content_size, Some(300_000));
///             assert_eq!(frame.blocks, 3);
///         }
///     }
/// }
/// assert_eq!(scanner.finish()?, 1);
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scanner {
    walker: Walker,
    frame: Option<(FrameInfo, u32)>,
    failed: Option<Error>,
}

impl Default for Scanner {
    fn default() -> Self {
        Self::new()
    }
}

impl Scanner {
    /// A scanner at byte 0 of a stream.
    pub fn new() -> Self {
        Self {
            walker: Walker::new(),
            frame: None,
            failed: None,
        }
    }

    /// A scanner in the middle of a stream, at the frame that follows these totals.
    pub(crate) fn resume(before: &Totals) -> Self {
        Self {
            walker: Walker::resume(before.bytes_in, before.frames, before.skippable_frames),
            frame: None,
            failed: None,
        }
    }

    /// What is known so far of the current frame, once its header is complete.
    pub fn current(&self) -> Option<&FrameInfo> {
        self.frame.as_ref().map(|(info, _)| info)
    }

    /// Takes input up to the end of the next frame, or all of it. Give the rest again.
    ///
    /// The work of a call is proportional to the number of headers, not to the content. After an error
    /// every call repeats the error.
    pub fn push(&mut self, input: &[u8]) -> Result<(usize, Option<FrameInfo>), Error> {
        if let Some(ref error) = self.failed {
            return Err(error.clone());
        }
        let result = self.step(input);
        if let Err(ref error) = result {
            self.failed = Some(error.clone());
        }
        result
    }

    /// The number of next bytes that the scanner does not need: the rest of a block or of a skippable
    /// frame. A caller that can seek may skip them with [`skip`](Scanner::skip) instead of reading them.
    pub fn skippable_bytes(&self) -> u32 {
        self.walker.body_left()
    }

    /// Skips `count` bytes as if they had been given, at most
    /// [`skippable_bytes`](Scanner::skippable_bytes). Returns how many it skipped. The caller must know
    /// that they exist. If this completed a frame, the next [`push`](Scanner::push) reports it, even
    /// with empty input.
    pub fn skip(&mut self, count: u32) -> u32 {
        let count = count.min(self.walker.body_left());
        self.walker.take(count);
        count
    }

    /// The number of frames, including skippable ones, or why the stream may not end here.
    pub fn finish(&self) -> Result<u64, Error> {
        if let Some(ref error) = self.failed {
            return Err(error.clone());
        }
        self.walker.finish()?;
        match self.walker.frames() + self.walker.skippable_frames() {
            0 => Err(Repr::NoFrame.into()),
            frames => Ok(frames),
        }
    }

    fn step(&mut self, input: &[u8]) -> Result<(usize, Option<FrameInfo>), Error> {
        let mut taken = 0;
        loop {
            let (count, event) = self.walker.next(&input[taken..])?;
            taken += count;
            match event {
                Event::NeedInput => return Ok((taken, None)),
                Event::Header(header) => {
                    let info = FrameInfo::new(self.walker.frame_start(), &header);
                    self.frame = Some((info, header.block_bytes_max()));
                }
                Event::Block(block) => {
                    if let Some((info, max)) = &mut self.frame {
                        info.count(block, *max);
                    }
                }
                Event::Body(left) | Event::Skippable(left) => {
                    let count = input.len().saturating_sub(taken).min(left as usize);
                    taken += count;
                    self.walker.take(count as u32);
                }
                Event::FrameEnd(checksum) => {
                    let end = self.walker.offset();
                    let done = self.frame.take().map(|(mut info, _)| {
                        info.checksum = checksum;
                        info.compressed_bytes = end - info.offset;
                        info
                    });
                    return Ok((taken, done));
                }
                Event::SkippableEnd(variant) => {
                    let start = self.walker.frame_start();
                    let bytes = self.walker.offset() - start;
                    return Ok((taken, Some(FrameInfo::skippable(start, bytes, variant))));
                }
            }
        }
    }
}

/// Iterates over the frames of a whole stream. It ends after an error.
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    scanner: Scanner,
    rest: &'a [u8],
    ended: bool,
}

impl Iterator for Frames<'_> {
    type Item = Result<FrameInfo, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let found = self.scanner.push(self.rest).and_then(|(taken, frame)| {
            self.rest = &self.rest[taken..];
            match frame {
                Some(frame) => Ok(Some(frame)),
                None => self.scanner.finish().map(|_| None),
            }
        });
        self.ended = !matches!(found, Ok(Some(_)));
        found.transpose()
    }
}

/// Iterates over the frames of a whole stream without allocating.
pub fn frames(stream: &[u8]) -> Frames<'_> {
    Frames {
        scanner: Scanner::new(),
        rest: stream,
        ended: false,
    }
}

/// The content size that the frame header at the start of these bytes states. `None`: it states none, or
/// these are not the first bytes of a frame (18 bytes are always enough).
///
/// A header may state any size. Do not allocate that much if the source is not trusted.
///
/// ```
/// let frame = zstdkit::compress(b"hello hello", &Default::default())?;
/// assert_eq!(zstdkit::frame::content_size(&frame), Some(11));
/// assert_eq!(zstdkit::frame::content_size(b"hello hello"), None);
/// # Ok::<(), zstdkit::Error>(())
/// ```
pub fn content_size(frame: &[u8]) -> Option<u64> {
    format::split_header(frame)?.0.content_size
}

/// Lists the frames of a whole stream.
///
/// A stream can hold a frame every eight bytes. For untrusted streams, where this would take too much
/// memory, use [`frames`].
pub fn list(stream: &[u8]) -> Result<Vec<FrameInfo>, Error> {
    frames(stream).collect()
}
