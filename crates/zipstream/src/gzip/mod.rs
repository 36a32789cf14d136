//! gzip (RFC 1952): members one after the other. They are read in any cut and verified, and written in chunks
//! that threads can share.

mod cut;
mod decoder;
mod encoder;
mod error;
mod header;
mod member;

pub use decoder::{GzipDecoder, GzipStep, GzipTotals};
pub use encoder::{GzipEncoded, GzipEncoder, GzipOptions};
pub use error::{GzipError, GzipFlaw};
pub use header::MAGIC;
pub use member::GzipMember;
