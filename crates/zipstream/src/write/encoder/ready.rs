//! The encoder for callers that must not block: whether the next call may be made, and a waker for
//! when it may.

use std::task::{Poll, Waker};

use super::{ArchiveEncoder, State};
use crate::deflate;
use crate::error::Error;
use crate::method::Method;
use crate::write::in_flight::InFlight;
use crate::write::options::ArchiveOptions;
use crate::write::workers::Workers;

/// The most content of an entry that the call itself compresses, however little time that takes.
const INLINE_BYTES_MAX: u64 = 128 << 10;

impl ArchiveEncoder {
    /// An encoder whose calls never wait for threads. It always has some, and they do all but small
    /// work. Before each call the caller polls [`poll_room`](Self::poll_room).
    pub(crate) fn nonblocking(mut options: ArchiveOptions) -> Result<Self, Error> {
        if options.threads == 0 {
            options.workers.get_or_insert_with(Workers::shared);
        }
        let mut encoder = Self::new(options)?;
        encoder.waits = false;
        encoder.inline_bytes_max = INLINE_BYTES_MAX;
        Ok(encoder)
    }

    /// The same with default options, which cannot fail.
    pub(crate) fn nonblocking_default() -> Self {
        Self {
            in_flight: Some(InFlight::new(Workers::shared(), 1, None)),
            waits: false,
            inline_bytes_max: INLINE_BYTES_MAX,
            ..Self::inline()
        }
    }

    /// Compresses no entry larger than this by the call itself, nor any of more than 128 KiB.
    pub(crate) fn limit_inline(&mut self, bytes: u64) {
        self.inline_bytes_max = bytes.clamp(1, INLINE_BYTES_MAX);
    }

    /// How the open entry is compressed.
    pub(crate) fn coding(&self) -> (Method, i32) {
        let meta = self.open.meta.as_ref();
        meta.map_or((Method::Stored, 0), |meta| (meta.method, meta.level))
    }

    /// Whether the open entry is a small one of a content that is compressed in almost no time, for it repeats itself from end to
    /// end.
    pub(crate) fn repeats(&self) -> bool {
        match &self.state {
            State::Whole(start) if self.open.taken <= INLINE_BYTES_MAX => {
                self.coding().0 == Method::Deflate && deflate::repeats(self.batch.open(*start), 0)
            }
            _ => false,
        }
    }

    /// The content that the end of the open entry compresses by the call itself; 0 if another thread will, or if
    /// it is only copied.
    pub(crate) fn inline_bytes(&self) -> u64 {
        let stored = self
            .open
            .meta
            .is_none_or(|meta| meta.method == Method::Stored);
        match &self.state {
            State::Whole(_) if !stored && self.is_inline() => self.open.taken,
            _ => 0,
        }
    }

    /// Ready when another job may be submitted. The next call then submits at most five.
    pub(crate) fn poll_room(&mut self, waker: &Waker) -> Poll<Result<(), Error>> {
        // Fast content waits for its turn and not for a thread.
        self.poll(waker, |encoder| {
            encoder.has_room() && (!encoder.quick || encoder.slots.is_empty())
        })
    }

    /// Ready when everything is in the output, including held entries.
    pub(crate) fn poll_settled(&mut self, waker: &Waker) -> Poll<Result<(), Error>> {
        if matches!(self.state, State::Idle) {
            let result = self.flush_batch();
            self.keep_error(result)?;
        }
        self.poll(waker, |encoder| encoder.slots.is_empty())
    }

    fn poll(&mut self, waker: &Waker, ready: impl Fn(&Self) -> bool) -> Poll<Result<(), Error>> {
        if let State::Failed(error) = &self.state {
            return Poll::Ready(Err(error.clone()));
        }
        let result = self.pump();
        self.keep_error(result)?;
        if ready(self) {
            return Poll::Ready(Ok(()));
        }
        let in_flight = self.in_flight.as_ref();
        if !in_flight.is_some_and(|in_flight| in_flight.wake_when_done(waker)) {
            // There are more results to take in, after others had their turn.
            waker.wake_by_ref();
        }
        Poll::Pending
    }
}
