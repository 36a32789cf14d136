//! New archives out of the entries of others, as they are: merged, split, or both. Nothing is decoded, and
//! no local header changes; only directories are made anew.
//!
//! [`Parts`] reads split archives, whose entries go from one file to the next, as one archive. A [`SplitArchive`] is
//! such an archive made of one that is whole.
//!
//! A [`Combination`] does no I/O. It takes directories and gives [`NewArchive`]s: which ranges of which
//! archive to copy, and the bytes that follow them. [`NewArchive::write_to`] copies, and with the feature
//! `object_store` so does `object::combine`, where the server may do it.
//!
//! ```
//! use zipstream::combine::{Combination, CombineOptions};
//! use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions};
//!
//! let mut archives = Vec::new();
//! for name in ["a.txt", "b.txt"] {
//!     let mut writer = ArchiveWriter::new(Vec::new());
//!     writer.add(name, &EntryOptions::default(), &mut name.as_bytes())?;
//!     archives.push(ArchiveReader::open(writer.finish()?.0)?);
//! }
//!
//! let mut combination = Combination::new(CombineOptions::default());
//! for archive in &archives {
//!     combination.add(archive.shared_directory())?;
//! }
//! let sources: Vec<_> = archives.iter().map(ArchiveReader::source).collect();
//! let mut merged = Vec::new();
//! for archive in combination.finish()? {
//!     archive.write_to(&sources, &mut merged)?;
//! }
//!
//! let merged = ArchiveReader::open(merged)?;
//! let entry = merged.find("b.txt")?.expect("it was in the second archive");
//! assert_eq!(merged.read(&entry)?, b"b.txt");
//! # Ok::<(), zipstream::Error>(())
//! ```

mod archive;
mod combination;
mod copy;
mod extents;
mod options;
mod parts;
mod record;
mod split;

pub use archive::{NewArchive, Piece};
pub use combination::Combination;
pub use options::{CombineOptions, Duplicates};
pub use parts::Parts;
pub use split::{SplitArchive, part_path};
