//! The decoder of a stream: which frames are shared by threads, and which go through libzstd.

use std::time::Duration;

use super::dictionary::Parsed;
use super::frame::{Frame, Progress};
use super::pipeline::Pipeline;
use super::window::Window;
use crate::decoder::{Decoder, Totals};
use crate::error::Error;
use crate::format::{self, HEADER_BYTES_MAX, Header, MAGIC};
use crate::options::DecoderOptions;
use crate::step::{State, Step};

/// Smaller frames are not shared, unless set otherwise.
const CONTENT_BYTES_MIN: u64 = 1 << 20;
/// The largest window that is decoded here.
const WINDOW_BYTES_MAX: u64 = 128 << 20;
/// What a block in flight takes at most: as stored, its literals, and its sequences of three bytes and more.
const BLOCK_MEMORY_BYTES: u64 = 128 * 1024 * 2 + 128 * 1024 / 3 * 8;

/// Decompresses a stream of frames, each frame with several threads.
///
/// Threads undo the entropy coding of the blocks ahead, and the calling thread executes their sequences in order. It
/// decodes blocks itself rather than wait. Content and errors are those of a [`Decoder`], which decodes the frames
/// that are not worth it: of less than 1 MiB, or with a window of more than 128 MiB.
///
/// It takes more processor time than a [`Decoder`]: use it where a processor is idle.
///
/// A call takes input up to a few blocks, and decodes at most two blocks on the calling thread: one for a thread that
/// is late, and the next in order.
///
/// The format allows nothing that this decoder refuses, but in two cases libzstd is more tolerant, depending on its
/// buffers and on the processor: an offset behind the window, and literals that do not end with their bit stream. No
/// encoder writes such a frame. Here it is corrupt.
///
/// ```
/// use std::time::Duration;
/// use zstdkit::{State, parallel::BlockDecoder};
///
/// let content: Vec<u8> = (0..4_000_000_u32).map(|at| (at.wrapping_mul(at) >> 13) as u8).collect();
/// let frame = zstdkit::compress(&content, &Default::default())?;
/// let mut decoder = BlockDecoder::new(&Default::default(), 2)?;
/// let (mut rest, mut decoded, mut room) = (&frame[..], Vec::new(), vec![0; 1 << 17]);
/// loop {
///     let step = decoder.push(rest, &mut room, Duration::from_millis(1))?;
///     rest = &rest[step.consumed..];
///     decoded.extend_from_slice(&room[..step.produced]);
///     if step.state == State::Done {
///         break;
///     }
/// }
/// assert_eq!(decoder.finish()?.frames, 1);
/// assert_eq!(decoded, content);
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[doc(alias = "multithreading")]
pub struct BlockDecoder {
    options: DecoderOptions,
    threads: usize,
    plain: Decoder,
    pipeline: Pipeline,
    mode: Mode,
    /// The dictionaries of the options, as far as they were needed.
    dictionaries: Vec<Option<Parsed>>,
    /// The memory of the last window.
    memory: Vec<u8>,
    shared_frames: u64,
    content_bytes_min: u64,
    failed: Option<Error>,
}

enum Mode {
    /// A frame begins here.
    Boundary,
    /// A frame header that comes in pieces, of which this many bytes were taken.
    Header(usize),
    /// In a skippable frame, of which this many bytes are left.
    Skippable(u64),
    /// In a frame that libzstd decodes.
    Plain,
    /// In a frame that is shared by threads. The totals before it.
    Shared(Box<Frame>, Totals),
}

impl BlockDecoder {
    /// A decoder for this many threads, the calling one included. With one or none it is a [`Decoder`].
    pub fn new(options: &DecoderOptions, threads: usize) -> Result<Self, Error> {
        Ok(Self {
            options: options.clone(),
            threads,
            plain: Decoder::new(options)?,
            pipeline: Pipeline::new(threads),
            mode: Mode::Boundary,
            dictionaries: Vec::new(),
            memory: Vec::new(),
            shared_frames: 0,
            content_bytes_min: CONTENT_BYTES_MIN,
            failed: None,
        })
    }

    /// Leaves frames that state a smaller size to the calling thread alone. The default is 1 MiB.
    #[must_use]
    pub fn content_bytes_min(mut self, bytes: u64) -> Self {
        self.content_bytes_min = bytes;
        self
    }

