//! libzstd's half of the decoder: blocks in, content out. Compares the content with the size and checksum
//! that the frame states. `stream` decides which bytes are a block, and whether a frame is accepted.
//!
//! libzstd never sees the end of a frame: the last-block bit is cleared before. Otherwise it would check
//! the content size itself and report a wrong one as corrupt data, and it would hold back the last byte of
//! a block that did not fit the output.

use std::hash::Hasher as _;

use twox_hash::XxHash64;

use crate::context::DecompressContext;
use crate::error::{self, Error, Repr};
use crate::format::{Block, BlockKind, CHECKSUM_BYTES, HEADER_BYTES_MAX, Header};
use crate::options::DecoderOptions;

pub(super) struct Blocks {
    context: DecompressContext,
    frame: Option<Frame>,
    /// A byte that libzstd produced when the output was full. More may follow it.
    held: Option<u8>,
    bytes_out: u64,
    checksums_verified: u64,
    verify_checksum: bool,
    output_limit: Option<u64>,
    /// Whether frames may refer to a dictionary or a prefix.
    refers: bool,
}

/// The frame that is being decoded.
struct Frame {
    header: Header,
    /// The stored header, until libzstd has seen it.
    unsent: Option<[u8; HEADER_BYTES_MAX]>,
    start: u64,
    produced: u64,
    block_start: u64,
    /// The running hash of the content, if the checksum is verified.
    hash: Option<XxHash64>,
}

impl Blocks {
    pub(super) fn new(options: &DecoderOptions) -> Result<Self, Error> {
        Ok(Self {
            context: DecompressContext::new(options)?,
            frame: None,
            held: None,
            bytes_out: 0,
            checksums_verified: 0,
            verify_checksum: options.verify_checksum,
            output_limit: options.output_limit,
            refers: !options.dictionaries.is_empty() || options.prefix.is_some(),
        })
    }

    pub(super) fn reset(&mut self) {
        self.frame = None;
        self.held = None;
        self.bytes_out = 0;
        self.checksums_verified = 0;
    }

    /// Starts the counters at what was decoded of the stream elsewhere.
    pub(super) fn resume(&mut self, bytes_out: u64, checksums_verified: u64) {
        self.bytes_out = bytes_out;
        self.checksums_verified = checksums_verified;
    }

    /// Whether decoded bytes are left because the output was full.
    pub(super) fn waiting(&self) -> bool {
        self.held.is_some()
    }

    pub(super) fn bytes_out(&self) -> u64 {
        self.bytes_out
    }

    pub(super) fn checksums_verified(&self) -> u64 {
        self.checksums_verified
    }

    pub(super) fn context_bytes(&self) -> usize {
        self.context.memory_bytes()
    }

    /// Decodes the next frame with the dictionary of this index.
    pub(super) fn use_dictionary(&mut self, at: usize) -> Result<(), Error> {
        self.context.use_dictionary(at)
    }

    pub(super) fn open_frame(&mut self, header: Header, stored: &[u8], start: u64) {
        let mut bytes = [0; HEADER_BYTES_MAX];
        bytes[..stored.len()].copy_from_slice(stored);
        let hashed = header.checksum && self.verify_checksum;
        self.frame = Some(Frame {
            header,
            unsent: Some(bytes),
            start,
            produced: 0,
            block_start: 0,
            hash: hashed.then(|| XxHash64::with_seed(0)),
        });
    }

    /// The header of a frame that libzstd has not seen.
    pub(super) fn unopened(&self) -> Option<Header> {
        let frame = self.frame.as_ref()?;
        frame.unsent.map(|_| frame.header)
    }

    pub(super) fn open_block(&mut self, start: u64) {
        if let Some(frame) = &mut self.frame {
            frame.block_start = start;
        }
    }

