//! Reading: from a file, by its directory, and from a pipe, in the order of the bytes.
//!
//! [`locate`] finds the directory and [`directory`] iterates over it. [`reader`] reads entries,
//! [`entry_reader`] makes one a `Read`, [`encrypted`] decrypts, [`raw`] copies them unchanged,
//! [`test`] only verifies them, [`index`] reads any range of a large one. [`layout`] and [`strict`] check the archive and one entry.
//! [`stream`] decodes an archive from its first byte on, [`pipe`] does that over a `Read`.

mod details;
mod directory;
mod encrypted;
mod entry;
mod entry_content;
mod entry_reader;
mod find;
mod hashed;
mod index;
mod layout;
mod locate;
mod name_index;
mod options;
mod order;
mod pipe;
mod pipe_entry;
mod places;
mod preceding;
mod raw;
mod reader;
mod source;
mod stream;
mod strict;
mod test;
mod window;

pub use details::ExtraField;
#[cfg(feature = "tokio")]
pub(crate) use directory::Count;
pub use directory::{Directory, Entries};
pub use entry::Entry;
#[cfg(feature = "tokio")]
pub(crate) use entry_content::EntryContent;
pub use entry_reader::EntryReader;
#[cfg(feature = "tokio")]
pub(crate) use find::Find;
pub use index::{DeflateIndex, IndexBuilder, IndexedReader};
#[cfg(feature = "tokio")]
pub(crate) use layout::Check;
pub use locate::Locator;
pub(crate) use locate::{TAIL_BYTES, find_end};
pub(crate) use options::THRESHOLD_NS;
pub use options::{Limits, Profile, ReadOptions, Warning};
pub use pipe::PipeReader;
#[cfg(feature = "tokio")]
pub(crate) use pipe::{Buffered, Next, Piece};
pub use pipe_entry::PipeEntryReader;
#[cfg(feature = "tokio")]
pub(crate) use reader::beginning_bytes;
pub use reader::{ArchiveReader, Scratch};
pub(crate) use source::read_full;
pub use source::{ReadAt, Seeking};
pub use stream::{StreamDecoder, StreamEntry, StreamEvent, StreamStep};