    /// Forgets the stream and starts at byte 0 of another, keeping threads and memory.
    pub fn reset(&mut self) {
        self.resume(Totals::default());
    }

    /// Forgets the stream and goes on behind what was decoded elsewhere.
    pub(crate) fn resume(&mut self, before: Totals) {
        self.abandon();
        self.plain.resume(before);
        self.failed = None;
    }

    fn abandon(&mut self) {
        self.pipeline.forget();
        if let Mode::Shared(frame, _) = std::mem::replace(&mut self.mode, Mode::Boundary) {
            self.memory = frame.into_memory();
        }
    }

    /// Whether the stream may end here: no frame is open and no output is left.
    pub fn at_boundary(&self) -> bool {
        self.failed.is_none() && !matches!(self.mode, Mode::Shared(..)) && self.plain.at_boundary()
    }

    /// The number of threads that were started.
    pub fn threads(&self) -> usize {
        self.pipeline.threads()
    }

    /// Frames that were shared by threads.
    pub fn shared_frames(&self) -> u64 {
        self.shared_frames
    }

    /// What was decoded so far, whether or not the stream may end here.
    pub fn totals(&self) -> Totals {
        match &self.mode {
            Mode::Shared(frame, before) => Totals {
                bytes_in: frame.walker().offset(),
                bytes_out: before.bytes_out + frame.handed_out(),
                ..*before
            },
            _ => self.plain.totals(),
        }
    }

