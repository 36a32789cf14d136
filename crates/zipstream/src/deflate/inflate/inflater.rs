//! The decoder's interface: streams in parts, over its own window, and whole contents into their
//! place.

use super::super::symbols::WINDOW;
use super::error::{InflateError, InflateFlaw};
use super::fast::ROOM_BYTES;
use super::machine::{Machine, Pause};

/// Content produced before the window moves back to the front: the most that a call returns, but for the
/// last copy.
pub(crate) const CONTENT_BYTES: usize = 128 << 10;
/// The whole window, and its initial size.
const WINDOW_BYTES: usize = WINDOW + CONTENT_BYTES + ROOM_BYTES;
const FIRST_BYTES: usize = 16 << 10;
/// The most input per call: positions have 32 bits.
const INPUT_BYTES_MAX: usize = 1 << 30;

/// Room that [`Inflater::part`] needs behind its content.
pub(crate) const PART_SLACK_BYTES: usize = ROOM_BYTES;

/// The result of [`Inflater::push`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Input bytes consumed; none after the end of the stream.
    pub consumed: usize,
    /// Content produced from this and earlier input: about 128 KiB at most.
    pub content: &'a [u8],
    /// Whether the stream has ended.
    pub done: bool,
}

/// The result of [`Inflater::read`] or [`Inflater::whole`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inflated {
    /// Input bytes consumed.
    pub consumed: usize,
    /// Content bytes produced.
    pub produced: usize,
    /// Whether the stream has ended and all content was returned.
    pub done: bool,
}

/// Decompresses streams one after the other and keeps its memory: 36 KiB, and a window of 160 KiB
/// once a stream comes in parts.
///
/// ```
/// use zipstream::deflate::{Compressor, Inflater};
///
/// let (content, mut stream) = (b"some text, some text, more text", Vec::new());
/// Compressor::new(6).compress(content, 0, true, &mut stream);
///
/// let mut inflater = Inflater::new();
/// let mut out = [0; 64];
/// let done = inflater.whole(&stream, &mut out, 64)?;
/// assert_eq!(&out[..done.produced], content);
///
/// // The same a byte at a time.
/// inflater.restart();
/// let mut parts = Vec::new();
/// for byte in &stream {
///     parts.extend_from_slice(inflater.push(&[*byte])?.content);
/// }
/// assert_eq!(parts, content);
/// # Ok::<(), zipstream::deflate::InflateError>(())
/// ```
#[derive(Default)]
pub struct Inflater {
    machine: Box<Machine>,
    /// The last content, after the bytes that matches may refer to.
    window: Vec<u8>,
    /// The first byte of the window that was not returned yet, and the first that was not written.
    given: usize,
    made: usize,
}

impl std::fmt::Debug for Inflater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bit = self.machine.bit();
        f.debug_struct("Inflater")
            .field("bit", &bit)
            .finish_non_exhaustive()
    }
}

impl Inflater {
    /// An inflater at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same without the instructions that [`new`](Self::new) uses where the processor has them, as BMI2.
    pub fn portable() -> Self {
        Self {
            machine: Box::new(Machine::portable()),
            ..Self::default()
        }
    }

    /// Starts a new stream.
    pub fn restart(&mut self) {
        self.machine.restart();
        (self.given, self.made) = (0, 0);
    }

    /// Starts inside a stream: at bit `bit` of it, where a block starts
    /// ([`block_start`](Self::block_start)), after the content `before`, of which the last 32 KiB count. The
    /// next input has to begin with byte `bit / 8` of the stream.
    pub fn start_at(&mut self, bit: u64, before: &[u8]) {
        self.machine.start_at(bit);
        let before = &before[before.len().saturating_sub(WINDOW)..];
        if self.window.len() < WINDOW_BYTES {
            self.window.resize(WINDOW_BYTES, 0);
        }
        self.window[..before.len()].copy_from_slice(before);
        (self.given, self.made) = (before.len(), before.len());
    }

    /// Has the next call of [`push`](Self::push) that comes to another block than the one that it may start
    /// with return before it, with its content up to there.
    pub fn stop_at_block(&mut self) {
        self.machine.stop_at_block();
    }

    /// The bit of the stream at which a block starts, if that is what comes next and all content before it
    /// was returned.
    pub fn block_start(&self) -> Option<u64> {
        let start = self.machine.block_start();
        start.filter(|_| self.given == self.made)
    }

    /// Bytes of the stream consumed. At its end this is its exact length.
    pub fn consumed(&self) -> u64 {
        self.machine.consumed()
    }

    /// Whether the stream is complete.
    pub fn is_done(&self) -> bool {
        self.machine.is_done() && self.given == self.made
    }

    /// The error for a stream whose input ends here.
    pub fn truncated(&self) -> InflateError {
        InflateError::new(InflateFlaw::Truncated, self.machine.bit())
    }

