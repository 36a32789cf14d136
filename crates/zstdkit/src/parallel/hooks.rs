//! Functions that a caller can hook into the work of the threads.

use std::sync::Arc;

/// Called on a worker's thread for each job, with the byte of the stream at which the job begins and the
/// work itself, which it must call exactly once. For measurements.
pub type JobObserver = Arc<dyn Fn(u64, &mut dyn FnMut()) + Send + Sync>;

/// Called on a worker's thread with content and its position in the content of the stream, to write it
/// to its final position while other threads go on. `false`: it could not; the content is then handed
/// out in order instead.
///
/// Content is written before the parts of the stream in front of it were checked. After an error a
/// position may hold content that the stream would not have reached, or that was handed out as well.
pub type PositionedWriter = Arc<dyn Fn(u64, &[u8]) -> bool + Send + Sync>;

/// Observes nothing.
pub(super) fn no_observer() -> JobObserver {
    Arc::new(|_, work| work())
}
