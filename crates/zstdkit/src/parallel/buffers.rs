//! Buffers that circulate: to a worker, to the caller, and back.

use std::ops::Deref;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Output of a worker. Its memory is reused when it is dropped.
#[derive(Debug)]
pub struct Output {
    bytes: Vec<u8>,
    home: Sender<Vec<u8>>,
}

impl Deref for Output {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Fails if the codec is gone, which then needs no memory.
        let _ = self.home.send(std::mem::take(&mut self.bytes));
    }
}

/// Buffers that are in use somewhere, and those that came back.
#[derive(Debug)]
pub(super) struct Buffers {
    home: Sender<Vec<u8>>,
    back: Receiver<Vec<u8>>,
}

impl Buffers {
    pub(super) fn new() -> Self {
        let (home, back) = channel();
        Self { home, back }
    }

    /// An empty buffer: a used one if one came back.
    pub(super) fn take(&self) -> Vec<u8> {
        let mut buffer = self.back.try_recv().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// Returns a buffer.
    pub(super) fn give(&self, buffer: Vec<u8>) {
        let _ = self.home.send(buffer);
    }

    /// Wraps bytes so that their memory comes back.
    pub(super) fn output(&self, bytes: Vec<u8>) -> Output {
        Output {
            bytes,
            home: self.home.clone(),
        }
    }
}
