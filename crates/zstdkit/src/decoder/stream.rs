//! The streaming decoder: a stream of frames in any cut goes in, content comes out, one block per call.
//!
//! `walk` says which bytes belong to which part, and libzstd decodes the blocks. This module checks what
//! a frame header states (window, size, checksum, dictionary): limits apply before memory is allocated,
//! and every error names its byte.

use super::blocks::{Blocks, window_memory_bytes};
#[cfg(feature = "tokio")]
use super::progress::Suspended;
use super::progress::Totals;
use crate::error::{Error, Repr};
use crate::format::{BLOCK_BYTES_MAX, BLOCK_HEADER_BYTES, Block, CHECKSUM_BYTES, Header};
use crate::options::DecoderOptions;
use crate::reservation::Reservation;
use crate::step::{State, Step};
use crate::walk::{Event, Walker};

/// Decompresses a stream of frames, in calls of at most one block.
///
/// Give input with [`push`](Decoder::push), in any cut. At its end call [`finish`](Decoder::finish), which
/// says whether the stream is complete. Skippable frames are skipped. Content is handed out before the
/// checksum of its frame was read: trust it only after `finish` has succeeded.
///
/// # What bounds a call
/// A call decodes at most one block, so it produces at most 128 KiB. It takes no input beyond that
/// block and what lies between it and the previous one.
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
#[doc(alias = "ZSTD_DStream")]
pub struct Decoder {
    options: DecoderOptions,
    /// The memory that the context holds before its first window.
    pub(super) context_bytes: usize,
    pub(super) walker: Walker,
    blocks: Blocks,
    failed: Option<Error>,
    /// The memory it may hold, if it belongs to a pool.
    pub(crate) reservation: Option<Reservation>,
    /// Whether a frame that finds the budget short waits, and where one did.
    #[cfg(feature = "tokio")]
    pub(super) suspends: bool,
    #[cfg(feature = "tokio")]
    pub(super) suspended: Option<Suspended>,
}

impl Decoder {
    /// Makes a context. Its window is allocated by the first frame that needs one.
    pub fn new(options: &DecoderOptions) -> Result<Self, Error> {
        let blocks = Blocks::new(options)?;
        Ok(Self {
            options: options.clone(),
            context_bytes: blocks.context_bytes(),
            walker: Walker::new(),
            blocks,
            failed: None,
            reservation: None,
            #[cfg(feature = "tokio")]
            suspends: false,
            #[cfg(feature = "tokio")]
            suspended: None,
        })
    }

    /// The options it was made with.
    pub fn options(&self) -> &DecoderOptions {
        &self.options
    }

    /// A good chunk size for input, in bytes: a whole block with its header.
    pub const fn recommended_input_bytes() -> usize {
        BLOCK_HEADER_BYTES + BLOCK_BYTES_MAX as usize
    }

    /// An output of this many bytes has room for everything that a call can produce.
    pub const fn recommended_output_bytes() -> usize {
        BLOCK_BYTES_MAX as usize
    }

    /// Forgets the stream, including an error, and starts at byte 0 of another. Options and memory
    /// stay.
    pub fn reset(&mut self) {
        self.walker = Walker::new();
        self.blocks.reset();
        self.failed = None;
        #[cfg(feature = "tokio")]
        {
            (self.suspends, self.suspended) = (false, None);
        }
    }

    /// Forgets the stream and continues in the middle of one, after what `before` counts. The next input
    /// must begin a frame. Offsets in errors, totals and the output limit refer to the whole stream.
    ///
    /// ```
    /// let stream = [b"one", b"two"].map(|c| zstdkit::compress(c, &Default::default()).unwrap());
    /// let mut decoder = zstdkit::Decoder::new(&Default::default())?;
    /// let mut before = zstdkit::Totals::default();
    /// before.bytes_in = stream[0].len() as u64;
    /// decoder.resume(before);
    /// let error = decoder.push(b"two?", &mut [0; 3]).unwrap_err();
    /// assert_eq!(error.offset(), Some(stream[0].len() as u64));
    /// # Ok::<(), zstdkit::Error>(())
    /// ```
    pub fn resume(&mut self, before: Totals) {
        self.reset();
        self.walker = Walker::resume(before.bytes_in, before.frames, before.skippable_frames);
        self.blocks
            .resume(before.bytes_out, before.checksums_verified);
    }

    /// Whether the stream may end here: no frame is open and no output is left.
    pub fn at_boundary(&self) -> bool {
        self.failed.is_none() && !self.blocks.waiting() && self.walker.at_boundary()
    }

