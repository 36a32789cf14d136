//! Work of other threads for a task with a context.

use std::sync::Arc;

use crate::contexts::{Contexts, Seat};

/// Work of another thread for a task. It ends when this is dropped; until then the task is expected to go on.
#[derive(Debug, Default)]
pub struct Away {
    /// None outside of a runtime.
    works: Option<Arc<Seat>>,
    ended: bool,
}

impl Away {
    pub(crate) fn new(contexts: &Arc<Contexts>, seat: &Arc<Seat>) -> Self {
        contexts.away(seat);
        Self {
            works: Some(seat.clone()),
            ended: false,
        }
    }

    /// The other thread has ended its work: the task can have its context back.
    pub fn ended(&mut self) {
        let before = std::mem::replace(&mut self.ended, true);
        if let Some(seat) = self.works.as_ref().filter(|_| !before) {
            seat.ended();
        }
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        if let Some(seat) = &self.works {
            seat.seen(self.ended);
        }
    }
}
