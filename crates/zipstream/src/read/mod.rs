//! Reading: from a file, where the directory comes first, and from a pipe, where it comes last.
//!
//! [`locate`] finds the directory, [`directory`] walks it, [`reader`] reads entries by it,
//! [`encrypted`] opens encrypted ones, [`raw`] takes entries as they are,
//! [`test`] only verifies them, [`layout`] judges it; [`stream`] takes an archive as it comes,
//! [`pipe`] reads one that way.

mod directory;
mod encrypted;
mod entry_content;
mod entry_reader;
mod layout;
mod locate;
mod options;
mod pipe;
mod pipe_entry;
mod raw;
mod reader;
mod source;
mod stream;
mod strict;
mod test;
mod window;

pub use directory::{Directory, Entries, Entry};
#[cfg(feature = "tokio")]
pub(crate) use entry_content::EntryContent;
pub use entry_reader::EntryReader;
#[cfg(feature = "tokio")]
pub(crate) use layout::Strict;
pub use locate::Locator;
pub use options::{Limits, Profile, ReadOptions, Warning};
pub use pipe::PipeReader;
#[cfg(feature = "tokio")]
pub(crate) use pipe::{Buffered, Piece};
pub use pipe_entry::PipeEntryReader;
pub use reader::{ArchiveReader, Scratch};
pub(crate) use source::read_full;
pub use source::{ReadAt, Seeking};
pub use stream::{StreamDecoder, StreamEntry, StreamEvent, StreamStep};
