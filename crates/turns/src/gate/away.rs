//! Work of other threads for the streams of a gate: they go on when it ends.

use std::sync::Arc;

use super::Gate;

/// Work of another thread for a stream. It ends when this is dropped; until then the stream is expected to go on.
#[derive(Debug)]
pub struct Away {
    pub(super) gate: Arc<Gate>,
    pub(super) ended: bool,
}

impl Away {
    /// The other thread has ended its work, and its context is at hand again.
    pub fn ended(&mut self) {
        self.ended = true;
        let mut line = self.gate.line();
        line.away -= 1;
        line.back += 1;
        line.tell(&self.gate.census);
        self.gate.kick(line);
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        let mut line = self.gate.line();
        match self.ended {
            true => line.back -= 1,
            false => line.away -= 1,
        }
        line.tell(&self.gate.census);
        self.gate.kick(line);
    }
}
