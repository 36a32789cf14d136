//! The inflater: streams as they come, over a window of its own, and whole contents to their place.

use super::super::symbols::WINDOW;
use super::error::{InflateError, InflateFlaw};
use super::fast::ROOM_BYTES;
use super::machine::{Machine, Pause};

/// Content that is made before what may be referred to is moved to the front again.
const CONTENT_BYTES: usize = 128 << 10;
/// All of the window, and what there is of it at first.
const WINDOW_BYTES: usize = WINDOW + CONTENT_BYTES + ROOM_BYTES;
const FIRST_BYTES: usize = 16 << 10;
/// What one call takes at most: places are held in 32 bits.
const INPUT_BYTES_MAX: usize = 1 << 30;

/// What a call of [`Inflater::push`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Input that was taken. Behind the end of the stream nothing is.
    pub consumed: usize,
    /// Content that was made of it, and of what was taken before: up to 128 KiB and little more.
    pub content: &'a [u8],
    /// Whether that was the end of the stream.
    pub done: bool,
}

/// What a call of [`Inflater::read`] or [`Inflater::whole`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inflated {
    /// Input that was taken.
    pub consumed: usize,
    /// Content that was made of it.
    pub produced: usize,
    /// Whether that was the end of the stream, and all content was given.
    pub done: bool,
}

/// Decompresses streams one after the other, keeping its memory: 20 KiB, and 160 KiB of window once a
/// stream comes in parts.
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
    /// The content made last, behind what may be referred to.
    window: Vec<u8>,
    /// The first byte of the window that was not given yet, and the first that was not made.
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

    /// Starts another stream.
    pub fn restart(&mut self) {
        self.machine.restart();
        (self.given, self.made) = (0, 0);
    }

    /// Bytes of the stream that were taken. At its end that is where it ends.
    pub fn consumed(&self) -> u64 {
        self.machine.consumed()
    }

    /// Whether the stream is complete.
    pub fn is_done(&self) -> bool {
        self.machine.is_done() && self.given == self.made
    }

    /// The error of a stream whose input ends here.
    pub fn truncated(&self) -> InflateError {
        InflateError::new(InflateFlaw::Truncated, self.machine.bit())
    }

    /// Takes input, all of it or as much as becomes a piece of content, and lends that.
    ///
    /// A call that neither takes nor gives anything needs more input, or is behind the end.
    pub fn push(&mut self, input: &[u8]) -> Result<Piece<'_>, InflateError> {
        let (consumed, _) = self.make(input, CONTENT_BYTES)?;
        let content = &self.window[self.given..self.made];
        self.given = self.made;
        Ok(Piece {
            consumed,
            content,
            done: self.machine.is_done(),
        })
    }

    /// The last `bytes` of the content that was lent; fewer where less is kept.
    pub(crate) fn last_content(&self, bytes: usize) -> &[u8] {
        &self.window[self.given.saturating_sub(bytes)..self.given]
    }

    /// Takes input and writes content to `output`, until there is no more of the one or no more room
    /// in the other.
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

    /// Makes about `most` bytes of content behind what was made and given.
    fn make(&mut self, input: &[u8], most: usize) -> Result<(usize, Pause), InflateError> {
        if self.given == self.made && self.made + ROOM_BYTES >= self.window.len() {
            self.make_room();
        }
        let input = &input[..input.len().min(INPUT_BYTES_MAX)];
        // Behind content that was not given yet there may be no room at all.
        let end = self.window.len();
        let full = self.made + most.min(end.saturating_sub(ROOM_BYTES + self.made));
        let room = &mut self.window[..end.min(full + ROOM_BYTES)];
        let ran = self.machine.run(input, room, self.made, full)?;
        self.made = ran.at;
        Ok((ran.consumed, ran.pause))
    }

    /// Makes room behind the content, where all of it was given: by more memory, as a small stream
    /// needs little, or by moving what may be referred to to the front.
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

    /// Decompresses a whole stream to the start of `output`. It is an error if that is more than `most`
    /// bytes. What `output` is longer than `most` serves to be faster, up to 300 bytes.
    ///
    /// Input behind the end of the stream is not taken.
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