    /// Takes input and writes content, at most one block of it. If it can do nothing else, it waits for a thread up to
    /// `wait`, and may then have done nothing.
    ///
    /// Give input that was not consumed again. After an error every call repeats the error until
    /// [`reset`](BlockDecoder::reset).
    pub fn push(&mut self, input: &[u8], output: &mut [u8], wait: Duration) -> Result<Step, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let result = self.step(input, output, wait);
        if let Err(error) = &result {
            self.failed = Some(error.clone());
            self.pipeline.forget();
        }
        result
    }

    /// Returns what was decoded, or why the stream may not end here.
    pub fn finish(&self) -> Result<Totals, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if let Mode::Shared(frame, _) = &self.mode {
            if frame.has_content() || !self.pipeline.is_idle() {
                let offset = frame.walker().offset();
                return Err(crate::error::Repr::Undrained { offset }.into());
            }
            frame.walker().finish()?;
            return Ok(self.totals());
        }
        self.plain.finish()
    }

    fn step(&mut self, input: &[u8], output: &mut [u8], wait: Duration) -> Result<Step, Error> {
        let mut taken = 0;
        loop {
            let rest = &input[taken..];
            match &mut self.mode {
                Mode::Boundary => {
                    if rest.is_empty() || self.threads < 2 {
                        self.mode = Mode::Plain;
                    } else if let Some((header, _)) = format::split_header(rest) {
                        self.mode = Mode::Plain;
                        if self.suits(&header) {
                            taken += self.plain.push(&rest[..header.bytes], &mut [])?.consumed;
                            self.share(&header);
                        }
                    } else if MAGIC.to_le_bytes().starts_with(&rest[..rest.len().min(4)]) {
                        self.mode = Mode::Header(0);
                    } else {
                        self.mode = match format::skippable_bytes(rest) {
                            Some(bytes) => Mode::Skippable(bytes),
                            None => Mode::Plain,
                        };
                    }
                }
                Mode::Skippable(left) => {
                    let count = rest.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    let consumed = self.plain.push(&rest[..count], &mut [])?.consumed;
                    taken += consumed;
                    *left -= consumed as u64;
                    if *left == 0 {
                        self.mode = Mode::Boundary;
                    } else if consumed == rest.len() {
                        return Ok(self.stopped(taken, 0, State::NeedInput));
                    }
                }
                Mode::Header(count) => {
                    let Some(byte) = rest.get(..1) else {
                        return Ok(self.stopped(taken, 0, State::NeedInput));
                    };
                    *count += 1;
                    let enough = *count >= HEADER_BYTES_MAX;
                    taken += self.plain.push(byte, &mut [])?.consumed;
                    if let Some(header) = self.plain.opened() {
                        self.mode = Mode::Plain;
                        if self.suits(&header) {
                            self.share(&header);
                        }
                    } else if enough {
                        self.mode = Mode::Plain;
                    }
                }
                Mode::Plain => {
                    let step = self.plain.push(rest, output)?;
                    if self.plain.at_boundary() {
                        self.mode = Mode::Boundary;
                    }
                    return Ok(self.stopped(taken + step.consumed, step.produced, step.state));
                }
                Mode::Shared(..) => {
                    let (consumed, produced, state) = self.step_shared(rest, output, wait)?;
                    taken += consumed;
                    let state = match state {
                        State::Done if taken < input.len() => State::MoreOutput,
                        state => state,
                    };
                    return Ok(self.stopped(taken, produced, state));
                }
            }
        }
    }

    fn stopped(&self, consumed: usize, produced: usize, state: State) -> Step {
        Step {
            consumed,
            produced,
            state,
        }
    }

    /// Whether the threads should decode this frame.
    fn suits(&mut self, header: &Header) -> bool {
        let content_max = header.content_size.unwrap_or(u64::MAX);
        let memory = Window::bytes(
            header.window,
            header.block_bytes_max().into(),
            header.content_size,
        )
        .saturating_add(Pipeline::depth(self.threads) as u64 * BLOCK_MEMORY_BYTES);
        content_max >= self.content_bytes_min
            && header.window <= WINDOW_BYTES_MAX
            && self.options.prefix.is_none()
            && self
                .options
                .memory_limit
                .is_none_or(|limit| memory <= limit)
            && self.dictionary_is_ready(header)
    }

    /// Reads the dictionary of a frame. `false`: libzstd has to judge it.
    fn dictionary_is_ready(&mut self, header: &Header) -> bool {
        let given = &self.options.dictionaries;
        if given.is_empty() {
            return header.dictionary == 0;
        }
        self.dictionaries.resize(given.len(), None);
        match self.choose(header) {
            Some(at) if self.dictionaries[at].is_none() => {
                self.dictionaries[at] = Parsed::read(&self.options.dictionaries[at]).ok();
                self.dictionaries[at].is_some()
            }
            chosen => chosen.is_some(),
        }
    }

    /// The dictionary of a frame: that which it names, or the first one.
    fn choose(&self, header: &Header) -> Option<usize> {
        let given = &self.options.dictionaries;
        match header.dictionary {
            0 => Some(0),
            id => given.iter().position(|one| one.id() == Some(id)),
        }
    }

    /// Takes over a frame whose header was read and accepted.
    fn share(&mut self, header: &Header) {
        let before = self.plain.totals();
        let chosen = self.choose(header);
        let dictionary = chosen.and_then(|at| self.dictionaries.get(at)?.as_ref());
        let mut frame = Frame::new(
            *header,
            self.plain.walker().clone(),
            std::mem::take(&mut self.memory),
            dictionary,
            self.options.verify_checksum,
        );
        if let Some(limit) = self.options.output_limit {
            frame.limit(limit.saturating_sub(before.bytes_out), limit);
        }
        self.shared_frames += 1;
        self.mode = Mode::Shared(Box::new(frame), before);
    }

    fn step_shared(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        mut wait: Duration,
    ) -> Result<(usize, usize, State), Error> {
        let Mode::Shared(frame, before) = &mut self.mode else {
            return Ok((0, 0, State::NeedInput));
        };
        let mut taken = 0;
        loop {
            taken += frame.absorb(&input[taken..], &mut self.pipeline);
            if frame.has_content() {
                let produced = frame.hand_out(output);
                return Ok((taken, produced, State::MoreOutput));
            }
            match frame.advance(&mut self.pipeline, wait)? {
                Progress::Content => {}
                Progress::Some => return Ok((taken, 0, State::MoreOutput)),
                Progress::Waited => {
                    if wait.is_zero() {
                        return Ok((taken, 0, State::MoreOutput));
                    }
                    wait = Duration::ZERO;
                }
                Progress::Hungry if taken < input.len() => {}
                Progress::Hungry => return Ok((taken, 0, State::NeedInput)),
                Progress::Complete(verified) => {
                    let totals = Totals {
                        frames: before.frames + 1,
                        bytes_in: frame.walker().offset(),
                        bytes_out: before.bytes_out + frame.handed_out(),
                        checksums_verified: before.checksums_verified + u64::from(verified),
                        ..*before
                    };
                    self.abandon();
                    self.plain.resume(totals);
                    return Ok((taken, 0, State::Done));
                }
            }
        }
    }
}

impl std::fmt::Debug for BlockDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockDecoder")
            .field("options", &self.options)
            .field("threads", &self.threads)
            .field("totals", &self.totals())
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}
