//! Writing: the encoder without I/O, and a writer over it.
//!
//! [`encoder`] orders entries and content, [`batch`] packs, [`in_flight`] has [`workers`] do that,
//! [`sequence`] puts the results in line, [`records`] has the shapes of headers.

mod batch;
mod budget;
mod encoder;
mod engines;
mod entry_writer;
mod in_flight;
mod meta;
mod options;
mod records;
mod sequence;
mod workers;
mod writer;

pub(crate) use batch::{Chunk, Coding, Job as ChunkJob};
pub use budget::Budget;
pub use encoder::ArchiveEncoder;
pub(crate) use engines::Engines;
pub use entry_writer::EntryWriter;
pub(crate) use in_flight::InFlight;
pub use options::{ArchiveOptions, EntryOptions, Job, JobObserver, KnownContent};
pub use sequence::{Patch, Totals};
pub use workers::Workers;
pub use writer::{ArchiveWriter, PushError};
