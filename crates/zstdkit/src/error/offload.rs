//! Why work on another thread has no result.

/// Why an offloaded job has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OffloadError {
    /// It panicked with this message.
    #[error("offloaded work panicked ({0})")]
    Panicked(String),
    /// The threads were stopped before it ran.
    #[error("offload threads were stopped")]
    Stopped,
}
