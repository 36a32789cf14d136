//! Writing: the encoder without I/O, and a writer over it.
//!
//! [`encoder`] orders entries and content, [`batch`] packs, [`in_flight`] has [`workers`] do that,
//! [`sequence`] puts the results in line, [`records`] has the shapes of headers.

mod batch;
mod budget;
mod encoder;
mod in_flight;
mod options;
mod records;
mod sequence;
mod workers;
mod writer;

pub use budget::Budget;
pub use encoder::{ArchiveEncoder, Patch};
pub use options::{ArchiveOptions, EntryKind, EntryOptions, Job, JobObserver, KnownContent};
pub use sequence::Totals;
pub use workers::Workers;
pub use writer::{ArchiveWriter, PushError};
