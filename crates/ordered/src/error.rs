//! Why a run ended early.

use std::any::Any;
use std::io;

/// Why a run ended before all items were received.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E> {
    /// The receiver returned this error. Items behind it were not received.
    #[error("the receiver of the results failed")]
    Receiver(E),
    /// A worker panicked, and its item is lost. Pass the payload to [`std::panic::resume_unwind`] to
    /// panic on the calling thread too.
    #[error("a worker thread panicked")]
    Panicked(Box<dyn Any + Send>),
    /// The system started no thread at all. With fewer threads than asked for, the run goes on.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
}
