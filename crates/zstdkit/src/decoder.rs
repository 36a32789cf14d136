//! The streaming decoder: any cut of a stream of frames in, content out, one block a call.
//!
//! `walk` says which bytes are which, libzstd decodes the blocks, and everything a frame says
//! about itself (window, size, checksum, dictionary) is judged here, so that each refusal comes
//! before the memory it is about and each error names its byte.
//!
//! libzstd is never shown the end of a frame: the last-block bit is cleared on the way in. It
//! would otherwise check the content size itself and call a wrong one corrupt data, and it would
//! hold back the last byte of a block that did not fit the output.

use std::hash::Hasher as _;

use twox_hash::XxHash64;
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use crate::error::{self, Error, Repr};
use crate::format::{BLOCK_BYTES_MAX, Block, BlockKind, CHECKSUM_BYTES, HEADER_BYTES_MAX, Header};
use crate::options::{DecoderOptions, WINDOW_LOG_MAX};
use crate::step::{State, Step};
use crate::walk::{Event, Walker};

/// What a decoder has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Totals {
    /// Complete zstd frames.
    pub frames: u64,
    /// Complete skippable frames.
    pub skippable_frames: u64,
    /// Bytes taken.
    pub bytes_in: u64,
    /// Bytes produced.
    pub bytes_out: u64,
    /// Frames whose checksum was compared and found right.
    pub checksums_verified: u64,
}

/// Decompresses a stream of frames, in calls of at most one block.
///
/// Give input with [`push`](Decoder::push), cut wherever it happens to be cut; when it ends, ask
/// [`finish`](Decoder::finish) whether it ended where a stream may end. Skippable frames are
/// skipped. Content is handed out before its frame's checksum has been seen, so it is to be
/// trusted only when `finish` is content.
///
/// # What bounds a call
/// A call decodes at most one block, so it produces at most 128 KiB; it takes no input beyond
/// that block and what stands between it and the previous one.
///
/// ```
/// use zstdkit::{Decoder, DecoderOptions, State};
///
/// let frame = zstdkit::compress(b"hello hello", &Default::default())?;
/// let mut decoder = Decoder::new(&DecoderOptions::default())?;
/// let (mut content, mut buffer) = (Vec::new(), [0; 4]);
/// for piece in frame.chunks(3) {
///     let mut input = piece;
///     loop {
///         let step = decoder.push(input, &mut buffer)?;
///         input = &input[step.consumed..];
///         content.extend_from_slice(&buffer[..step.produced]);
///         if step.state != State::MoreOutput {
///             break;
///         }
///     }
/// }
/// assert_eq!(content, b"hello hello");
/// assert_eq!(decoder.finish()?.frames, 1);
/// # Ok::<(), zstdkit::Error>(())
/// ```
pub struct Decoder {
    context: DCtx<'static>,
    /// What the context holds before its first window.
    context_bytes: u64,
    options: DecoderOptions,
    walker: Walker,
    frame: Option<Frame>,
    /// A byte that libzstd had ready when the output was full. Its presence says that more may
    /// be waiting behind it.
    held: Option<u8>,
    bytes_out: u64,
    checksums_verified: u64,
    failed: Option<Error>,
}

/// The frame that is being decoded.
struct Frame {
    header: Header,
    bytes: [u8; HEADER_BYTES_MAX],
    /// Whether libzstd has been given the header.
    begun: bool,
    produced: u64,
    /// What the current block produced.
    block_produced: u32,
    block_start: u64,
    /// Running hash of the content, when it will be compared.
    hash: Option<XxHash64>,
}

impl Decoder {
    /// Makes a context. Its window is allocated by the first frame that needs one.
    pub fn new(options: &DecoderOptions) -> Result<Self, Error> {
        let context = context(options)?;
        Ok(Self {
            context_bytes: context.sizeof() as u64,
            context,
            options: options.clone(),
            walker: Walker::new(),
            frame: None,
            held: None,
            bytes_out: 0,
            checksums_verified: 0,
            failed: None,
        })
    }

    /// Forgets the stream, an error included, and starts at byte 0 of another. The options and
    /// the memory stay.
    pub fn reset(&mut self) {
        self.walker = Walker::new();
        self.frame = None;
        self.held = None;
        self.bytes_out = 0;
        self.checksums_verified = 0;
        self.failed = None;
    }

    /// Takes input and writes content, at most one block of it.
    ///
    /// Input that was not consumed must be given again. Every call either takes or writes
    /// something, unless there was nothing to take or no room to write. After an error every
    /// call repeats the error until [`reset`](Decoder::reset).
    pub fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Error> {
        if let Some(ref error) = self.failed {
            return Err(error.clone());
        }
        let result = self.step(input, output);
        if let Err(ref error) = result {
            self.failed = Some(error.clone());
        }
        result
    }

