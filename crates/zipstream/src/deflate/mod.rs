//! Deflate (RFC 1951): a compressor whose parts can run on any thread and form one stream, and a
//! decoder that takes input in any cut (`inflate`).
//!
//! `repeat` detects repetitions. A search (`fast` over `pairs`, `medium` over `buckets`, or `lazy`
//! over `chains`) turns content into `sequences`: `prices` says which matches pay off, and `dull` skips
//! content that has none, `plain` content whose matches save hardly anything. Before levels that search deep, a `sample`
//! says whether that pays off. Level 10 finds all matches
//! instead (`trees`) and takes the cheapest way through them (`optimal`, `parse`, `costs`). `split` decides
//! where blocks end, `block` writes them with codes of `huffman`. Nothing here knows headers or checksums.

mod bits;
mod block;
mod buckets;
mod bytes;
mod chains;
mod compress;
mod costs;
mod dull;
mod fast;
mod huffman;
mod inflate;
mod lazy;
mod medium;
mod optimal;
mod pairs;
mod parse;
mod plain;
mod prices;
mod repeat;
pub(crate) mod sample;
mod sequences;
mod split;
mod symbols;
mod tail;
mod trees;

pub use compress::Compressor;
pub(crate) use compress::{LOWER, OPTIMAL, is_hardly_smaller};
pub(crate) use inflate::{CONTENT_BYTES, PART_SLACK_BYTES};
pub use inflate::{InflateError, InflateFlaw, Inflated, Inflater, Piece};
#[cfg(feature = "tokio")]
pub(crate) use repeat::repeats;
pub(crate) use sample::Deep;
