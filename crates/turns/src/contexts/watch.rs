//! Looks for tasks that no longer work, while others wait: a thread that sleeps in between. A task of the runtime
//! would have to spin, and so take its processor from those that are waited for.

use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use super::Contexts;

/// How long it sleeps.
const PERIOD: Duration = Duration::from_millis(2);
/// The thread ends after this many looks at an empty line.
const IDLE_LOOKS: u32 = 25;

impl Contexts {
    /// Begins to look now and then.
    pub(super) fn watch(self: &Arc<Self>) {
        let contexts = self.clone();
        let watching = thread::Builder::new().name("turns-watch".into());
        let watching = watching.stack_size(64 << 10).spawn(move || {
            let mut idle = 0;
            loop {
                thread::sleep(PERIOD);
                idle = match contexts.visit(now_ns()) {
                    true => 0,
                    false => idle + 1,
                };
                if idle > IDLE_LOOKS && contexts.unwatched() {
                    break;
                }
            }
        });
        if watching.is_err() {
            // Without a thread that watches, none may wait.
            self.open();
        }
    }
}

/// Nanoseconds since some moment.
pub(crate) fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
