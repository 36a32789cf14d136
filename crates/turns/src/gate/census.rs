//! How many contexts are at work on all threads of a runtime: streams wander between them.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread::available_parallelism;

use tokio::runtime::Id;

/// Contexts at work on a runtime while others wait to open theirs: as many as there are processors, but not fewer
/// than this. More of them would only push each other out of the caches.
const OPEN_LEAST: usize = 2;

/// The count of a runtime. Each gate of the runtime holds it once.
#[derive(Debug, Default)]
pub(in crate::gate) struct Census {
    open: AtomicUsize,
}

impl Census {
    /// That of a runtime.
    pub(in crate::gate) fn of(runtime: Id) -> Arc<Self> {
        static KNOWN: Mutex<Vec<(Id, Weak<Census>)>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|(id, _)| *id == runtime);
        if let Some(census) = found.and_then(|(_, census)| census.upgrade()) {
            return census;
        }
        let census = Arc::<Self>::default();
        known.retain(|(_, census)| census.strong_count() > 0);
        known.push((runtime, Arc::downgrade(&census)));
        census
    }

    /// Corrects what a gate has told.
    pub(in crate::gate) fn correct(&self, before: usize, now: usize) {
        if before != now {
            self.open.fetch_add(now.wrapping_sub(before), Relaxed);
        }
    }

    /// Whether there are enough, with so many on a gate that has told another number.
    pub(in crate::gate) fn is_full(&self, told: usize, here: usize) -> bool {
        let elsewhere = self.open.load(Relaxed).wrapping_sub(told);
        elsewhere.saturating_add(here) >= Self::most()
    }

    /// How many contexts are enough.
    pub(in crate::gate) fn most() -> usize {
        static MOST: OnceLock<usize> = OnceLock::new();
        *MOST.get_or_init(|| {
            let processors = available_parallelism().map_or(1, NonZero::get);
            processors.max(OPEN_LEAST)
        })
    }
}
