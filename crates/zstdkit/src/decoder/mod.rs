//! Decompression of streams, one bounded call at a time: `stream` is the decoder and judges frames by
//! their headers, `blocks` has libzstd decode the blocks.

mod blocks;
mod stream;

pub(crate) use blocks::window_memory_bytes;
pub(crate) use stream::need_bytes;
pub use stream::{Decoder, Totals};
