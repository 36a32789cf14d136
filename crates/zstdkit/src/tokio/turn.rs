//! Yielding: how long the current thread has been held since these layers last yielded.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::task::yield_now;

thread_local! {
    /// Nanoseconds of work on this thread since the last yield. Short calls still hold a worker if a
    /// task makes many of them without a pause.
    static HELD_NS: Cell<u64> = const { Cell::new(0) };
}

/// Counts work on this thread.
pub(super) fn held(ns: u64) {
    HELD_NS.set(HELD_NS.get().saturating_add(ns));
}

/// Whether to yield before the next call. Other tasks wait for both the work done and the next call, so
/// the sum should stay within half of the threshold. Yielding takes about a microsecond.
fn is_over(next_ns: u64, threshold_ns: u64) -> bool {
    let held_ns = HELD_NS.get();
    held_ns > 0 && held_ns.saturating_add(next_ns) > threshold_ns / 2
}

/// Yields first if work of this length would hold the thread for too long.
pub(super) async fn take(next_ns: u64, threshold_ns: u64) {
    if is_over(next_ns, threshold_ns) {
        yield_now().await;
        HELD_NS.set(0);
    }
}

/// The same for code that polls instead of awaiting.
#[derive(Default)]
pub(super) struct Turn {
    yielding: Option<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>,
}

impl Turn {
    pub(super) fn poll_take(
        &mut self,
        context: &mut Context<'_>,
        next_ns: u64,
        threshold_ns: u64,
    ) -> Poll<()> {
        if self.yielding.is_none() && is_over(next_ns, threshold_ns) {
            self.yielding = Some(Box::pin(yield_now()));
        }
        if let Some(yielding) = &mut self.yielding {
            ready!(yielding.as_mut().poll(context));
            self.yielding = None;
            HELD_NS.set(0);
        }
        Poll::Ready(())
    }
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn")
            .field("yielding", &self.yielding.is_some())
            .finish()
    }
}
