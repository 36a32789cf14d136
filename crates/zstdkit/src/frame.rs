//! Listing frames without decoding them: where each begins, what it says about itself, and a
//! bound on its content that does not rely on what it says.
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

/// What kind of frame it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// A frame of compressed data.
    Zstd,
    /// A frame that decoders skip. The variant is the low half byte of its magic number.
    Skippable {
        /// 0 to 15.
        variant: u8,
    },
}

/// How many blocks of each kind a frame has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BlockCounts {
    /// Blocks stored as they are.
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
    /// The byte of the stream at which it begins.
    pub offset: u64,
    /// Its length, from the first byte of the magic number to the last of the checksum.
    pub compressed_bytes: u64,
    /// What kind of frame it is.
    pub kind: FrameKind,
    /// The size of the content, where the header states it.
    pub content_size: Option<u64>,
    /// The most content its blocks can hold, whatever the header states. Exact when no block is
    /// compressed.
    pub content_bound: u64,
    /// The window a decoder needs.
    pub window_bytes: u64,
    /// The memory a streaming [`Decoder`](crate::Decoder) allocates for it, beside the context.
    pub decoder_bytes: u64,
    /// Whether the content is one segment, so that the window is the content itself.
    pub single_segment: bool,
    /// The dictionary it was compressed with.
    pub dictionary_id: Option<u32>,
    /// Whether a checksum of the content follows the blocks.
    pub has_checksum: bool,
    /// That checksum, as stored.
    pub checksum: Option<u32>,
    /// How many blocks it has.
    pub blocks: u64,
    /// How many of each kind.
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

/// Finds the frames of a stream that arrives in pieces. It holds no more than one header.
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

    /// A scanner before a frame that does not begin the stream, behind what these totals count.
    pub(crate) fn resume(before: &Totals) -> Self {
        Self {
            walker: Walker::resume(before.bytes_in, before.frames, before.skippable_frames),
            frame: None,
            failed: None,
        }
    }

    /// The frame that is being passed, once its header was: what is known of it so far.
    pub fn current(&self) -> Option<&FrameInfo> {
        self.frame.as_ref().map(|(info, _)| info)
    }

    /// Takes input up to the end of the next frame, or all of it. The rest must be given again.
    ///
    /// A call does work in proportion to the headers it meets, never to the content. After an
    /// error every call repeats the error.
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

    /// Bytes that come next and need not be looked at: the rest of a block's body or of a
    /// skippable frame. A caller that can seek may pass over them with [`skip`](Scanner::skip)
    /// instead of reading them.
    pub fn skippable_bytes(&self) -> u32 {
        self.walker.body_left()
    }

    /// Passes over `count` bytes of what [`skippable_bytes`](Scanner::skippable_bytes) announced,
    /// as if they had been given; returns how many were passed over, which is never more than
    /// announced. Whether they exist is the caller's to know. The next [`push`](Scanner::push)
    /// finds the frame that this may have completed, even when it is given nothing.
    pub fn skip(&mut self, count: u32) -> u32 {
        let count = count.min(self.walker.body_left());
        self.walker.take(count);
        count
    }

    /// The number of frames, skippable ones included; or why the stream may not end here.
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

/// The frames of a whole stream, one at a time. After an error it ends.
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

/// Walks the frames of a whole stream without allocating.
pub fn frames(stream: &[u8]) -> Frames<'_> {
    Frames {
        scanner: Scanner::new(),
        rest: stream,
        ended: false,
    }
}

/// The content size that the header of the frame at the start of these bytes states. `None`: it
/// states none, or these are not the first bytes of a frame (18 are always enough).
///
/// It is what someone wrote there: nothing to allocate by where the source is not trusted.
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
/// A stream can hold a frame in every eight bytes; use [`frames`] where that much memory is too
/// much for a stream from an untrusted source.
pub fn list(stream: &[u8]) -> Result<Vec<FrameInfo>, Error> {
    frames(stream).collect()
}
