//! Why an engine could not be opened or go on.

use std::io;
use std::path::PathBuf;

use fixcore::io::OpenError;

use crate::id::SessionId;
use crate::store::StoreFailure;

/// Why an engine could not be opened or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// There is nothing to do.
    #[error("there are no sessions of this role in the settings")]
    NoSessions,
    /// Two sessions have the same identity.
    #[error("{id} is there twice: lines {first} and {second}")]
    Twice {
        /// The identity.
        id: Box<SessionId>,
        /// The line of the first one.
        first: u32,
        /// The line of the second one.
        second: u32,
    },
    /// A session lacks what its role needs.
    #[error("{id} (line {line}): {lacks} is not set")]
    Lacks {
        /// The session.
        id: Box<SessionId>,
        /// Its line in the settings.
        line: u32,
        /// The key.
        lacks: &'static str,
    },
    /// A key asks for what cannot be done.
    #[error("{id} (line {line}): {key}: {why}")]
    Unsupported {
        /// The session.
        id: Box<SessionId>,
        /// Its line in the settings.
        line: u32,
        /// The key.
        key: &'static str,
        /// Why.
        why: String,
    },
    /// A dictionary could not be read, or is of another version.
    #[error("cannot use the dictionary {}: {why}", path.display())]
    Dictionary {
        /// Its file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A store or log could not be opened.
    #[error("{id}: {failure}")]
    Store {
        /// The session.
        id: Box<SessionId>,
        /// Why.
        failure: StoreFailure,
    },
    /// A port could not be opened.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: String,
        /// The system's reason.
        error: io::Error,
    },
    /// The system refuses what connections need.
    #[error(transparent)]
    Connections(#[from] OpenError),
    /// The system failed.
    #[error("cannot wait for connections: {0}")]
    System(#[from] io::Error),
}
