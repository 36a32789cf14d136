//! What a worker works on, for all of its threads.

use std::time::Duration;

use crate::engine::To;
use crate::kafka::headers::place;
use crate::kafka::shared::Shared;
use crate::kafka::topics::{Cluster, Facts};
use crate::lost::Lost;
use crate::settings::Common;

/// What a worker works on.
pub(super) struct Plan {
    pub(super) cluster: Cluster,
    pub(super) from: Facts,
    pub(super) to: Facts,
    pub(super) dead: Facts,
    pub(super) group: String,
    /// What messages call the group.
    pub(super) consumer: String,
    /// What its workers have in common.
    pub(super) common: Common,
    /// What this worker is called, if it may change that.
    pub(super) takes_over: Option<String>,
    pub(super) session: Duration,
    pub(super) shared: Shared,
}

impl Plan {
    /// Notes that messages of a partition were removed before the group was done with them, and goes on behind them.
    pub(super) fn lose(&self, partition: i32, first: i64, end: i64) {
        let number = |offset: i64| u64::try_from(offset).unwrap_or(0);
        self.shared.lose(Lost {
            stream: place(&self.from.name, partition, first).stream,
            first: number(first),
            last: number(end - 1),
            count: number(end - first),
        });
        self.shared.skip(partition, end);
    }

    /// The longest message for a topic.
    pub(super) fn bytes_max(&self, to: To) -> usize {
        match to {
            To::Answers => self.to.bytes_max,
            To::DeadLetters => self.dead.bytes_max,
        }
    }
}
