//! Who begins the turns while streams wait in line: a task of the runtime.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::yield_now;

use super::Gate;
use crate::idle::parked;

impl Gate {
    /// Begins a turn each time the runtime has looked at its other tasks, as long as streams wait. This is a task
    /// of its own, because a stream's future may be kept and not polled again.
    pub(crate) fn conduct(self: &Arc<Self>, runtime: &Handle) {
        let gate = self.clone();
        let mut conducting = Conducting { gate, needed: true };
        runtime.spawn(async move {
            while conducting.needed {
                yield_now().await;
                conducting.needed = conducting.gate.begin(parked(&Handle::current()));
            }
        });
    }
}

/// If the runtime drops the task that begins turns, the streams in line do not wait for it.
struct Conducting {
    gate: Arc<Gate>,
    needed: bool,
}

impl Drop for Conducting {
    fn drop(&mut self) {
        if self.needed {
            self.gate.open();
        }
    }
}