    /// Consumes input, all of it or as much as makes a piece of content, and returns the piece.
    ///
    /// A call that neither consumes nor returns anything needs more input, or is after the end.
    pub fn push(&mut self, input: &[u8]) -> Result<Piece<'_>, InflateError> {
        self.push_within(input, CONTENT_BYTES)
    }

    /// The same with a piece of about `most` bytes at most.
    pub(crate) fn push_within(
        &mut self,
        input: &[u8],
        most: usize,
    ) -> Result<Piece<'_>, InflateError> {
        let (consumed, _) = self.make(input, most.min(CONTENT_BYTES))?;
        let content = &self.window[self.given..self.made];
        self.given = self.made;
        Ok(Piece {
            consumed,
            content,
            done: self.machine.is_done(),
        })
    }

    /// The last `bytes` bytes of the content that was returned last; fewer if less is kept.
    pub(crate) fn last_content(&self, bytes: usize) -> &[u8] {
        &self.window[self.given.saturating_sub(bytes)..self.given]
    }

    /// Consumes input and writes content to `output`, until either is used up.
    pub fn read(&mut self, input: &[u8], output: &mut [u8]) -> Result<Inflated, InflateError> {
        let (mut consumed, mut produced) = (0, 0);
        loop {
            let bytes = (self.made - self.given).min(output.len() - produced);
            let content = &self.window[self.given..self.given + bytes];
            output[produced..produced + bytes].copy_from_slice(content);
            produced += bytes;
            self.given += bytes;
            if self.given < self.made || self.machine.is_done() {
                break;
            }
            let (taken, pause) = self.make(&input[consumed..], output.len() - produced)?;
            consumed += taken;
            let dry = pause == Pause::Input && consumed == input.len();
            if self.given == self.made && (dry || produced == output.len()) {
                break;
            }
        }
        Ok(Inflated {
            consumed,
            produced,
            done: self.is_done(),
        })
    }

    /// Produces about `most` bytes of content after what was returned.
    fn make(&mut self, input: &[u8], most: usize) -> Result<(usize, Pause), InflateError> {
        if self.given == self.made && self.made + ROOM_BYTES >= self.window.len() {
            self.make_room();
        }
        let input = &input[..input.len().min(INPUT_BYTES_MAX)];
        // Before all content was returned there may be no room at all.
        let end = self.window.len();
        let full = self.made + most.min(end.saturating_sub(ROOM_BYTES + self.made));
        let room = &mut self.window[..end.min(full + ROOM_BYTES)];
        let ran = self.machine.run(input, room, self.made, full)?;
        self.made = ran.at;
        Ok((ran.consumed, ran.pause))
    }

    /// Makes room after all content was returned: with more memory, as a small stream needs little,
    /// or by moving the bytes that matches may refer to to the front.
    fn make_room(&mut self) {
        let bytes = self.window.len();
        if bytes < WINDOW_BYTES {
            let more = (4 * bytes).clamp(FIRST_BYTES, WINDOW_BYTES);
            self.window.resize(more, 0);
            return;
        }
        self.window.copy_within(self.made - WINDOW..self.made, 0);
        (self.given, self.made) = (WINDOW, WINDOW);
    }

    /// Goes on with a stream whose content is gathered in `output`: after the first `filled` bytes of it, which calls before have
    /// written, up to about byte `full`. More room behind that makes it faster.
    pub(crate) fn gather(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        filled: usize,
        full: usize,
    ) -> Result<Inflated, InflateError> {
        let part = &input[..input.len().min(INPUT_BYTES_MAX)];
        let room = output.len().min(full.saturating_add(ROOM_BYTES));
        let ran = self.machine.run(part, &mut output[..room], filled, full)?;
        Ok(Inflated {
            consumed: ran.consumed,
            produced: ran.at - filled,
            done: self.machine.is_done(),
        })
    }

    /// Decompresses a part of a stream: from bit `bit` on, where a block starts, `content` bytes behind the
    /// first `before` bytes of `output`, which are the content before the part. `input` begins with byte
    /// `bit / 8` of the stream. The `last` part has to end with the stream, and another one after a block.
    ///
    /// `output` needs room for [`PART_SLACK_BYTES`] more.
    pub(crate) fn part(
        &mut self,
        bit: u64,
        input: &[u8],
        output: &mut [u8],
        (before, content): (usize, usize),
        last: bool,
    ) -> Result<(), InflateError> {
        self.machine.start_at(bit);
        let full = before + content;
        let (mut consumed, mut at) = (0, before);
        loop {
            let rest = &input[consumed..];
            let part = &rest[..rest.len().min(INPUT_BYTES_MAX)];
            let ran = self.machine.run(part, output, at, full)?;
            (consumed, at) = (consumed + ran.consumed, ran.at);
            let done = ran.pause == Pause::Done;
            if at >= full && (!last || (done && at == full)) {
                return Ok(());
            }
            let flaw = match ran.pause {
                Pause::Room => InflateFlaw::Room,
                _ if at > full => InflateFlaw::Room,
                _ if done || consumed == input.len() => InflateFlaw::Truncated,
                _ => continue,
            };
            return Err(InflateError::new(flaw, self.machine.bit()));
        }
    }

    /// Decompresses a whole stream to the start of `output`. More than `most` bytes of content are
    /// an error. Up to 300 more bytes of `output` make it faster.
    ///
    /// Input after the end of the stream is not consumed.
    pub fn whole(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        most: usize,
    ) -> Result<Inflated, InflateError> {
        self.restart();
        let most = most.min(output.len());
        let length = output.len().min(most.saturating_add(ROOM_BYTES));
        let output = &mut output[..length];
        let (mut consumed, mut produced) = (0, 0);
        loop {
            let rest = &input[consumed..];
            let part = &rest[..rest.len().min(INPUT_BYTES_MAX)];
            let ran = self.machine.run(part, output, produced, most)?;
            (consumed, produced) = (consumed + ran.consumed, ran.at);
            let full = ran.pause == Pause::Room || produced > most;
            if full {
                return Err(InflateError::new(InflateFlaw::Room, self.machine.bit()));
            }
            if ran.pause == Pause::Done {
                return Ok(Inflated {
                    consumed,
                    produced,
                    done: true,
                });
            }
            if consumed == input.len() {
                return Err(self.truncated());
            }
        }
    }
}
