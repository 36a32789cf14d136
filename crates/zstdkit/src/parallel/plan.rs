//! Splits a stream of frames into runs that can be decoded independently, as its bytes arrive.
//!
//! The planner never fails. Bytes that are not a frame, truncated frames and frames that are too large to
//! hold are left to the decoder that works in order. It finds the same error at the same byte.

use crate::decoder::Totals;
use crate::frame::{FrameInfo, FrameKind, Scanner};

/// Input is examined in pieces of this size, so that a large frame is noticed early.
const PIECE_BYTES: usize = 256 << 10;

/// How much of a stream the planner holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The largest frame to be held, in bytes of the stream.
    pub(super) stored_bytes_max: usize,
    /// The same for a frame that does not state its size: it may turn out to be large.
    pub(super) unsized_bytes_max: usize,
    /// The most content of a frame to be held.
    pub(super) content_bytes_max: u64,
    /// A run of frames is closed when it has this many bytes of the stream
    pub(super) run_stored_bytes: usize,
    /// or this much content.
    pub(super) run_content_bytes: u64,
}

/// The limits without a memory limit.
const LIMITS: Limits = Limits {
    stored_bytes_max: 32 << 20,
    unsized_bytes_max: 4 << 20,
    content_bytes_max: 32 << 20,
    run_stored_bytes: 1 << 20,
    // The output of a thread is read again soon, so it should fit into the second-level cache.
    run_content_bytes: 1 << 20,
};

impl Limits {
    /// The limits for this many threads within a memory limit.
    pub(super) fn new(memory_limit: Option<u64>, threads: usize) -> Self {
        let mut limits = LIMITS;
        if let Some(bytes) = memory_limit {
            let share = bytes / (threads as u64 + 2) / 2;
            let share_in_memory = usize::try_from(share).unwrap_or(usize::MAX);
            limits.stored_bytes_max = limits.stored_bytes_max.min(share_in_memory);
            limits.unsized_bytes_max = limits.unsized_bytes_max.min(share_in_memory);
            limits.content_bytes_max = limits.content_bytes_max.min(share);
            limits.run_content_bytes = limits.run_content_bytes.min(share / 2);
            limits.run_stored_bytes = limits.run_stored_bytes.min(share_in_memory / 2);
        }
        limits
    }
}

/// A run of whole frames.
#[derive(Debug)]
pub(super) struct Run {
    /// The byte of the stream at which it begins.
    pub(super) start: u64,
    pub(super) bytes: Vec<u8>,
    /// Where its content begins in the content of the stream, if all earlier frames state their size.
    pub(super) content_start: Option<u64>,
    /// The most content that it can have.
    pub(super) content_bytes_max: u64,
    /// Whether all its frames state their size, so that it has exactly that much content.
    pub(super) sized: bool,
    pub(super) frames: u64,
    pub(super) skippable_frames: u64,
    /// Frames that have a checksum.
    pub(super) checksums: u64,
}

impl Run {
    /// A run without frames.
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
    /// Frames that can be decoded independently.
    Frames(Run),
    /// The beginning of something that must be decoded in order from here on.
    InOrder(Vec<u8>),
}

#[derive(Debug)]
pub(super) struct Planner {
    scanner: Scanner,
    limits: Limits,
    /// Whole frames, followed by what has arrived of the next one.
    run: Run,
    /// Bytes of the whole frames.
    whole: usize,
    /// Whether that next frame must be decoded in order.
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

    /// Forgets everything and continues with the frame that follows these totals.
    pub(super) fn resume(&mut self, before: &Totals) {
        self.scanner = Scanner::resume(before);
        self.run = Run::new(before.bytes_in, Some(before.bytes_out), Vec::new());
        self.whole = 0;
        self.in_order = false;
    }

    /// Takes input up to the next part of the stream. `None`: all input was taken and no part is
    /// complete. `spare` gives the memory for another run.
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
                // The frame may end before its size was noticed.
                Some(frame) if content_bytes(&frame) > self.limits.content_bytes_max => {
                    self.in_order = true;
                }
                Some(frame) => self.add(&frame),
                None => self.in_order = self.is_too_large(),
            }
        }
    }

    /// Counts a complete frame.
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

    /// The rest after the end of the stream: first the complete frames, then what follows them.
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

    /// Hands out the complete frames, or if there are none, what must be decoded in order.
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

/// The most content that a frame can have, as far as is known.
fn content_bytes(frame: &FrameInfo) -> u64 {
    frame.content_size.unwrap_or(frame.content_bound)
}
