//! The log of changes: `frame` has its bytes, `read` reads them, `file` appends to a file.

mod error;
mod file;
mod frame;
mod read;

pub use error::LogError;
pub use file::Sync;
pub(crate) use file::{LogFile, sync_parent};
pub use frame::{HEADER_BYTES, append, header};
pub use read::{Ending, Frame, Frames};
