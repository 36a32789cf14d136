//! libzstd's half of the decoder: blocks in, content out, and what a frame promised about its
//! content held against it. Which bytes are a block, and whether the frame is let in at all, is
//! decided in the module above.
//!
//! libzstd is never shown the end of a frame: the last-block bit is cleared on the way in. It
//! would otherwise check the content size itself and call a wrong one corrupt data, and it would
//! hold back the last byte of a block that did not fit the output.

use std::hash::Hasher as _;

use twox_hash::XxHash64;

use crate::context::DecompressContext;
use crate::error::{self, Error, Repr};
use crate::format::{Block, BlockKind, CHECKSUM_BYTES, HEADER_BYTES_MAX, Header};
use crate::options::DecoderOptions;

pub(super) struct Blocks {
    context: DecompressContext,
    frame: Option<Frame>,
    /// A byte that libzstd had ready when the output was full. More may be waiting behind it.
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
    /// The header as it was stored, until libzstd has been given it.
    unsent: Option<[u8; HEADER_BYTES_MAX]>,
    start: u64,
    produced: u64,
    block_start: u64,
    /// Running hash of the content, when it will be compared.
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

    /// Counts what was decoded of the stream by other means.
    pub(super) fn resume(&mut self, bytes_out: u64, checksums_verified: u64) {
        self.bytes_out = bytes_out;
        self.checksums_verified = checksums_verified;
    }

    /// Whether decoded bytes wait for room.
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

    /// Decodes the next frame with this one of the dictionaries.
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

    pub(super) fn open_block(&mut self, start: u64) {
        if let Some(frame) = &mut self.frame {
            frame.block_start = start;
        }
    }

    /// Decodes a frame of one block, given whole, straight into the output, which needs no
    /// window and no copy. Any doubt is left to the path that can name its byte.
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

    /// Shows libzstd the header of the frame, if it has not seen it.
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

    /// Shows libzstd a block header, as that of a block which is not the last.
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

    /// Gives libzstd bytes of the current block and takes what they decode to.
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
                reason: "a block was not taken whole",
            }
            .into());
        }
        self.account(&output[..produced]);
        // In this order, so that the error does not depend on how much room there was.
        self.check_size()?;
        if produced == room {
            self.hold()?;
            self.check_size()?;
        }
        Ok(produced)
    }

    /// Writes what was decoded but did not fit before.
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

    /// Checks the content size once the last block was decoded and handed out whole. That a block
    /// holds no more than a block may is libzstd's to check.
    pub(super) fn close_block(&self, last: bool) -> Result<(), Error> {
        let Some(frame) = &self.frame else {
            return Ok(());
        };
        match frame.header.content_size {
            Some(stated) if last && frame.produced != stated => {
                Err(frame.wrong_size("", frame.produced, stated))
            }
            _ => Ok(()),
        }
    }

    /// Compares the checksum, which is stored at byte `offset`.
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

    /// Asks libzstd for one byte more than fitted, to learn whether there is one.
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

    /// How much of an output of this length may be filled.
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
                    Err(frame.wrong_size("more than ", stated, stated))
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
            // Near its stated end a frame has only that much of a window left, so what overruns it
            // is a frame longer than it says.
            Some(stated) if too_small && !self.refers => {
                frame.wrong_size("more than ", stated, stated)
            }
            // Elsewhere a block has overrun what a block may hold. libzstd has two answers to that:
            // which one depends on the window that the frame before left behind, or on the use that
            // was made of the dictionary. Ours must not.
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
    /// The stated content size, if the current block could reach beyond it.
    fn stated_size_in_reach(&self) -> Option<u64> {
        let reach = self
            .produced
            .saturating_add(self.header.block_bytes_max().into());
        self.header.content_size.filter(|&stated| reach > stated)
    }

    fn wrong_size(&self, more: &'static str, produced: u64, stated: u64) -> Error {
        Repr::ContentSize {
            offset: self.start,
            produced,
            stated,
            more,
        }
        .into()
    }
}

/// What libzstd allocates to stream a frame: room for one stored block, and a ring that holds the
/// window, the block being decoded and the block's literals, or the content if that is smaller.
pub(crate) fn window_memory_bytes(header: &Header) -> u64 {
    let window = header.window.max(1 << 10);
    let block = u64::from(header.block_bytes_max());
    let ring = window.saturating_add(2 * block + 2 * 32);
    let content = header.content_size.unwrap_or(u64::MAX);
    // A header may state any size: the sum has to stay above every limit.
    block
        .max(CHECKSUM_BYTES as u64)
        .saturating_add(content.min(ring))
}
