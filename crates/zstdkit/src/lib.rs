//! Zstandard compression and decompression in calls of bounded work, with errors that name the byte.
//! The compression itself is done by libzstd, and all decompression but that of [`parallel::BlockDecoder`].
//!
//! | to … | use |
//! |---|---|
//! | compress or decompress a whole buffer | [`compress`], [`decompress`], or [`Compressor`] and [`Decompressor`] for many |
//! | compress or decompress through `Read` and `Write` | [`io`] |
//! | feed a stream in any cut, one bounded call at a time, without I/O | [`Encoder`], [`Decoder`] |
//! | choose settings by purpose instead of a level | [`Recipe`] |
//! | reuse contexts on any thread within a memory budget | [`Pool`] |
//! | train and evaluate dictionaries, make patches | [`dictionary`], [`EncoderOptions::for_patch`] |
//! | make patches between files of any size | [`patch`] |
//! | list frames without decoding them | [`frame`] |
//! | read any range of the content (random access) | [`seekable`] |
//! | use many threads | [`parallel`], [`EncoderOptions::workers`] |
//! | compress inside an event loop | [`sliced`], [`schedule`], `tokio` (a feature) |
//!
//! ```
//! use zstdkit::{DecoderOptions, EncoderOptions};
//!
//! let options = EncoderOptions::default().with_level(9);
//! let mut frame = zstdkit::compress(b"to be or not to be", &options)?;
//! assert_eq!(
//!     zstdkit::decompress(&frame, &DecoderOptions::default())?,
//!     b"to be or not to be"
//! );
//!
//! // A flipped bit is an error that names the byte.
//! let last = frame.len() - 1;
//! frame[last] ^= 1;
//! let error = zstdkit::decompress(&frame, &DecoderOptions::default()).unwrap_err();
//! assert_eq!(error.kind(), zstdkit::ErrorKind::Checksum);
//! assert_eq!(error.offset(), Some(frame.len() as u64 - 4));
//! # Ok::<(), zstdkit::Error>(())
//! ```
#![deny(unsafe_code)]

mod blocks;
mod bounds;
mod context;
mod decoder;
pub mod dictionary;
mod digested;
mod encoder;
mod error;
mod external_checksum;
mod format;
pub mod frame;
pub mod io;
mod jobs;
mod memory;
mod oneshot;
mod options;
pub mod parallel;
mod parameters;
pub mod patch;
mod pool;
mod recipe;
mod reservation;
pub mod schedule;
pub mod seekable;
pub mod sliced;
mod step;
#[cfg(feature = "tokio")]
pub mod tokio;
mod walk;
#[cfg(feature = "workload")]
pub mod workload;

pub use crate::decoder::{Decoder, Totals};
pub use crate::digested::Dictionary;
pub use crate::encoder::Encoder;
pub use crate::error::{Error, ErrorKind};
pub use crate::oneshot::{Compressor, Decompressor, compress, compress_bound, decompress};
pub use crate::options::{DecoderOptions, EncoderOptions, LongDistance};
pub use crate::parameters::{Parameters, Strategy, UnknownStrategy};
pub use crate::pool::{Pool, PoolOptions, PoolStats, Pooled};
pub use crate::recipe::{Recipe, UnknownRecipe};
pub use crate::step::{Operation, State, Step};

/// The version of libzstd inside, for example `1.5.7`.
pub fn version() -> &'static str {
    zstd_safe::version_string()
}

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
