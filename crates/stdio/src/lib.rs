//! Whether the standard streams were open when the process started.
//!
//! The runtime of Rust opens `/dev/null` for each of the first three descriptors that is closed,
//! before `main` runs. From then on a closed standard output looks like one that was led to
//! `/dev/null`, and output that was asked for disappears without an error. [`was_open`] answers from a
//! look that is taken earlier. Nothing else lives here: reading and writing is the caller's.
//!
//! ```
//! use perfkit_stdio::{Stream, was_open};
//!
//! // A test runner leaves all three open.
//! assert!(was_open(Stream::Output));
//! ```

#![deny(unsafe_code)]

mod early;

/// One of the three streams that every process starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard input.
    Input = 0,
    /// Standard output.
    Output = 1,
    /// Standard error.
    Error = 2,
}

/// Whether `stream` was open when the process started. True where that is not known.
#[must_use]
pub fn was_open(stream: Stream) -> bool {
    early::closed() & (1 << stream as u8) == 0
}
