//! Cutting a stream of frames into runs that can be decoded apart, as its bytes arrive.
//!
//! The planner never fails. What is not a frame, is cut off, or is too large to hold is left to
//! the decoder that goes through it in order, which finds the same fault at the same byte.

use crate::decoder::Totals;
use crate::frame::{FrameInfo, FrameKind, Scanner};

/// Input is looked at in pieces of this size, so that a large frame is noticed before much of it
/// is held.
const PIECE_BYTES: usize = 256 << 10;

/// How much the planner holds of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The largest frame to be held, in bytes of the stream.
    pub(super) stored_bytes_max: usize,
    /// The same for a frame that does not state its size: whether it is going to end soon is
    /// anybody's guess.
    pub(super) unsized_bytes_max: usize,
    /// The most content of a frame to be held.
    pub(super) content_bytes_max: u64,
    /// A run of frames is closed when it has this many bytes of the stream,
    pub(super) run_stored_bytes: usize,
    /// or this much content.
    pub(super) run_content_bytes: u64,
}

/// A run of whole frames.
#[derive(Debug)]
pub(super) struct Run {
    /// The byte of the stream at which it begins.
    pub(super) start: u64,
    pub(super) bytes: Vec<u8>,
    /// Where its content begins in that of the stream, if all frames before it say how much they
    /// have.
    pub(super) content_start: Option<u64>,
    /// The most that its content can be.
    pub(super) content_bytes_max: u64,
    /// Whether its content is exactly that, by what its frames say.
    pub(super) sized: bool,
    pub(super) frames: u64,
    pub(super) skippable_frames: u64,
    /// Frames that have a checksum.
    pub(super) checksums: u64,
}

impl Run {
    /// One without frames.
    fn new(start: u64, content_start: Option<u64>, bytes: Vec<u8>) -> Self {
        Self {
            start,
            bytes,
            content_start,
            content_bytes_max: 0,
            sized: true,
            frames: 0,
            skippable_frames: 0,
            checksums: 0,
        }
    }
}

/// What is next in the stream.
#[derive(Debug)]
pub(super) enum Part {
    /// Frames that can be decoded apart.
    Frames(Run),
    /// The beginning of something that has to be decoded in order, from here on.
    InOrder(Vec<u8>),
}

#[derive(Debug)]
pub(super) struct Planner {
    scanner: Scanner,
    limits: Limits,
    /// Whole frames, and behind them what is there of the next.
    run: Run,
    /// Bytes of the whole frames.
    whole: usize,
    /// Whether that frame has to be decoded in order.
    in_order: bool,
}

impl Planner {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            scanner: Scanner::new(),
            limits,
            run: Run::new(0, Some(0), Vec::new()),
            whole: 0,
            in_order: false,
        }
    }

    /// Forgets everything and begins with the frame behind these totals.
    pub(super) fn resume(&mut self, before: &Totals) {
        self.scanner = Scanner::resume(before);
        self.run = Run::new(before.bytes_in, Some(before.bytes_out), Vec::new());
        self.whole = 0;
        self.in_order = false;
    }

    /// Takes input up to the next part of the stream. Without one, all of it was taken. `spare`
    /// gives the memory for another run.
    pub(super) fn push(
        &mut self,
        input: &[u8],
        spare: impl FnOnce() -> Vec<u8>,
    ) -> (usize, Option<Part>) {
        let mut taken = 0;
        loop {
            if self.in_order || self.is_long() {
                return (taken, Some(self.close(spare)));
            }
            let piece = &input[taken..];
            let piece = &piece[..piece.len().min(PIECE_BYTES)];
            if piece.is_empty() {
                return (taken, None);
            }
            let Ok((count, found)) = self.scanner.push(piece) else {
                self.in_order = true;
                continue;
            };
            self.run.bytes.extend_from_slice(&piece[..count]);
            taken += count;
            match found {
                // It may have ended before its size was noticed.
                Some(frame) if content_bytes(&frame) > self.limits.content_bytes_max => {
                    self.in_order = true;
                }
                Some(frame) => self.add(&frame),
                None => self.in_order = self.is_too_large(),
            }
        }
    }

    /// Counts a frame that is whole.
    fn add(&mut self, frame: &FrameInfo) {
        let run = &mut self.run;
        self.whole = run.bytes.len();
        match frame.kind {
            FrameKind::Zstd => run.frames += 1,
            FrameKind::Skippable { .. } => run.skippable_frames += 1,
        }
        run.checksums += u64::from(frame.has_checksum);
        run.sized &= frame.content_size.is_some();
        run.content_bytes_max = run.content_bytes_max.saturating_add(content_bytes(frame));
    }

    /// Whether anything is held.
    pub(super) fn has_more(&self) -> bool {
        !self.run.bytes.is_empty()
    }

    /// What is left when the stream has ended: first the frames that are whole, then the rest.
    pub(super) fn finish(&mut self) -> Option<Part> {
        self.has_more().then(|| self.close(Vec::new))
    }

    fn is_long(&self) -> bool {
        self.whole == self.run.bytes.len()
            && (self.whole >= self.limits.run_stored_bytes
                || self.run.content_bytes_max >= self.limits.run_content_bytes)
    }

    fn is_too_large(&self) -> bool {
        let limits = &self.limits;
        let stored_max = match self.scanner.current() {
            Some(frame) if content_bytes(frame) > limits.content_bytes_max => return true,
            Some(frame) if frame.content_size.is_none() => limits.unsized_bytes_max,
            _ => limits.stored_bytes_max,
        };
        self.run.bytes.len() - self.whole > stored_max
    }

    /// Hands out the frames that are whole, or else what is to be decoded in order.
    fn close(&mut self, spare: impl FnOnce() -> Vec<u8>) -> Part {
        let whole = std::mem::take(&mut self.whole);
        if whole == 0 {
            return Part::InOrder(std::mem::take(&mut self.run.bytes));
        }
        let mut rest = spare();
        rest.extend_from_slice(&self.run.bytes[whole..]);
        let content_start = match self.run.content_start {
            Some(start) if self.run.sized => start.checked_add(self.run.content_bytes_max),
            _ => None,
        };
        let next = Run::new(self.run.start + whole as u64, content_start, rest);
        let mut run = std::mem::replace(&mut self.run, next);
        run.bytes.truncate(whole);
        Part::Frames(run)
    }
}

/// The most content that a frame has, as far as it is known.
fn content_bytes(frame: &FrameInfo) -> u64 {
    frame.content_size.unwrap_or(frame.content_bound)
}
