//! Why entries are not extracted.

use std::io;

use crate::error::Error;
use crate::name::NameFault;

/// Why an entry was not extracted.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    /// Its content or its records cannot be read.
    Archive(Error),
    /// Its name leads out of the directory, or cannot be a path.
    Name(NameFault),
    /// Another entry has the same path.
    SamePath,
    /// Another path differs from it in case only.
    CaseClash,
    /// There is a file of its name.
    Exists,
    /// It is a link that may not be made.
    Link(String),
    /// It cannot be written.
    Write(io::Error),
    /// The [`Writer`](super::Destination::Writer) failed.
    Undelivered(io::Error),
    /// A thread panicked, which is a bug.
    Panicked,
}
