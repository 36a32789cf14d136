//! Extracting an archive into a directory that nothing in it can leave (feature `extract`).
//!
//! [`extract_to`] takes an archive that can be read at any place, and does it on several threads.
//! [`extract_pipe_to`] takes one as it comes. Both do the same to the directory:
//!
//! - A name that leads elsewhere is refused: `../x`, `/x`, `C:\x`. Of several entries of one path the last
//!   becomes its file: see [`Repeats`].
//!   No symbolic link is followed, so that none in the directory or in the archive leads out of it.
//! - A damaged entry is never written under its name. Content of up to 1 MiB is written once it is
//!   verified; larger content goes to a file without a name, which gets one when all of it is verified.
//! - Links are made last, and only those that stay inside, unless [`Links`] says otherwise.
//! - Directories get their modes and times at the end, the deepest first. No file gets the
//!   set-user-ID, set-group-ID or sticky bit.
//! - Times that an archive states without a zone are those of this system's zone: see
//!   [`EntryTime`](crate::EntryTime) and [`local_to_utc`].
//!
//! What fails does not stop the rest, unless the file system is full: the [`ExtractReport`] counts it, and says why for the first
//! thousand entries.
//!
//! ```
//! use zipstream::extract::{ExtractOptions, extract_to};
//! use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions};
//!
//! let mut writer = ArchiveWriter::new(Vec::new());
//! writer.add("notes/today.txt", &EntryOptions::default(), &mut &b"buy milk"[..])?;
//! let (archive, _) = writer.finish()?;
//!
//! let directory = tempfile::tempdir()?;
//! let reader = ArchiveReader::open(archive)?;
//! let report = extract_to(&reader, directory.path(), &ExtractOptions::default())?;
//! assert!(report.is_complete());
//! assert_eq!(report.entries, 1);
//! assert_eq!(std::fs::read(directory.path().join("notes/today.txt"))?, b"buy milk");
//!
//! // What exists is not overwritten unless that is asked for.
//! let report = extract_to(&reader, directory.path(), &ExtractOptions::default())?;
//! assert_eq!(report.failures[0].to_string(), "'notes/today.txt' exists already");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`extract_into`] and [`extract_pipe_into`] write contents one after the other into any [`Write`]
//! instead, or only verify them. [`extract_into`] also makes [`Objects`] of a store of them.
//!
//! [`Write`]: std::io::Write

mod described;
mod names;
mod objects;
mod observer;
mod options;
mod pipe;
mod place;
mod reason;
mod report;
mod run;
mod select;
mod text;
mod work;
mod writing;
mod zone;

pub use described::describe;
pub use files::{Cancel, Context};
pub use objects::{NewObject, Objects};
pub use observer::{ExtractObserver, ExtractWorker, Item};
pub use options::{CaseClashes, Destination, Existing, ExtractOptions, Links, Repeats};
pub use pipe::{extract_pipe_into, extract_pipe_to};
pub use reason::Reason;
pub use report::{ExtractReport, Failed, Stopped};
pub use run::{extract_into, extract_to, verify};
pub use text::UnixLines;
pub use zone::{local_to_utc, utc_offset_seconds};