    /// Says what was decoded, or why the stream may not end here: it was cut off (the error
    /// names the byte and the part of the frame), it had no frame at all, or decoded bytes are
    /// still waiting for a [`push`](Decoder::push).
    pub fn finish(&self) -> Result<Totals, Error> {
        if let Some(ref error) = self.failed {
            return Err(error.clone());
        }
        if self.held.is_some() {
            return Err(Repr::Undrained {
                offset: self.walker.offset(),
            }
            .into());
        }
        self.walker.finish()?;
        let totals = self.totals();
        if totals.frames + totals.skippable_frames == 0 {
            return Err(Repr::NoFrame.into());
        }
        Ok(totals)
    }

    /// What has been decoded so far, whether or not the stream may end here.
    pub fn totals(&self) -> Totals {
        Totals {
            frames: self.walker.frames(),
            skippable_frames: self.walker.skippable_frames(),
            bytes_in: self.walker.offset(),
            bytes_out: self.bytes_out,
            checksums_verified: self.checksums_verified,
        }
    }

    /// Bytes of memory that the decoder holds, its window included.
    pub fn memory_bytes(&self) -> usize {
        self.context.sizeof() + size_of::<Self>()
    }

    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Error> {
        let (mut taken, mut produced) = (0, 0);
        let mut decoded = false;
        if self.held.is_some() {
            produced = self.drain(output)?;
            decoded = produced > 0;
        }
        // Where in this input the current frame began, if it began in this input.
        let mut frame_at = None;
        while self.held.is_none() && (!decoded || self.walker.after_last_block()) {
            if self.walker.at_boundary() {
                frame_at = Some(taken);
            }
            let (count, event) = self.walker.next(&input[taken..])?;
            taken += count;
            match event {
                Event::NeedInput => break,
                Event::Header(header) => self.open_frame(header)?,
                Event::Block(block) => {
                    self.open_block();
                    let whole = frame_at.map(|at| (&input[at..], taken - at));
                    if let Some(count) = self.whole_frame(block, whole, &mut output[produced..]) {
                        produced += count;
                        taken += block.stored_bytes() as usize;
                        self.walker.take(block.stored_bytes());
                        decoded = true;
                        self.close_block()?;
                        continue;
                    }
                    self.begin_block(block)?;
                    if block.stored_bytes() == 0 {
                        decoded = true;
                        self.close_block()?;
                    }
                }
                Event::Body(left) => {
                    let count = input.len().saturating_sub(taken).min(left as usize);
                    let body = &input[taken..taken + count];
                    produced += self.feed(body, &mut output[produced..])?;
                    taken += count;
                    self.walker.take(count as u32);
                    decoded = count == left as usize;
                    if decoded && self.held.is_none() {
                        self.close_block()?;
                    }
                }
                Event::Skippable(left) => {
                    let count = input.len().saturating_sub(taken).min(left as usize);
                    taken += count;
                    self.walker.take(count as u32);
                }
                Event::FrameEnd(checksum) => {
                    self.close_frame(checksum)?;
                    break;
                }
                Event::SkippableEnd(_) => {}
            }
        }
        let state = match () {
            () if self.held.is_some() || taken < input.len() => State::MoreOutput,
            () if self.walker.at_boundary() && self.walker.offset() > 0 => State::Done,
            () => State::NeedInput,
        };
        Ok(Step {
            consumed: taken,
            produced,
            state,
        })
    }

    /// Judges a frame by its header, before anything is allocated for it.
    fn open_frame(&mut self, header: Header) -> Result<(), Error> {
        let offset = self.walker.frame_start();
        if header.dictionary != 0 {
            return Err(Repr::Dictionary {
                offset,
                id: header.dictionary,
            }
            .into());
        }
        let limit = 1 << self.options.window_log_max;
        if header.window > limit {
            return Err(Repr::WindowLimit {
                offset,
                window: header.window,
                limit,
            }
            .into());
        }
        if let Some(limit) = self.options.output_limit {
            let stated = header.content_size.unwrap_or(0);
            if stated > limit.saturating_sub(self.bytes_out) {
                return Err(Repr::OutputLimit { offset, limit }.into());
            }
        }
        if let Some(limit) = self.options.memory_limit {
            let need = self
                .context_bytes
                .saturating_add(window_memory_bytes(&header));
            if need > limit {
                return Err(Repr::MemoryLimit {
                    offset,
                    need,
                    limit,
                }
                .into());
            }
        }
        let mut bytes = [0; HEADER_BYTES_MAX];
        bytes[..header.bytes].copy_from_slice(self.walker.header_bytes(&header));
        let hashed = header.checksum && self.options.verify_checksum;
        self.frame = Some(Frame {
            header,
            bytes,
            begun: false,
            produced: 0,
            block_produced: 0,
            block_start: 0,
            hash: hashed.then(|| XxHash64::with_seed(0)),
        });
        Ok(())
    }

