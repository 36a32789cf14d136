//! Reading: from a file, where the directory comes first, and from a pipe, where it comes last.
//!
//! [`locate`] finds the directory, [`directory`] walks it, [`reader`] reads entries by it,
//! [`encrypted`] opens encrypted ones, [`raw`] takes entries as they are,
//! [`test`] only verifies them, [`layout`] judges it; [`stream`] takes an archive as it comes,
//! [`pipe`] reads one that way.

mod directory;
mod encrypted;
mod layout;
mod locate;
mod options;
mod pipe;
mod raw;
mod reader;
mod source;
mod stream;
mod test;
mod window;

pub use directory::{Directory, Entries, Entry};
#[cfg(feature = "tokio")]
pub(crate) use layout::Strict;
pub use locate::Locator;
pub use options::{Limits, Profile, ReadOptions, Warning};
pub use pipe::PipeReader;
#[cfg(feature = "tokio")]
pub(crate) use pipe::{Buffered, Piece};
#[cfg(feature = "tokio")]
pub(crate) use reader::is_small;
pub use reader::{ArchiveReader, Scratch};
pub(crate) use source::read_full;
pub use source::{ReadAt, Seeking};
pub use stream::{StreamDecoder, StreamEntry, StreamEvent, StreamStep};

use crate::error::{Error, ErrorKind};
use crate::format::flag;

/// Refuses what is encrypted with certificates, or patched.
fn refuse_unreadable(flags: u16, offset: u64) -> Result<(), Error> {
    let error = if flags & (flag::MASKED | flag::STRONG) != 0 {
        let what = "encrypted in a way that is not read";
        Error::new(ErrorKind::Unsupported, what).help("WinZip AES and ZipCrypto are read")
    } else if flags & flag::PATCH != 0 {
        Error::new(ErrorKind::Unsupported, "patch data, which is not read")
    } else {
        return Ok(());
    };
    Err(error.at(offset))
}
