//! What a worker works on, for all of its threads.

use std::time::Duration;

use crate::engine::To;
use crate::kafka::shared::Shared;
use crate::kafka::topics::{Cluster, Facts};

/// What a worker works on.
pub(super) struct Plan {
    pub(super) cluster: Cluster,
    pub(super) from: Facts,
    pub(super) to: Facts,
    pub(super) dead: Facts,
    pub(super) group: String,
    pub(super) session: Duration,
    pub(super) shared: Shared,
}

impl Plan {
    /// The longest message for a topic.
    pub(super) fn bytes_max(&self, to: To) -> usize {
        match to {
            To::Answers => self.to.bytes_max,
            To::DeadLetters => self.dead.bytes_max,
        }
    }
}
