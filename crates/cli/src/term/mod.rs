//! The terminal: colour, messages on standard error, progress, signals.

pub(crate) mod color;
pub(crate) mod message;
pub(crate) mod progress;
pub(crate) mod signal;
