//! Deflate (RFC 1951): a compressor whose parts can run on any thread and form one stream, and a
//! decoder that takes input in any cut (`inflate`).
//!
//! `repeat` detects repetitions. A search (`fast`, `medium` over `buckets`, or `lazy` over
//! `chains`) turns content into `sequences`, `split` decides where blocks end, `block` writes them
//! with codes of `huffman`. Nothing here knows headers or checksums.

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
