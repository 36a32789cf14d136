//! The streams of a file, from its end to its beginning.

use std::ops::Range;

use super::NUMBER_MAX;
use super::error::{XzError, XzFlaw};
use super::frame::{Check, FRAME_BYTES, footer, header};
use super::index::XzIndex;

/// The most bytes that are asked for at once.
const READ_BYTES_MAX: u64 = 32 << 10;
const FRAME: u64 = FRAME_BYTES as u64;

/// A stream of a file. All sizes and offsets are in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct XzStream {
    /// Where it begins.
    pub offset: u64,
    /// Its size, without the padding behind it.
    pub bytes: u64,
    /// Zeros behind it.
    pub padding_bytes: u64,
    /// The place of its index; read it again by [`XzIndex`] for the blocks.
    pub index: Range<u64>,
    /// Blocks.
    pub blocks: u64,
    /// The size of its content.
    pub content_bytes: u64,
    /// The kind of checksum of its blocks.
    pub check: Check,
}

/// What is read next.
#[derive(Debug, Clone)]
enum Part {
    /// The header at the beginning of the file, which says whether it is xz at all.
    First,
    /// Zeros before this byte.
    Padding(u64),
    /// The footer before this byte.
    Footer(u64),
    /// The index of the stream, up to this byte.
    Index(u64, XzIndex),
    /// The header of the stream.
    Header,
    /// Nothing.
    End,
}

/// Reads the structure of a file: [`XzStreams::wanted`] says which bytes it needs, [`XzStreams::give`] takes them.
///
/// Its memory does not depend on the file: at most 32 KiB are wanted at a time.
#[derive(Debug, Clone)]
pub struct XzStreams {
    part: Part,
    stream: XzStream,
    /// The sum of the blocks' sizes.
    blocks_bytes: u64,
    /// Content of the streams that were read.
    content_bytes: u64,
    bytes: u64,
}

impl XzStreams {
    /// For a file of this size in bytes.
    ///
    /// # Errors
    ///
    /// It is too small to be an xz file.
    pub fn new(bytes: u64) -> Result<Self, XzError> {
        match bytes {
            0 => return Err(XzError::new(XzFlaw::Empty, 0)),
            // A header and a footer; an index needs some more.
            _ if bytes < 2 * FRAME => return Err(XzError::new(XzFlaw::TooSmall, bytes)),
            _ => {}
        }
        Ok(Self {
            part: Part::First,
            stream: XzStream {
                offset: 0,
                bytes: 0,
                padding_bytes: 0,
                index: 0..0,
                blocks: 0,
                content_bytes: 0,
                check: Check::default(),
            },
            blocks_bytes: 0,
            content_bytes: 0,
            bytes,
        })
    }

    /// Which bytes of the file are needed next; `None` if the whole file was read.
    pub fn wanted(&self) -> Option<Range<u64>> {
        Some(match &self.part {
            Part::First => 0..FRAME,
            Part::Padding(end) => end.saturating_sub(READ_BYTES_MAX)..*end,
            Part::Footer(end) => end - FRAME..*end,
            Part::Index(from, _) => *from..self.stream.index.end.min(from + READ_BYTES_MAX),
            Part::Header => self.stream.offset..self.stream.offset + FRAME,
            Part::End => return None,
        })
    }

    /// Takes exactly the bytes that are wanted; returns a stream when it was read, the last of the file first.
    ///
    /// # Errors
    ///
    /// The file is invalid, or fewer bytes are given than were wanted.
    pub fn give(&mut self, bytes: &[u8]) -> Result<Option<XzStream>, XzError> {
        let wanted = self.wanted().unwrap_or_default();
        let fail = |flaw| XzError::new(flaw, wanted.start);
        if bytes.len() as u64 != wanted.end - wanted.start {
            return Err(fail(XzFlaw::Truncated));
        }
        let frame: [u8; FRAME_BYTES] = bytes.first_chunk().copied().unwrap_or_default();
        match &mut self.part {
            Part::First => {
                header(&frame).map_err(|flaw| match flaw {
                    XzFlaw::NoHeader => fail(XzFlaw::NotXz),
                    flaw => fail(flaw),
                })?;
                self.part = Part::Padding(self.bytes);
            }
            Part::Padding(end) => {
                let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count() as u64;
                *end -= zeros;
                self.stream.padding_bytes += zeros;
                // The beginning is none unless the file was changed after it was read.
                if zeros < bytes.len() as u64 || *end == 0 {
                    let (end, padding) = (*end, self.stream.padding_bytes);
                    if padding % 4 != 0 {
                        let flaw = XzFlaw::Padding { bytes: padding };
                        return Err(XzError::new(flaw, end));
                    }
                    if end < 2 * FRAME {
                        return Err(XzError::new(XzFlaw::NoFooter, end));
                    }
                    self.part = Part::Footer(end);
                }
            }
            Part::Footer(end) => {
                let end = *end;
                let (check, stated) = footer(&frame).map_err(fail)?;
                let left = wanted.start - FRAME;
                if stated > left {
                    let of = "footer";
                    return Err(fail(XzFlaw::Outside { of, stated, left }));
                }
                let start = wanted.start - stated;
                self.stream.check = check;
                self.stream.index = start..wanted.start;
                self.stream.bytes = end;
                (self.stream.blocks, self.stream.content_bytes) = (0, 0);
                self.blocks_bytes = 0;
                self.part = Part::Index(start, XzIndex::new(stated));
            }
            Part::Index(from, index) => {
                *from = wanted.end;
                let (stream, total) = (&mut self.stream, &mut self.blocks_bytes);
                index
                    .push(bytes, &mut |block| {
                        stream.blocks += 1;
                        // The bounds below do not let through what saturates.
                        *total = total.saturating_add(block.total_bytes());
                        stream.content_bytes =
                            stream.content_bytes.saturating_add(block.content_bytes);
                    })
                    .map_err(fail)?;
                if wanted.end == self.stream.index.end {
                    index.finish().map_err(fail)?;
                    self.place()?;
                }
            }
            Part::Header => {
                let check = header(&frame).map_err(fail)?;
                if check != self.stream.check {
                    return Err(fail(XzFlaw::FlagsDiffer));
                }
                let stream = self.stream.clone();
                self.stream.padding_bytes = 0;
                self.part = match stream.offset {
                    0 => Part::End,
                    end => Part::Padding(end),
                };
                return Ok(Some(stream));
            }
            Part::End => {}
        }
        Ok(None)
    }

    /// Finds the beginning of the stream whose index was read.
    fn place(&mut self) -> Result<(), XzError> {
        let index = self.stream.index.start;
        let left = index - FRAME;
        let fail = |flaw| Err(XzError::new(flaw, index));
        if self.blocks_bytes > left {
            return fail(XzFlaw::Outside {
                of: "index",
                stated: self.blocks_bytes,
                left,
            });
        }
        self.content_bytes = self.content_bytes.saturating_add(self.stream.content_bytes);
        if self.content_bytes > NUMBER_MAX {
            return fail(XzFlaw::Size {
                stated: self.content_bytes,
            });
        }
        self.stream.offset = left - self.blocks_bytes;
        self.stream.bytes -= self.stream.offset;
        self.part = Part::Header;
        Ok(())
    }
}
