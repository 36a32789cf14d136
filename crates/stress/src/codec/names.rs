//! The built-in codecs by name.

use std::sync::Arc;

#[cfg(feature = "brotli")]
use super::Brotli;
#[cfg(feature = "gzip")]
use super::Gzip;
#[cfg(feature = "gzip-c")]
use super::GzipC;
#[cfg(feature = "lz4")]
use super::Lz4;
#[cfg(feature = "lz4-c")]
use super::Lz4C;
#[cfg(feature = "snappy")]
use super::Snappy;
#[cfg(feature = "zstd-rust")]
use super::ZstdRust;
use super::{Codec, Stored};
#[cfg(feature = "zstd")]
use super::{Zstd, ZstdSetting};
use crate::error::CodecError;

/// The names that [`by_name`] accepts, without their settings: one for each codec feature, and `none`.
pub const NAMES: &[&str] = &[
    #[cfg(feature = "zstd")]
    "zstd",
    #[cfg(feature = "zstd-rust")]
    "zstd-rust",
    #[cfg(feature = "lz4")]
    "lz4",
    #[cfg(feature = "lz4-c")]
    "lz4-c",
    #[cfg(feature = "snappy")]
    "snappy",
    #[cfg(feature = "gzip")]
    "gzip",
    #[cfg(feature = "gzip-c")]
    "gzip-c",
    #[cfg(feature = "brotli")]
    "brotli",
    "none",
];

/// A built-in codec, by one of [`NAMES`].
///
/// A setting may follow after a colon: `zstd` takes a level or a recipe (`zstd:19`, `zstd:auto`), `gzip` and
/// `gzip-c` a level, `brotli` a quality. `zstd` and the names with `-c` are C libraries, the others are
/// written in Rust.
///
/// # Errors
/// When there is no such codec, or it has no such setting.
pub fn by_name(name: &str) -> Result<Arc<dyn Codec>, CodecError> {
    let (base, setting) = match name.split_once(':') {
        Some((base, setting)) => (base, Some(setting)),
        None => (name, None),
    };
    Ok(match (base, setting) {
        #[cfg(feature = "zstd")]
        ("zstd", _) => {
            let setting = ZstdSetting::parse(setting.unwrap_or("3"));
            let expected = "expected a level of zstd or the name of a recipe";
            Arc::new(Zstd::new(setting.ok_or_else(|| unknown(name, expected))?))
        }
        #[cfg(feature = "gzip")]
        ("gzip", _) => Arc::new(Gzip::new(level(name, setting, 1..=9, 6)?)),
        #[cfg(feature = "gzip-c")]
        ("gzip-c", _) => Arc::new(GzipC::new(level(name, setting, 1..=12, 6)?)),
        #[cfg(feature = "brotli")]
        ("brotli", _) => Arc::new(Brotli::new(level(name, setting, 0..=11, 5)?)),
        #[cfg(feature = "zstd-rust")]
        ("zstd-rust", None) => Arc::new(ZstdRust),
        #[cfg(feature = "lz4")]
        ("lz4", None) => Arc::new(Lz4),
        #[cfg(feature = "lz4-c")]
        ("lz4-c", None) => Arc::new(Lz4C),
        #[cfg(feature = "snappy")]
        ("snappy", None) => Arc::new(Snappy),
        ("none", None) => Arc::new(Stored),
        (known, Some(_)) if NAMES.contains(&known) => {
            return Err(unknown(name, &format!("{known} has no settings")));
        }
        _ => {
            let expected = format!("expected one of {}", NAMES.join(", "));
            return Err(unknown(name, &expected));
        }
    })
}

/// The level after the colon, or the default.
#[cfg(any(feature = "gzip", feature = "gzip-c", feature = "brotli"))]
fn level(
    name: &str,
    setting: Option<&str>,
    range: std::ops::RangeInclusive<i32>,
    default: i32,
) -> Result<i32, CodecError> {
    let Some(text) = setting else {
        return Ok(default);
    };
    let level = text.parse().ok().filter(|level| range.contains(level));
    let expected = format!("expected a level from {} to {}", range.start(), range.end());
    level.ok_or_else(|| unknown(name, &expected))
}

fn unknown(name: &str, expected: &str) -> CodecError {
    CodecError::Unknown {
        name: name.to_owned(),
        expected: expected.to_owned(),
    }
}
