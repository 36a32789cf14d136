//! Tells whether the standard streams were open when the process started.
//!
//! Before `main` runs, the Rust runtime opens `/dev/null` for each of the first three descriptors that is
//! closed. A closed standard output then looks like one that was redirected to `/dev/null`, and output is
//! lost without an error. [`was_open`] uses a check that runs before the runtime. Reading and writing are
//! left to the caller.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard input.
    Input = 0,
    /// Standard output.
    Output = 1,
    /// Standard error.
    Error = 2,
}

/// Whether `stream` was open when the process started. True if that is unknown.
#[must_use]
pub fn was_open(stream: Stream) -> bool {
    early::closed() & (1 << stream as u8) == 0
}
