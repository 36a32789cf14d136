//! Writing: the encoder without I/O, and a writer over it.
//!
//! [`encoder`] orders entries and content, [`batch`] packs, [`lanes`] has [`workers`] do that,
//! [`sequence`] puts the results in line, [`records`] has the shapes of headers.

mod batch;
mod budget;
mod encoder;
mod lanes;
mod options;
mod records;
mod sequence;
mod workers;
mod writer;

pub use budget::Budget;
pub use encoder::{ArchiveEncoder, Patch};
pub use options::{ArchiveOptions, Around, EntryOptions, Job, Kind, Known};
pub use sequence::Totals;
pub use workers::Workers;
pub use writer::{ArchiveWriter, PushError};
