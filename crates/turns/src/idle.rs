//! Which workers of a runtime have nothing to do, by the runtime's own counts.

use tokio::runtime::{Handle, RuntimeFlavor, RuntimeMetrics};

/// How many threads of this runtime have nothing to do. They take the tasks that wait for others.
pub(crate) fn parked(runtime: &Handle) -> usize {
    match runtime.runtime_flavor() {
        RuntimeFlavor::MultiThread => idle_workers(&runtime.metrics()),
        _ => 0,
    }
}

/// How many workers of a runtime have nothing to do, by its counts.
#[cfg(target_has_atomic = "64")]
pub(crate) fn idle_workers(metrics: &RuntimeMetrics) -> usize {
    // An odd count: the thread is parked.
    (0..metrics.num_workers())
        .filter(|&worker| metrics.worker_park_unpark_count(worker) % 2 == 1)
        .count()
}

/// The runtime does not say so on this target.
#[cfg(not(target_has_atomic = "64"))]
pub(crate) fn idle_workers(_: &RuntimeMetrics) -> usize {
    0
}
