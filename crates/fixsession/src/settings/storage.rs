//! Where a session's numbers and messages are kept.

use std::path::PathBuf;

use super::error::Problem;
use super::reader::Reader;

/// The store of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageOptions {
    /// `FileStorePath`: the directory of all stores. Default: in memory.
    pub path: Option<PathBuf>,
    /// `FileStoreSync`: each message is on the disk before it is sent. Default: no.
    pub sync: bool,
    /// `ForceResendWhenCorruptedStore`: damaged messages are left out, not refused. Default: no.
    pub skip_damage: bool,
}

pub(super) fn storage(reader: &Reader<'_>) -> StorageOptions {
    if let Some(stated) = reader.empty("FileStorePath") {
        let key = stated.key;
        let conflict =
            "it is empty: numbers and messages are kept in memory only, and a restart begins at 1";
        let conflict = conflict.to_owned();
        reader.warn(stated.line, Problem::Conflict { key, conflict });
    }
    StorageOptions {
        path: reader.path("FileStorePath"),
        sync: reader.flag("FileStoreSync").unwrap_or(false),
        skip_damage: reader
            .flag("ForceResendWhenCorruptedStore")
            .unwrap_or(false),
    }
}
