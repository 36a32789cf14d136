//! Codecs: the traits, the built-in ones, and how to find these by name.
//!
//! A codec makes contexts; a context compresses or decompresses one block per call and reports how much
//! memory it holds. Where contexts wait between calls is decided in `pool`.

#[cfg(feature = "brotli")]
mod brotli;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(feature = "gzip-c")]
mod gzip_c;
#[cfg(any(feature = "lz4", feature = "lz4-c"))]
mod lz4;
mod macros;
mod names;
mod none;
#[cfg(feature = "snappy")]
mod snappy;
mod traits;
#[cfg(feature = "zstd")]
mod zstd;
#[cfg(feature = "zstd-rust")]
mod zstd_rust;

#[cfg(feature = "brotli")]
pub use self::brotli::Brotli;
#[cfg(feature = "gzip")]
pub use self::gzip::Gzip;
#[cfg(feature = "gzip-c")]
pub use self::gzip_c::GzipC;
#[cfg(feature = "lz4")]
pub use self::lz4::Lz4;
#[cfg(feature = "lz4-c")]
pub use self::lz4::Lz4C;
use self::macros::{codec, holds};
pub use self::names::{NAMES, by_name};
pub use self::none::Stored;
#[cfg(feature = "snappy")]
pub use self::snappy::Snappy;
pub use self::traits::{Codec, Compress, Context, Decompress};
#[cfg(feature = "zstd")]
pub use self::zstd::{Zstd, ZstdSetting};
#[cfg(feature = "zstd-rust")]
pub use self::zstd_rust::ZstdRust;

/// Makes room for `bytes` in `buffer`, whose old bytes do not matter. Writes only beyond what the buffer
/// held before.
#[cfg(any(
    feature = "gzip-c",
    feature = "lz4",
    feature = "lz4-c",
    feature = "snappy",
    feature = "zstd-rust"
))]
fn room(buffer: &mut Vec<u8>, bytes: usize) {
    if buffer.len() < bytes {
        buffer.resize(bytes, 0);
    }
}

#[cfg(test)]
mod tests;