    fn open_block(&mut self) {
        let start = self.walker.part_start();
        if let Some(frame) = &mut self.frame {
            frame.block_produced = 0;
            frame.block_start = start;
        }
    }

    /// Decodes a frame of a single block straight into the output when both are at hand whole,
    /// which needs no window and no copy. Any doubt is left to the path that can name its byte.
    fn whole_frame(
        &mut self,
        block: Block,
        input: Option<(&[u8], usize)>,
        output: &mut [u8],
    ) -> Option<usize> {
        let (input, before_body) = input.filter(|_| block.last)?;
        let frame = self.frame.as_ref().filter(|frame| !frame.begun)?;
        let size = frame.header.content_size?;
        let end = before_body
            + block.stored_bytes() as usize
            + if frame.header.checksum {
                CHECKSUM_BYTES
            } else {
                0
            };
        let bytes = input.get(..end)?;
        let room = self.room(output.len());
        let block_max = frame.header.block_bytes_max();
        if size > room as u64 || size > block_max.into() {
            return None;
        }
        // A repeated byte stores one byte, where a frame without content allows none: in pieces
        // libzstd refuses that and at once it does not.
        if block.stored_bytes() > block_max {
            return None;
        }
        let count = self.context.decompress(&mut output[..room], bytes).ok()?;
        if count as u64 != size {
            return None;
        }
        self.account(&output[..count]);
        Some(count)
    }

    /// Shows libzstd a block header, and before the first one that of the frame.
    fn begin_block(&mut self, block: Block) -> Result<(), Error> {
        let Some(frame) = &mut self.frame else {
            return Ok(());
        };
        if !frame.begun {
            frame.begun = true;
            let (bytes, len, offset) = (frame.bytes, frame.header.bytes, self.walker.frame_start());
            self.context
                .reset(ResetDirective::SessionOnly)
                .and_then(|_| decompress(&mut self.context, &bytes[..len], &mut []).map(|_| 0))
                .map_err(|code| match error::is_out_of_memory(code) {
                    true => self.out_of_memory(),
                    false => Repr::FrameHeader {
                        offset,
                        reason: error::reason(code),
                    }
                    .into(),
                })?;
        }
        let kind = match block.kind {
            BlockKind::Raw => 0,
            BlockKind::Rle => 1,
            BlockKind::Compressed => 2,
        };
        let bytes = (block.size << 3 | kind << 1).to_le_bytes();
        self.feed(&bytes[..3], &mut []).map(|_| ())
    }

    /// Gives libzstd bytes of the current block and takes what they decode to.
    fn feed(&mut self, bytes: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let room = self.room(output.len());
        let (taken, produced) = decompress(&mut self.context, bytes, &mut output[..room])
            .map_err(|code| self.block_failure(code))?;
        if taken != bytes.len() {
            let offset = self.walker.offset();
            return Err(Repr::Internal {
                offset,
                reason: "block not taken whole",
            }
            .into());
        }
        self.account(&output[..produced]);
        if produced == room {
            self.hold()?;
        }
        self.check_sizes()?;
        Ok(produced)
    }

    /// Writes what was decoded but did not fit before.
    fn drain(&mut self, output: &mut [u8]) -> Result<usize, Error> {
        let Some((first, rest)) = output.split_first_mut() else {
            return Ok(0);
        };
        let Some(byte) = self.held.take() else {
            return Ok(0);
        };
        *first = byte;
        let produced = 1 + self.feed(&[], rest)?;
        if self.held.is_none() && self.walker.body_left() == 0 {
            self.close_block()?;
        }
        Ok(produced)
    }

    /// Asks libzstd for one byte more than fitted, to learn whether there is one.
    fn hold(&mut self) -> Result<(), Error> {
        let mut byte = [0];
        let (_, produced) = decompress(&mut self.context, &[], &mut byte)
            .map_err(|code| self.block_failure(code))?;
        if produced == 0 {
            return Ok(());
        }
        if let Some(limit) = self
            .options
            .output_limit
            .filter(|&limit| self.bytes_out >= limit)
        {
            return Err(Repr::OutputLimit {
                offset: self.walker.frame_start(),
                limit,
            }
            .into());
        }
        self.account(&byte);
        self.held = Some(byte[0]);
        Ok(())
    }

