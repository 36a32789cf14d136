//! Many frames on many threads: decoding and encoding of streams of independent frames, in order and
//! in bounded memory.
//!
//! There is no I/O here either. The caller pushes bytes as they come, and gets the output in the order
//! of the stream. The output, and the byte of an error, do not depend on the number of threads:
//! whatever does not decode as a whole goes through a [`Decoder`](crate::Decoder) on the calling thread.
//!
//! To compress one frame on many threads is libzstd's own work; [`OffloadedEncoder`] keeps its waiting from the caller.
//! [`BlockDecoder`] decodes one frame on several threads.

mod buffers;
mod decode;
mod encode;
mod hooks;
mod offloaded;
mod plan;
mod workers;

pub use crate::blocks::BlockDecoder;
pub use buffers::Output;
pub use decode::{Decoded, ParallelDecoder};
pub use encode::{Encoded, FRAME_BYTES_DEFAULT, SeekableEncoder};
pub use hooks::{JobObserver, PositionedWriter};
pub use offloaded::OffloadedEncoder;
