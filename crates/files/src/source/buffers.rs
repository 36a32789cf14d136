//! Buffers that a source fills and its reader drops.
//!
//! When a [`Buffer`] is dropped, its memory goes back to the source and is filled again. A reader cannot
//! block a source by keeping buffers. What fills buffers, and when, is in the parent.

use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::BUFFERS_IN_FLIGHT;

/// Bytes that a source brought. Their memory goes back to the source on drop.
#[derive(Debug, Default)]
pub struct Buffer {
    bytes: Vec<u8>,
    home: Option<Arc<Pool>>,
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(home) = self.home.take() {
            home.take_back(std::mem::take(&mut self.bytes));
        }
    }
}

/// The memory of a source's buffers: as much as [`BUFFERS_IN_FLIGHT`], or one buffer more than the
/// reader holds on to.
#[derive(Debug, Default)]
pub(super) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    free: Vec<Vec<u8>>,
    /// Buffers that exist, wherever they are.
    made: usize,
    /// Those that the reader holds.
    held: usize,
    /// The reader is gone.
    closed: bool,
}

impl State {
    /// Memory to fill, if there may be any now.
    fn take(&mut self) -> Option<Vec<u8>> {
        if let Some(bytes) = self.free.pop() {
            return Some(bytes);
        }
        // One more than the reader holds, or it would wait for itself.
        let most = BUFFERS_IN_FLIGHT.max(self.held + 1);
        (self.made < most).then(|| {
            self.made += 1;
            Vec::new()
        })
    }
}

impl Pool {
    /// Memory to fill, once there is some; `None` when the reader is gone.
    pub(super) fn wait(&self) -> Option<Vec<u8>> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(bytes) = state.take() {
                return Some(bytes);
            }
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Memory to fill, at once: for a source that fills a buffer when it is asked for one.
    pub(super) fn take(&self) -> Vec<u8> {
        self.lock().take().unwrap_or_default()
    }

    /// Gives a filled buffer to the reader.
    pub(super) fn lend(self: &Arc<Self>, bytes: Vec<u8>) -> Buffer {
        let mut state = self.lock();
        state.held += 1;
        if state.held >= state.made {
            self.changed.notify_one();
        }
        drop(state);
        Buffer {
            bytes,
            home: Some(Arc::clone(self)),
        }
    }

    /// Has the filling thread end.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    fn take_back(&self, bytes: Vec<u8>) {
        let mut state = self.lock();
        state.held -= 1;
        if state.made > BUFFERS_IN_FLIGHT || state.closed {
            state.made -= 1;
            return;
        }
        state.free.push(bytes);
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
