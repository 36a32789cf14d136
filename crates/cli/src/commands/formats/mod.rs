//! The formats of single compressed streams: zstd, and those that others write: gzip, xz, lzma, lz4.
//!
//! [`format`](mod@format) tells them apart. zstd is zstdkit's and gzip zipstream's; [`unpack`] and [`pack`] have the
//! decoders and encoders of the rest, [`settings`] what only they have. Which bytes they get is the commands'.

pub(crate) mod format;
pub(crate) mod pack;
pub(crate) mod settings;
pub(crate) mod unpack;

pub(crate) use format::Format;
