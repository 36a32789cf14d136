//! Seeded data to compress: the same bytes for the same seed on every platform and in every
//! version that keeps the golden hashes of the tests.
//!
//! The kinds imitate what servers, build trees and stores hold: skewed choices over a fixed
//! vocabulary, values that drift, fields that repeat the line before. Only integers are used.
//! None of it is real data, and ratios on it are of the same order as on real data, no more.
//!
//! ```
//! use std::io::Read;
//! use zstdkit::workload::{Generator, Kind, generate};
//!
//! let lines = generate(Kind::JsonLines, 7, 1000);
//! let mut same = Vec::new();
//! Generator::new(Kind::JsonLines, 7).take(1000).read_to_end(&mut same)?;
//! assert_eq!(lines, same);
//! # Ok::<(), std::io::Error>(())
//! ```

mod binary;
mod generator;
mod html;
mod json;
mod log;
mod prng;
mod source;
mod text;

pub use generator::{Generator, Kind, UnknownKind, generate};