    /// Decodes a complete frame of one block straight into the output, without a window and a copy.
    /// `None`: anything is wrong; the slower path then finds the byte.
    pub(super) fn whole_frame(&mut self, frame: &[u8], output: &mut [u8]) -> Option<usize> {
        let header = self
            .frame
            .as_ref()
            .filter(|frame| frame.unsent.is_some())?
            .header;
        let size = header.content_size?;
        let room = self.room(output.len());
        if size > room as u64 || size > header.block_bytes_max().into() {
            return None;
        }
        let count = self.context.whole(frame, &mut output[..room]).ok()?;
        if count as u64 != size {
            return None;
        }
        self.account(&output[..count]);
        Some(count)
    }

    /// Gives libzstd the header of the frame, unless it has seen it.
    pub(super) fn begin_frame(&mut self) -> Result<(), Error> {
        let Some(frame) = &mut self.frame else {
            return Ok(());
        };
        let Some(bytes) = frame.unsent.take() else {
            return Ok(());
        };
        let (len, offset) = (frame.header.bytes, frame.start);
        self.context
            .begin()
            .and_then(|_| self.context.stream(&bytes[..len], &mut []))
            .map(drop)
            .map_err(|code| match error::is_out_of_memory(code) {
                true => self.out_of_memory(),
                false => Repr::FrameHeader {
                    offset,
                    reason: error::reason(code),
                }
                .into(),
            })
    }

    /// Gives libzstd a block header, without the last-block bit.
    pub(super) fn begin_block(&mut self, block: Block) -> Result<(), Error> {
        let kind = match block.kind {
            BlockKind::Raw => 0,
            BlockKind::Rle => 1,
            BlockKind::Compressed => 2,
        };
        let bytes = (block.size << 3 | kind << 1).to_le_bytes();
        self.context
            .stream(&bytes[..3], &mut [])
            .map(drop)
            .map_err(|code| self.failure(code))
    }

    /// Gives libzstd bytes of the current block and takes the content that they decode to.
    pub(super) fn feed(&mut self, bytes: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let room = self.room(output.len());
        let (taken, produced) = self
            .context
            .stream(bytes, &mut output[..room])
            .map_err(|code| self.failure(code))?;
        if taken != bytes.len() {
            let offset = self.frame.as_ref().map_or(0, |frame| frame.block_start);
            return Err(Repr::Internal {
                offset,
                reason: "a block was not taken completely",
            }
            .into());
        }
        self.account(&output[..produced]);
        // In this order, so that the error does not depend on the room in the output.
        self.check_size()?;
        if produced == room {
            self.hold()?;
            self.check_size()?;
        }
        Ok(produced)
    }

    /// Writes decoded content that did not fit before.
    pub(super) fn drain(&mut self, output: &mut [u8]) -> Result<usize, Error> {
        match (output.split_first_mut(), self.held) {
            (Some((first, rest)), Some(byte)) => {
                *first = byte;
                self.held = None;
                Ok(1 + self.feed(&[], rest)?)
            }
            _ => Ok(0),
        }
    }

    /// Checks the content size after the last block was decoded and completely handed out. libzstd
    /// checks the size of each block.
    pub(super) fn close_block(&self, last: bool) -> Result<(), Error> {
        let Some(frame) = &self.frame else {
            return Ok(());
        };
        match frame.header.content_size {
            Some(stated) if last && frame.produced != stated => {
                Err(Error::wrong_size(frame.start, "", frame.produced, stated))
            }
            _ => Ok(()),
        }
    }

    /// Verifies the checksum, which is stored at byte `offset`.
    pub(super) fn close_frame(&mut self, stored: Option<u32>, offset: u64) -> Result<(), Error> {
        let hash = self.frame.take().and_then(|frame| frame.hash);
        if let (Some(stored), Some(hash)) = (stored, hash) {
            let computed = hash.finish() as u32;
            if stored != computed {
                return Err(Repr::Checksum {
                    offset,
                    stored,
                    computed,
                }
                .into());
            }
            self.checksums_verified += 1;
        }
        Ok(())
    }

