//! Why an object cannot be read or written.

use std::io;

use thiserror::Error;

/// Why an object cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// There is an object of this name, and it may not be replaced.
    #[error("an object of this name exists already")]
    Exists,
    /// The store cannot create an object on the condition that there is none.
    #[error(
        "the store cannot create an object only if there is none ({why}): allow it to be replaced, or configure the store"
    )]
    NoConditionalCreate {
        /// What the store says.
        why: String,
    },
    /// The store takes objects in one request only, and the object is larger than a part.
    #[error("the store takes no more than {most} bytes, in one request")]
    NoParts {
        /// The bytes of a part.
        most: usize,
    },
    /// The server cannot copy parts of the other object.
    #[error("the server does not copy parts of other objects: {why}")]
    NoCopies {
        /// What the server says.
        why: String,
    },
    /// The object was replaced while it was read.
    #[error("the object was replaced while it was read: read it again")]
    Changed,
    /// Less came than the size of the object promises.
    #[error("the object ends at byte {at}, {size} were stated")]
    Short {
        /// The byte after the last one that came.
        at: u64,
        /// The stated size.
        size: u64,
    },
    /// The upload has ended already, or failed before.
    #[error("nothing more can be written: the upload has ended")]
    Ended,
    /// There is no tokio runtime on this thread.
    #[error("uploads need a tokio runtime")]
    NoRuntime,
    /// A task that sends a part did not end by itself.
    #[error("a task that sends a part failed: {0}")]
    Task(#[from] tokio::task::JoinError),
    /// The store, or the way to it.
    #[error(transparent)]
    Store(#[from] object_store::Error),
}

impl From<ObjectError> for io::Error {
    fn from(error: ObjectError) -> Self {
        let kind = match &error {
            ObjectError::Exists => io::ErrorKind::AlreadyExists,
            ObjectError::NoConditionalCreate { .. }
            | ObjectError::NoParts { .. }
            | ObjectError::NoCopies { .. } => io::ErrorKind::Unsupported,
            ObjectError::Short { .. } => io::ErrorKind::UnexpectedEof,
            ObjectError::Ended => io::ErrorKind::BrokenPipe,
            ObjectError::Store(object_store::Error::NotFound { .. }) => io::ErrorKind::NotFound,
            ObjectError::Store(
                object_store::Error::PermissionDenied { .. }
                | object_store::Error::Unauthenticated { .. },
            ) => io::ErrorKind::PermissionDenied,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

impl ObjectError {
    /// Of a request that creates an object only if there is none.
    pub(super) fn of_create(error: object_store::Error) -> Self {
        use object_store::Error as Store;
        match error {
            Store::AlreadyExists { .. } | Store::Precondition { .. } => Self::Exists,
            Store::NotImplemented { .. } | Store::NotSupported { .. } => {
                Self::NoConditionalCreate {
                    why: error.to_string(),
                }
            }
            other => Self::Store(other),
        }
    }
}
