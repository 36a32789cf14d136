//! Deflate (RFC 1951) of this crate's own: compression in parts that any thread can do and that read
//! as one stream, and reading of streams in any cut (`inflate`).
//!
//! Repetitions are told by `repeat`. A search (`fast`, `medium` over `buckets`, or `lazy` over `chains`) makes `sequences` of content, `split` says
//! where blocks end, `block` writes them under codes of `huffman`. Nothing here knows a header
//! or a checksum.

mod bits;
mod block;
mod buckets;
mod bytes;
mod chains;
mod compress;
mod fast;
mod huffman;
mod inflate;
mod lazy;
mod medium;
mod repeat;
mod sequences;
mod split;
mod symbols;

pub use compress::Compressor;
pub use inflate::{InflateError, InflateFlaw, Inflated, Inflater, Piece};
