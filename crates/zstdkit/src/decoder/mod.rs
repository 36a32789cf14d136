//! Decompression of streams, one bounded call at a time: `stream` is the decoder and judges frames by
//! their headers, `blocks` has libzstd decode the blocks, `progress` says how far.

mod blocks;
mod progress;
mod stream;
#[cfg(feature = "tokio")]
mod suspend;

pub(crate) use blocks::window_memory_bytes;
#[cfg(feature = "tokio")]
pub(crate) use progress::Suspended;
pub use progress::Totals;
pub use stream::Decoder;
pub(crate) use stream::need_bytes;