    /// Asks libzstd for one more byte than fitted, to find out whether there is one.
    fn hold(&mut self) -> Result<(), Error> {
        let mut byte = [0];
        let (_, produced) = self
            .context
            .stream(&[], &mut byte)
            .map_err(|code| self.failure(code))?;
        if produced == 0 {
            return Ok(());
        }
        if let Some(limit) = self.output_limit.filter(|&limit| self.bytes_out >= limit) {
            let offset = self.frame.as_ref().map_or(0, |frame| frame.start);
            return Err(Repr::OutputLimit { offset, limit }.into());
        }
        self.account(&byte);
        self.held = Some(byte[0]);
        Ok(())
    }

    /// How much of an output of this length the output limit allows.
    fn room(&self, len: usize) -> usize {
        let left = match self.output_limit {
            Some(limit) => limit.saturating_sub(self.bytes_out),
            None => u64::MAX,
        };
        usize::try_from(left).unwrap_or(usize::MAX).min(len)
    }

    fn account(&mut self, content: &[u8]) {
        let count = content.len() as u64;
        self.bytes_out += count;
        if let Some(frame) = &mut self.frame {
            frame.produced += count;
            if let Some(hash) = &mut frame.hash {
                hash.write(content);
            }
        }
    }

    fn check_size(&self) -> Result<(), Error> {
        match &self.frame {
            Some(frame) => match frame.header.content_size {
                Some(stated) if frame.produced > stated => {
                    Err(Error::wrong_size(frame.start, "more than ", stated, stated))
                }
                _ => Ok(()),
            },
            None => Ok(()),
        }
    }

    fn failure(&self, code: usize) -> Error {
        if error::is_out_of_memory(code) {
            return self.out_of_memory();
        }
        let Some(frame) = &self.frame else {
            return Repr::Internal {
                offset: 0,
                reason: error::reason(code),
            }
            .into();
        };
        let too_small = error::is_output_too_small(code);
        match frame.stated_size_in_reach() {
            // Near its stated end a frame has only that much of its window left. A block that overruns
            // it means that the frame is longer than stated.
            Some(stated) if too_small && !self.refers => {
                Error::wrong_size(frame.start, "more than ", stated, stated)
            }
            // Elsewhere a block holds more than a block may. libzstd reports one of two errors, depending
            // on the window that the previous frame left behind or on how the dictionary was used. Our
            // error must not depend on that.
            _ if too_small => Repr::Block {
                offset: frame.block_start,
                reason: error::reason(error::CORRUPTION),
            }
            .into(),
            _ => Repr::Block {
                offset: frame.block_start,
                reason: error::reason(code),
            }
            .into(),
        }
    }

    fn out_of_memory(&self) -> Error {
        let bytes = self
            .frame
            .as_ref()
            .map(|frame| window_memory_bytes(&frame.header));
        Repr::Memory {
            bytes,
            what: "the window of a frame",
        }
        .into()
    }
}

impl Frame {
    /// The stated content size, if the current block could exceed it.
    fn stated_size_in_reach(&self) -> Option<u64> {
        let reach = self
            .produced
            .saturating_add(self.header.block_bytes_max().into());
        self.header.content_size.filter(|&stated| reach > stated)
    }
}

/// The memory that libzstd allocates to stream a frame: room for one stored block, and a ring for the
/// window, the current block and its literals, or for the content if that is smaller.
pub(crate) fn window_memory_bytes(header: &Header) -> u64 {
    let window = header.window.max(1 << 10);
    let block = u64::from(header.block_bytes_max());
    let ring = window.saturating_add(2 * block + 2 * 32);
    let content = header.content_size.unwrap_or(u64::MAX);
    // A header may state any size. The sum must not overflow, so that it exceeds every limit.
    block
        .max(CHECKSUM_BYTES as u64)
        .saturating_add(content.min(ring))
}
