//! Seekable streams (random access): an index of the frames, so that any range of the content can be
//! read by decoding only the frames that hold it.
//!
//! The index is a seek table in a skippable frame at the end of the file, which other decoders ignore.
//! A file without one can be [indexed](Indexer) by reading its frame headers. Nothing here reads a file:
//! [`Footer`] tells which bytes are the table, [`RangeDecoder`] which bytes are the frames.
//! [`parallel`](crate::parallel) writes seekable files.
//!
//! ```
//! use zstdkit::seekable::{SeekTable, SeekTableBuilder};
//!
//! let (mut file, mut table) = (Vec::new(), SeekTableBuilder::new(false));
//! for content in [&b"first"[..], b"second", b"third"] {
//!     let frame = zstdkit::compress(content, &Default::default())?;
//!     table.push(frame.len() as u64, content.len() as u64, None)?;
//!     file.extend(frame);
//! }
//! file.extend(table.finish());
//!
//! let table = SeekTable::find(&file)?.expect("a table");
//! assert_eq!(table.content_bytes(), 16);
//! assert_eq!(table.frames_for(6..10), 1..2);
//! // Other decoders ignore the table.
//! assert_eq!(zstdkit::decompress(&file, &Default::default())?, b"firstsecondthird");
//! # Ok::<(), zstdkit::Error>(())
//! ```

mod build;
mod index;
mod layout;
mod parse;
mod range;
mod table;

pub use build::SeekTableBuilder;
pub use index::Indexer;
pub use layout::{FOOTER_BYTES, FRAMES_MAX};
pub use parse::Footer;
pub use range::RangeDecoder;
pub use table::{SeekFrame, SeekTable};
