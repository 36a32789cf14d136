//! A content on its way to its place.

use std::io::{self, Write};

use files::beneath::{Attributes, Beneath, Part, Placed};

use super::objects::NewObject;
use super::reason::Reason;
use crate::error::Error;
use crate::name::system_path;

/// A file in the making.
pub(super) enum Writing<'a> {
    Nowhere,
    Writer(&'a mut (dyn Write + Send)),
    /// Its content comes at once.
    Whole {
        root: &'a mut Beneath,
        path: &'a str,
        attributes: Attributes,
        placed: Option<Placed>,
    },
    /// It is an object of a store.
    Object(Box<dyn NewObject + 'a>),
    /// There is such an object, and nothing is written.
    Kept,
    /// It comes in pieces.
    Pieces(Box<Pieces<'a>>),
}

pub(super) struct Pieces<'a> {
    pub(super) part: Part<'a>,
    pub(super) attributes: Attributes,
}

/// Why an entry came to nothing.
pub(super) enum Ended {
    /// It could not be written, or was not to be.
    Failed(Reason),
    /// It could not be read.
    Unreadable(Error),
    /// The flag was set.
    Cancelled,
    /// Whoever read what the writer takes has gone.
    ReaderGone,
    /// The writer takes no more, so that nothing that follows could be delivered either.
    Undelivered(io::Error),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Unreadable(error)
    }
}

impl From<Reason> for Ended {
    fn from(reason: Reason) -> Self {
        Self::Failed(reason)
    }
}

impl Writing<'_> {
    /// Takes the next piece of content.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<(), Ended> {
        match self {
            Self::Nowhere | Self::Kept => Ok(()),
            Self::Object(object) => Ok(object.write_all(piece).map_err(Reason::Write)?),
            Self::Writer(writer) => writer.write_all(piece).map_err(|error| match error.kind() {
                io::ErrorKind::BrokenPipe => Ended::ReaderGone,
                _ => Ended::Undelivered(error),
            }),
            Self::Whole {
                root,
                path,
                attributes,
                placed,
            } => {
                let written = root.file(system_path(path), piece, *attributes);
                *placed = Some(written.map_err(Reason::Write)?);
                Ok(())
            }
            Self::Pieces(pieces) => {
                let written = pieces.part.file.write_all(piece);
                Ok(written.map_err(Reason::Write)?)
            }
        }
    }

    /// Ends a file whose content is complete and verified.
    pub(super) fn finish(self) -> Result<Placed, Reason> {
        match self {
            Self::Nowhere | Self::Writer(_) => Ok(Placed::Done),
            Self::Whole { placed, .. } => Ok(placed.unwrap_or(Placed::Done)),
            Self::Kept => Ok(Placed::Kept),
            Self::Object(object) => match object.finish() {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Placed::Kept),
                finished => finished.map(|()| Placed::Done).map_err(Reason::Write),
            },
            Self::Pieces(pieces) => {
                let Pieces { part, attributes } = *pieces;
                part.finish(attributes).map_err(Reason::Write)
            }
        }
    }
}
