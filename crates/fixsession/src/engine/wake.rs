//! Wakes a thread that waits for its streams, from any other thread.

use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;

/// Wakes an engine. Clones wake the same one.
#[derive(Debug)]
pub(super) struct Waker {
    stream: UnixStream,
}

impl Waker {
    /// A waker, and the end that the engine's streams watch.
    pub(super) fn pair() -> io::Result<(Self, UnixStream)> {
        let (stream, watched) = UnixStream::pair()?;
        stream.set_nonblocking(true)?;
        Ok((Self { stream }, watched))
    }

    pub(super) fn try_clone(&self) -> io::Result<Self> {
        let stream = self.stream.try_clone()?;
        Ok(Self { stream })
    }

    /// Wakes the engine, or does nothing if it has not yet seen the last call, or is gone.
    pub(super) fn wake(&self) {
        let _ = (&self.stream).write(&[1]);
    }
}
