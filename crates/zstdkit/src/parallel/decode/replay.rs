//! Bytes of the stream that a worker could not decode, or that must be decoded in order.

/// Bytes that are held until the decoder of the calling thread has taken them.
#[derive(Debug)]
pub(super) struct Replay {
    pub(super) bytes: Vec<u8>,
    pub(super) at: usize,
    pub(super) begun: bool,
}

impl Replay {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            at: 0,
            begun: false,
        }
    }
}

/// How the next frame is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Frames are gathered for the threads.
    Gather,
    /// A frame goes through the decoder as it comes.
    InOrder,
}
