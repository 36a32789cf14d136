//! Seeded data to compress: the same bytes for the same seed on every platform and in every
//! version that keeps the golden hashes of the tests.
//!
//! The kinds imitate data of servers, build trees and stores: skewed choices from a fixed vocabulary,
//! values that drift, fields that repeat the previous line. Only integer arithmetic is used. None of it is
//! real data; ratios are only of the same order as on real data.
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
