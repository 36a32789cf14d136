//! What can be wrong with a log.

/// Why a log cannot be read. A log that only breaks off has no error: see [`Ending`](crate::log::Ending).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// Not a log, or its first bytes were changed.
    #[error("it does not begin like a log of changes")]
    Foreign,
    /// A later version of the format.
    #[error("its format has version {found}, this program reads version 1")]
    Version {
        /// The version.
        found: u32,
    },
    /// Bytes were changed: what is wrong is followed by good records.
    #[error(
        "the record at byte {at} is damaged, and {after} bytes later good ones go on: restore the file from \
         a copy, or cut it at byte {at} to give up the changes from there"
    )]
    Damaged {
        /// Where the damaged record begins.
        at: usize,
        /// How many bytes later a good one begins.
        after: usize,
    },
    /// A record whose checksum is right and whose content is not.
    #[error(
        "the record at byte {at} has a right checksum, but is no list of changes: it is from another program"
    )]
    Content {
        /// Where it begins.
        at: usize,
    },
}
