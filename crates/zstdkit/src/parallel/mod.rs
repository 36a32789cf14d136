//! Many frames on many threads: decoding and encoding of streams whose frames do not depend on
//! each other, in order and in bounded memory.
//!
//! There is still no I/O here. Bytes are pushed in as they come, from a file or a pipe; what the
//! threads made of them comes out in the order of the stream. The bytes that come out, and the
//! error with its byte, do not depend on the number of threads: what cannot be decoded in one go is
//! left to a [`Decoder`](crate::Decoder) on the calling thread, as if there were no others.

mod decode;
mod encode;
mod plan;
mod workers;

use std::ops::Deref;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

pub use decode::{Decoded, ParallelDecoder};
pub use encode::{FRAME_BYTES_DEFAULT, SeekableEncoder};

/// Called on a worker's thread around the work on a run of frames, which it must call once: with
/// the byte of the stream at which the run begins. For those who measure.
pub type JobObserver = Arc<dyn Fn(u64, &mut dyn FnMut()) + Send + Sync>;

/// Called on a worker's thread with content and its position in the content of the stream, to put
/// it in its place there while other threads go on. `false` says that it could not: the content is
/// handed out in its turn instead.
///
/// Content is placed before anything is known of what comes before it in the stream. After an error
/// places hold content that the stream may never get to, or that was handed out besides.
pub type PositionedWriter = Arc<dyn Fn(u64, &[u8]) -> bool + Send + Sync>;

/// What a worker made. Dropped, its memory is used again.
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
        // Nobody needs it any more when the other end is gone.
        let _ = self.home.send(std::mem::take(&mut self.bytes));
    }
}

/// Buffers on their way round: to a worker, to the caller, and back.
#[derive(Debug)]
struct Buffers {
    home: Sender<Vec<u8>>,
    back: Receiver<Vec<u8>>,
}

impl Buffers {
    fn new() -> Self {
        let (home, back) = channel();
        Self { home, back }
    }

    /// An empty buffer, used before where there is one.
    fn take(&self) -> Vec<u8> {
        let mut buffer = self.back.try_recv().unwrap_or_default();
        buffer.clear();
        buffer
    }

    fn give(&self, buffer: Vec<u8>) {
        let _ = self.home.send(buffer);
    }

    fn output(&self, bytes: Vec<u8>) -> Output {
        Output {
            bytes,
            home: self.home.clone(),
        }
    }
}

/// Nothing to measure.
fn no_observer() -> JobObserver {
    Arc::new(|_, work| work())
}
