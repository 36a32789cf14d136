//! One direction of a connection: bytes on their way.

use std::collections::VecDeque;

/// Bytes on their way, in order.
#[derive(Debug, Default)]
pub(super) struct Line {
    bytes: VecDeque<u8>,
    /// Nothing arrives any more, and neither side learns of it.
    pub(super) is_dead: bool,
}

impl Line {
    pub(super) fn send(&mut self, bytes: &[u8]) {
        if !self.is_dead {
            self.bytes.extend(bytes);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The next bytes arrive.
    pub(super) fn arrive(&mut self, count: usize) -> Vec<u8> {
        let count = count.min(self.bytes.len());
        self.bytes.drain(..count).collect()
    }

    /// Some bytes on their way are lost.
    pub(super) fn lose(&mut self, at: usize, count: usize) {
        let at = at.min(self.bytes.len());
        let end = at.saturating_add(count).min(self.bytes.len());
        self.bytes.drain(at..end);
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
