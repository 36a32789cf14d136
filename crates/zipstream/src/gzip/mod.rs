//! gzip (RFC 1952), reading: members one after the other, input in any cut, each member verified.

mod decoder;
mod error;
mod header;

pub use decoder::{GzipDecoder, GzipStep, GzipTotals};
pub use error::{GzipError, GzipFlaw};
pub use header::MAGIC;
