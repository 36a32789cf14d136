//! ZIP archives as streams: writing without seeking, reading from files and pipes.
//!
//! The core does no I/O: it takes content and produces bytes, or the other way round. Thin adapters
//! connect it to `Read`, `Write` and, with the feature `tokio`, to their asynchronous counterparts.
//! Compression is done by [`deflate`], libdeflate and libzstd.
//!
//! - [`ArchiveEncoder`]: entries and content in, an archive out; no I/O, no seeking.
//! - [`ArchiveWriter`]: the same over any `Write`; an [`EntryWriter`] is one entry as a `Write`.
//! - [`ArchiveReader`]: entries in any order by the [`Directory`], from many threads at once; an
//!   [`EntryReader`] is one entry as a `Read`.
//! - [`PipeReader`]: entries in the order of the archive, from any `Read`; a [`PipeEntryReader`] is
//!   one entry as a `Read`. [`StreamDecoder`] is the same without I/O.
//! - [`DeflateIndex`]: random access into one large entry; an [`IndexedReader`] reads any range of it, on
//!   several threads with the feature `parallel`.
//! - [`deflate`]: the deflate codec by itself; its decoder takes input in any cut and names the bit
//!   where a stream is invalid.
//! - [`gzip`]: gzip files, read member by member and verified.
//! - [`Merge`]: what becomes of files and of the entries of their names: append, update, freshen, sync.
//! - [`combine`]: archives merged and split, their entries as they are.
//! - [`name`]: which names may become paths.
//! - [`TextReader`]: texts that get other line ends while they are packed.
//! - `extract`: whole archives into a directory that nothing in them can leave (feature `extract`).
//! - `object`: archives in object stores, of any kind (feature `object_store`).
//!
//! ```
//! use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions, ErrorKind};
//!
//! let mut writer = ArchiveWriter::new(Vec::new());
//! writer.add("a.txt", &EntryOptions::default(), &mut &b"first"[..])?;
//! let (mut archive, _) = writer.finish()?;
//!
//! // A flipped bit of the content is an error that says where.
//! archive[36] ^= 1;
//! let reader = ArchiveReader::open(&archive[..])?;
//! let entry = reader.find("a.txt")?.expect("it was added");
//! let error = reader.read(&entry).unwrap_err();
//! assert_eq!((error.kind(), error.offset()), (ErrorKind::Checksum, Some(35)));
//! # Ok::<(), zipstream::Error>(())
//! ```
#![deny(unsafe_code)]

#[cfg(feature = "charsets")]
mod charset;
pub mod combine;
mod crc;
mod crypt;
pub mod deflate;
mod engine;
mod entry_kind;
mod entry_owner;
mod entry_time;
mod error;
#[cfg(feature = "extract")]
pub mod extract;
mod format;
pub mod gzip;
mod merge;
mod method;
pub mod name;
mod name_bytes;
#[cfg(feature = "object_store")]
pub mod object;
mod raw_entry;
mod read;
mod salvage;
mod text;
#[cfg(feature = "tokio")]
pub mod tokio;
mod write;

#[cfg(feature = "charsets")]
pub use crate::charset::Charset;
pub use crate::crc::Crc32;
pub use crate::crypt::{AesStrength, Decryption, Encryption, Password};
pub use crate::entry_kind::EntryKind;
pub use crate::entry_owner::EntryOwner;
pub use crate::entry_time::EntryTime;
pub use crate::error::{Error, ErrorKind};
pub use crate::merge::{EntryVersion, Fate, FileVersion, Merge};
pub use crate::method::Method;
pub use crate::raw_entry::RawEntry;
pub use crate::read::{
    ArchiveReader, DeflateIndex, Directory, Entries, Entry, EntryReader, ExtraField, IndexBuilder,
    IndexedReader, Limits, Locator, PipeEntryReader, PipeReader, Profile, ReadAt, ReadOptions,
    Scratch, Seeking, StreamDecoder, StreamEntry, StreamEvent, StreamStep, Warning,
};
pub use crate::salvage::{Salvage, Salvaged, salvage};
pub use crate::text::{LineEnds, TextReader};
pub use crate::write::{
    ArchiveEncoder, ArchiveOptions, ArchiveWriter, Budget, EntryOptions, EntryWriter, Job,
    JobObserver, KnownContent, Patch, PushError, Totals, Workers,
};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
