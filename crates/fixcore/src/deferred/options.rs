//! How work is deferred.

use super::overflow::Spill;
use crate::spsc::Wait;

/// What happens to a message for which the queue has no room.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stall {
    /// `submit` waits. Nothing is lost.
    Block,
    /// The message is dropped and counted.
    Drop,
    /// The message goes elsewhere, up to a limit; beyond it, it is dropped and counted.
    Spill {
        /// Where it goes.
        to: Spill,
        /// The limit in bytes, with 16 added for each message.
        bytes_max: u64,
    },
}

/// How work is deferred.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The size of the queue, in bytes.
    pub buffer_bytes: usize,
    /// What happens to a message for which the queue has no room.
    pub stall: Stall,
    /// How a side waits for the other.
    pub wait: Wait,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            buffer_bytes: 1 << 20,
            stall: Stall::Block,
            wait: Wait::Park { spins: 1000 },
        }
    }
}

impl Options {
    /// Sets [`buffer_bytes`](Self#structfield.buffer_bytes).
    #[must_use]
    pub fn buffer_bytes(mut self, buffer_bytes: usize) -> Self {
        self.buffer_bytes = buffer_bytes;
        self
    }

    /// Sets [`stall`](Self#structfield.stall).
    #[must_use]
    pub fn stall(mut self, stall: Stall) -> Self {
        self.stall = stall;
        self
    }

    /// Sets [`wait`](Self#structfield.wait).
    #[must_use]
    pub fn wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }
}
