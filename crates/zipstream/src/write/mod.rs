//! Writing: the encoder without I/O, and a writer over it.
//!
//! [`encoder`] orders entries and content, [`batch`] packs, [`lanes`] has threads do that,
//! [`sequence`] puts the results in line, [`records`] has the shapes of headers.

mod batch;
mod encoder;
mod lanes;
mod options;
mod records;
mod sequence;
mod writer;

pub use encoder::ArchiveEncoder;
pub use options::{ArchiveOptions, Around, EntryOptions, Job, Kind, Known};
pub use sequence::Totals;
pub use writer::{ArchiveWriter, PushError};
