//! Holds worker threads up, so that a test sees which calls wait for them.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use zstdkit::parallel::JobObserver;

/// Steps that end with nothing done before the gate is opened.
const STEPS: u32 = 3;

/// Holds threads up until it is opened. If a call waits for them, they go on after a minute, and the test fails.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<Access>, Condvar)>);

#[derive(Default)]
struct Access {
    open: bool,
    gave_up: bool,
    /// Steps with nothing done.
    steps: u32,
}

impl Gate {
    pub(crate) fn observer(&self) -> JobObserver {
        let gate = self.clone();
        Arc::new(move |_, work| {
            gate.pass();
            work();
        })
    }

    fn pass(&self) {
        let (access, opened) = &*self.0;
        let (closed, minute) = (|access: &mut Access| !access.open, Duration::from_secs(60));
        let waited = opened.wait_timeout_while(access.lock().unwrap(), minute, closed);
        let mut access = waited.unwrap().0;
        access.gave_up |= !access.open;
        access.open = true;
    }

    /// How long the next call may wait: not at all while the gate is closed.
    pub(crate) fn wait(&self) -> Duration {
        Duration::from_millis(u64::from(self.0.0.lock().unwrap().open))
    }

    /// Counts a call that did nothing, and opens the gate after a few.
    pub(crate) fn idle(&self) {
        let mut access = self.0.0.lock().unwrap();
        access.steps += 1;
        access.open |= access.steps >= STEPS;
        self.0.1.notify_all();
    }

    /// Fails if a call waited for a thread that was held up, or if none had a reason to.
    pub(crate) fn check(&self) {
        let access = self.0.0.lock().unwrap();
        assert!(!access.gave_up, "a call waited");
        assert!(access.steps >= STEPS, "{} steps", access.steps);
    }
}
