//! Objects of stores, asynchronously: read by ranges, and written in parts that appear as one object or
//! not at all.
//!
//! Any [`ObjectStore`] of the crate `object_store` will do; [`Object`] is a path in one. An
//! [`ObjectReader`] is an `AsyncRead` and `AsyncSeek`, an [`ObjectWriter`] an `AsyncWrite` of bounded
//! memory. [`Create::IfAbsent`] replaces nothing, whoever else writes at the same time. With the feature
//! `remote`, `Object::in_s3` adds what only S3 can do: parts that the server copies from other objects,
//! and conditional creation of objects in parts without a second name.
//!
//! Needs a tokio runtime with a timer.

mod error;
mod options;
mod parts;
mod place;
mod reader;
#[cfg(feature = "remote")]
mod s3;
mod window;
mod writer;

pub use object_store::ObjectStore;
pub use object_store::path::Path;

pub use self::error::ObjectError;
pub use self::options::{Create, UploadOptions, Uploaded};
pub use self::parts::Parts;
pub use self::place::Object;
pub use self::reader::ObjectReader;
pub use self::writer::ObjectWriter;

#[cfg(feature = "web")]
pub(crate) use self::parts::ABORT;
pub(crate) use self::window::Windows;
