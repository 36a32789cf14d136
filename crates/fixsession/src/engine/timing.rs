//! How long calls into sessions took.

use std::time::Duration;

/// A span of the engine's thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Timing {
    /// One message: from its bytes to the end of its call-backs, with its answers encoded and stored.
    Message(Duration),
    /// One call: what a session did in one turn, of at most the budget, until its output was queued.
    Call(Duration),
}