    /// The header of the current frame, if the first block begins here.
    pub(crate) fn opened(&self) -> Option<Header> {
        let header = self.blocks.unopened()?;
        self.walker.at_block_header().then_some(header)
    }

    pub(crate) fn walker(&self) -> &Walker {
        &self.walker
    }

    /// Takes input and writes content, at most one block of it.
    ///
    /// Give input that was not consumed again. Every call takes or writes something, unless there is
    /// nothing to take or no room to write. After an error every call repeats the error until
    /// [`reset`](Decoder::reset).
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

    /// Returns what was decoded, or why the stream may not end here: it is truncated (the error names the
    /// byte and the part of the frame), it is empty, or decoded bytes are left for another
    /// [`push`](Decoder::push).
    pub fn finish(&self) -> Result<Totals, Error> {
        if let Some(ref error) = self.failed {
            return Err(error.clone());
        }
        if self.blocks.waiting() {
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

    /// What was decoded so far, whether or not the stream may end here.
    pub fn totals(&self) -> Totals {
        Totals {
            frames: self.walker.frames(),
            skippable_frames: self.walker.skippable_frames(),
            bytes_in: self.walker.offset(),
            bytes_out: self.blocks.bytes_out(),
            checksums_verified: self.blocks.checksums_verified(),
        }
    }

    /// How many more bytes complete the current block and the header of the next, at least one.
    #[cfg(feature = "tokio")]
    pub(crate) fn wants(&self) -> usize {
        self.walker.wants().max(1)
    }

    /// Whether content is left of a block that was decoded.
    #[cfg(feature = "tokio")]
    pub(crate) fn waiting(&self) -> bool {
        self.blocks.waiting()
    }

    /// Whether a [`push`](Decoder::push) of these bytes may decode a block. Else it copies them, or what
    /// is left of a block.
    #[cfg(feature = "tokio")]
    pub(crate) fn may_decode(&self, input: &[u8]) -> bool {
        let needed = match self.walker.body_left() as usize {
            0 if self.walker.after_last_block() => CHECKSUM_BYTES + 1,
            0 if self.walker.at_block_header() => {
                let header = input.first_chunk().copied();
                let block = header.and_then(|bytes| Block::parse(bytes, u32::MAX, 0).ok());
                BLOCK_HEADER_BYTES + block.map_or(0, |block| block.stored_bytes() as usize)
            }
            0 => BLOCK_HEADER_BYTES + 1,
            left => left,
        };
        !self.blocks.waiting() && input.len() >= needed
    }

    /// Bytes of memory that the decoder holds, including its window.
    pub fn memory_bytes(&self) -> usize {
        self.blocks.context_bytes() + size_of::<Self>()
    }

    /// Whether libzstd itself failed in it.
    pub(crate) fn spoiled(&self) -> bool {
        self.failed.as_ref().is_some_and(Error::spoils_context)
    }

    /// Accounts for the memory it holds. `false`: the budget of its pool is exceeded.
    pub(crate) fn settle_reservation(&mut self) -> bool {
        let held = self.memory_bytes() as u64;
        self.reservation.as_mut().is_none_or(|reservation| {
            reservation.shrink(held);
            reservation.settle(held)
        })
    }

    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Error> {
        let mut call = Call {
            input,
            taken: 0,
            output,
            produced: 0,
            frame_at: None,
        };
        let mut decoded = false;
        if self.blocks.waiting() {
            call.produced = self.blocks.drain(call.output)?;
            decoded = call.produced > 0;
            if !self.blocks.waiting() && self.walker.body_left() == 0 {
                self.blocks.close_block(self.walker.after_last_block())?;
            }
        }
        // The end of a frame belongs to the call of its last block.
        while !self.blocks.waiting() && (!decoded || self.walker.after_last_block()) {
            if self.walker.at_boundary() {
                call.frame_at = Some(call.taken);
            }
            let (count, event) = self.walker.next(call.rest())?;
            call.taken += count;
            match event {
                Event::NeedInput => break,
                #[cfg(feature = "tokio")]
                Event::Header(header) if self.suspends => {
                    if !self.open_or_suspend(header)? {
                        break;
                    }
                }
                Event::Header(header) => self.open_frame(header)?,
                Event::Block(block) => {
                    decoded = self.block(block, count == BLOCK_HEADER_BYTES, &mut call)?;
                }
                Event::Body(left) => {
                    let body = call.take(left);
                    let produced = self.blocks.feed(body, &mut call.output[call.produced..])?;
                    call.produced += produced;
                    decoded = self.took(body.len() as u32)?;
                }
                Event::Skippable(left) => self.walker.take(call.take(left).len() as u32),
                Event::FrameEnd(checksum) => {
                    self.blocks
                        .close_frame(checksum, self.walker.part_start())?;
                    break;
                }
                Event::SkippableEnd(_) => {}
            }
        }
        let state = match () {
            () if self.blocks.waiting() || call.taken < input.len() => State::MoreOutput,
            () if self.walker.at_boundary() && self.walker.offset() > 0 => State::Done,
            () => State::NeedInput,
        };
        Ok(Step {
            consumed: call.taken,
            produced: call.produced,
            state,
        })
    }

    /// Checks a frame header against the limits, before anything is allocated for the frame.
    pub(super) fn open_frame(&mut self, header: Header) -> Result<(), Error> {
        let offset = self.walker.frame_start();
        self.choose_dictionary(&header, offset)?;
        let limit = self.options.window_bytes_max();
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
            if stated > limit.saturating_sub(self.blocks.bytes_out()) {
                return Err(Repr::OutputLimit { offset, limit }.into());
            }
        }
        if let Some(limit) = self.options.memory_limit {
            let need = need_bytes(self.context_bytes, &header);
            if need > limit {
                return Err(Repr::MemoryLimit {
                    offset,
                    need,
                    limit,
                }
                .into());
            }
        }
        if let Some(reservation) = &mut self.reservation {
            reservation.cover(need_bytes(self.context_bytes, &header))?;
        }
        self.blocks
            .open_frame(header, self.walker.header_bytes(&header), offset);
        Ok(())
    }

    fn choose_dictionary(&mut self, header: &Header, offset: u64) -> Result<(), Error> {
        let given = &self.options.dictionaries;
        let chosen = match header.dictionary {
            0 => Some(0),
            id => given.iter().position(|one| one.id() == Some(id)),
        };
        match chosen {
            Some(at) => self.blocks.use_dictionary(at),
            None => Err(Repr::Dictionary {
                offset,
                id: header.dictionary,
                given: given.first().map(|one| one.id().unwrap_or(0)),
            }
            .into()),
        }
    }

    /// Starts a block, and decodes it if its body is in the input. `adjacent`: its header is in this input
    /// too, right before the body. Returns whether the block was decoded.
    fn block(&mut self, block: Block, adjacent: bool, call: &mut Call<'_>) -> Result<bool, Error> {
        self.blocks.open_block(self.walker.part_start());
        let body = block.stored_bytes();
        if let Some(frame) = call.whole_frame(block, self.walker.checksum_follows()) {
            let room = &mut call.output[call.produced..];
            if let Some(count) = self.blocks.whole_frame(frame, room) {
                call.produced += count;
                call.take(body);
                return self.took(body);
            }
        }
        self.blocks.begin_frame()?;
        if adjacent && !block.last && call.rest().len() >= body as usize {
            let bytes = &call.input[call.taken - BLOCK_HEADER_BYTES..][..body as usize + 3];
            let produced = self.blocks.feed(bytes, &mut call.output[call.produced..])?;
            call.produced += produced;
            call.take(body);
            return self.took(body);
        }
        self.blocks.begin_block(block)?;
        if body == 0 {
            return self.took(0);
        }
        Ok(false)
    }

    /// Counts decoded bytes of a body. Returns whether they were the last ones.
    fn took(&mut self, count: u32) -> Result<bool, Error> {
        self.walker.take(count);
        let whole = self.walker.body_left() == 0;
        if whole && !self.blocks.waiting() {
            self.blocks.close_block(self.walker.after_last_block())?;
        }
        Ok(whole)
    }
}

/// The memory that a decoder needs for a frame, given what its context takes before its first window.
pub(crate) fn need_bytes(context_bytes: usize, header: &Header) -> u64 {
    window_memory_bytes(header).saturating_add((context_bytes + size_of::<Decoder>()) as u64)
}

/// The buffers of one call.
struct Call<'a> {
    input: &'a [u8],
    taken: usize,
    output: &'a mut [u8],
    produced: usize,
    /// The position of the current frame in the input, if it began there.
    frame_at: Option<usize>,
}

impl<'a> Call<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.input[self.taken..]
    }

    /// Takes at most `count` bytes of the input.
    fn take(&mut self, count: u32) -> &'a [u8] {
        let rest = self.rest();
        let bytes = &rest[..rest.len().min(count as usize)];
        self.taken += bytes.len();
        bytes
    }

    /// The current frame, if this is its only block and the input has all of it.
    fn whole_frame(&self, block: Block, checksum: bool) -> Option<&'a [u8]> {
        let start = self.frame_at.filter(|_| block.last)?;
        let checksum = if checksum { CHECKSUM_BYTES } else { 0 };
        let end = self.taken + block.stored_bytes() as usize + checksum;
        self.input.get(start..end)
    }
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