    /// How much of an output of this length may be filled.
    fn room(&self, len: usize) -> usize {
        let left = match self.options.output_limit {
            Some(limit) => limit.saturating_sub(self.bytes_out),
            None => u64::MAX,
        };
        usize::try_from(left).unwrap_or(usize::MAX).min(len)
    }

    fn account(&mut self, content: &[u8]) {
        self.bytes_out += content.len() as u64;
        if let Some(frame) = &mut self.frame {
            frame.produced += content.len() as u64;
            frame.block_produced += content.len() as u32;
            if let Some(hash) = &mut frame.hash {
                hash.write(content);
            }
        }
    }

    fn check_sizes(&self) -> Result<(), Error> {
        let Some(frame) = &self.frame else {
            return Ok(());
        };
        match frame.header.content_size {
            Some(stated) if frame.produced > stated => Err(self.content_size("more than ", stated)),
            _ => Ok(()),
        }
    }

    fn content_size(&self, more: &'static str, produced: u64) -> Error {
        let (offset, frame) = (self.walker.frame_start(), self.frame.as_ref());
        let stated = frame
            .and_then(|frame| frame.header.content_size)
            .unwrap_or(0);
        Repr::ContentSize {
            offset,
            produced,
            stated,
            more,
        }
        .into()
    }

    /// Checks a block that was decoded and handed out whole, and after the last one the frame.
    fn close_block(&mut self) -> Result<(), Error> {
        let Some(frame) = &self.frame else {
            return Ok(());
        };
        if frame.block_produced > frame.header.block_bytes_max() {
            let (offset, reason) = (frame.block_start, "block holds more than its maximum");
            return Err(Repr::Block { offset, reason }.into());
        }
        match frame.header.content_size {
            Some(stated) if self.walker.after_last_block() && frame.produced != stated => {
                Err(self.content_size("", frame.produced))
            }
            _ => Ok(()),
        }
    }

    fn close_frame(&mut self, stored: Option<u32>) -> Result<(), Error> {
        let Some(frame) = self.frame.take() else {
            return Ok(());
        };
        if let (Some(stored), Some(hash)) = (stored, frame.hash) {
            let computed = hash.finish() as u32;
            if stored != computed {
                let offset = self.walker.part_start();
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

    fn block_failure(&self, code: usize) -> Error {
        let offset = self.frame.as_ref().map_or(0, |frame| frame.block_start);
        let stated = self
            .frame
            .as_ref()
            .and_then(|frame| frame.header.content_size);
        match stated {
            // The window of such a frame is as large as its content, so what overruns it is a
            // frame longer than it says.
            Some(stated) if error::is_output_too_small(code) => {
                self.content_size("more than ", stated)
            }
            _ if error::is_out_of_memory(code) => self.out_of_memory(),
            _ => Repr::Block {
                offset,
                reason: error::reason(code),
            }
            .into(),
        }
    }

    fn out_of_memory(&self) -> Error {
        let bytes = self
            .frame
            .as_ref()
            .map_or(0, |frame| window_memory_bytes(&frame.header));
        Repr::Memory {
            bytes,
            what: "the window of a frame",
        }
        .into()
    }
}

/// A decoding context whose own limits are out of the way.
pub(crate) fn context(options: &DecoderOptions) -> Result<DCtx<'static>, Error> {
    options.validate()?;
    let mut context = DCtx::try_create().ok_or(Repr::Memory {
        bytes: 0,
        what: "a decompression context",
    })?;
    context
        .set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))
        .and_then(|_| context.set_parameter(DParameter::ForceIgnoreChecksum(true)))
        .map_err(|code| Repr::Internal {
            offset: 0,
            reason: error::reason(code),
        })?;
    Ok(context)
}

fn decompress(
    context: &mut DCtx<'static>,
    input: &[u8],
    output: &mut [u8],
) -> Result<(usize, usize), usize> {
    let mut source = InBuffer::around(input);
    let mut target = OutBuffer::around(output);
    context.decompress_stream(&mut target, &mut source)?;
    Ok((source.pos(), target.pos()))
}

/// What libzstd allocates to stream a frame: room for one stored block, and a ring that holds the
/// window, the block being decoded, and the block's literals, or the content if that is smaller.
pub(crate) fn window_memory_bytes(header: &Header) -> u64 {
    let window = header.window.max(1 << 10);
    let block = u64::from(header.block_bytes_max());
    let ring = window.saturating_add(2 * block.min(BLOCK_BYTES_MAX.into()) + 2 * 32);
    block.max(CHECKSUM_BYTES as u64) + header.content_size.unwrap_or(u64::MAX).min(ring)
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder")
            .field("options", &self.options)
            .field("totals", &self.totals())
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}
