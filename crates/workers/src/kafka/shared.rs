//! What the threads of a worker share: the partitions that it holds, and who waits for what.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::block::Block;
use crate::engine::Published;
use crate::error::Error;
use crate::kafka::partition::{Item, Partition};
use crate::lost::Lost;

/// How often a thread that waits looks whether somebody wants the end.
pub(super) const LOOK: Duration = Duration::from_millis(100);
/// Troubles that pass are told no more often: whoever hears of one asks for no blocks for a while.
const QUIET: Duration = Duration::from_secs(5);

/// What is shared.
#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// There is something to store, or to end.
    storable: Condvar,
    /// There is something to give out, to tell, or done.
    changed: Notify,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) partitions: BTreeMap<i32, Partition>,
    /// Where the next look for a block begins.
    turn: i32,
    epochs: u64,
    trouble: Option<Error>,
    lost: Vec<Lost>,
    told: Option<Instant>,
    pub(super) is_stopping: bool,
    /// Everything ends once the last look is done.
    pub(super) is_leaving: bool,
}

/// What is to be stored.
pub(super) enum Storable {
    /// These answers, and the place behind them.
    Items(Vec<Item>),
    /// This place alone.
    Place(i64),
}

/// What the next look for a block has found.
pub(super) enum Look {
    /// A block: its partition and the time it is held, its offset, itself, and how often it was given out.
    Block(i32, u64, i64, Box<Block>, u64),
    Trouble(Error),
    /// Nothing now, but perhaps at that time.
    Nothing(Option<Instant>),
    /// Nothing is given out.
    Idle,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something may have changed.
    pub(super) async fn changed(&self, wait: Duration) {
        let _ = tokio::time::timeout(wait, self.changed.notified()).await;
    }

    /// Something can be stored.
    pub(super) fn published(&self) {
        self.storable.notify_all();
    }

    /// Something can be given out, or is done.
    pub(super) fn notify(&self) {
        self.changed.notify_one();
    }

    pub(super) fn tell(&self, error: Error) {
        let mut state = self.lock();
        let is_news = state.told.is_none_or(|told| told.elapsed() > QUIET);
        if !error.is_passing() || (is_news && state.trouble.is_none()) {
            state.trouble = Some(error);
            state.told = Some(Instant::now());
        }
        drop(state);
        self.notify();
    }

    /// Looks for a block to give out; with `fresh`, also for one that was not given out before.
    pub(super) fn look(&self, fresh: bool) -> Look {
        let now = Instant::now();
        let mut state = self.lock();
        if let Some(trouble) = state.trouble.take() {
            // Whoever only finishes tries on.
            if fresh || !trouble.is_passing() {
                return Look::Trouble(trouble);
            }
        }
        let turn = state.turn;
        let order: Vec<i32> = state
            .partitions
            .range(turn..)
            .chain(state.partitions.range(..turn))
            .map(|(partition, _)| *partition)
            .collect();
        let mut due: Option<Instant> = None;
        let mut is_busy = false;
        for number in order {
            let Some(partition) = state.partitions.get_mut(&number) else {
                continue;
            };
            if let Some((offset, block, count)) = partition.give(now, fresh) {
                let epoch = partition.epoch;
                state.turn = number + 1;
                return Look::Block(number, epoch, offset, Box::new(block), count);
            }
            is_busy |= partition.is_busy();
            due = match (due, partition.due()) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        }
        match is_busy || fresh {
            true => Look::Nothing(due),
            false => Look::Idle,
        }
    }

    /// Whether this worker has something to do.
    pub(super) fn is_busy(&self) -> bool {
        let state = self.lock();
        let mut all = state.partitions.values();
        all.any(|partition| partition.is_busy() || partition.has_waiting())
    }

    /// Whether blocks of a partition are given out.
    pub(super) fn is_partition_busy(&self, partition: i32) -> bool {
        let state = self.lock();
        let partition = state.partitions.get(&partition);
        partition.is_some_and(Partition::is_busy)
    }

    /// A partition is held from now on.
    pub(super) fn hold(&self, partition: i32) {
        let mut state = self.lock();
        state.epochs += 1;
        let epoch = state.epochs;
        state.partitions.insert(partition, Partition::new(epoch));
    }

    /// A partition goes to another worker, as soon as what is being stored is stored.
    pub(super) fn close(&self, partition: i32) {
        if let Some(partition) = self.lock().partitions.get_mut(&partition) {
            partition.is_closing = true;
        }
        self.published();
    }

    /// A partition is no longer held. Who waits for it hears that another worker has it.
    pub(super) fn drop(&self, partition: i32) {
        self.lock().partitions.remove(&partition);
        self.notify();
    }

    /// Whether a partition is still held, and to be held.
    pub(super) fn is_held(&self, partition: i32) -> bool {
        let state = self.lock();
        let partition = state.partitions.get(&partition);
        !state.is_stopping && partition.is_some_and(|partition| !partition.is_closing)
    }

    /// Waits for something to store. `None`: the partition is no longer held.
    pub(super) fn wait_ready(&self, number: i32) -> Option<Storable> {
        let mut state = self.lock();
        loop {
            let is_stopping = state.is_stopping;
            let partition = state.partitions.get(&number)?;
            let is_closing = partition.is_closing || is_stopping;
            let items = partition.ready();
            if is_closing {
                return None;
            }
            if !items.is_empty() {
                return Some(Storable::Items(items));
            }
            if let Some(floor) = partition.floor() {
                return Some(Storable::Place(floor));
            }
            let waited = self.storable.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Blocks of a partition below this offset are done.
    pub(super) fn done(&self, partition: i32, below: i64, published: Published) {
        if let Some(partition) = self.lock().partitions.get_mut(&partition) {
            partition.done(below, published);
        }
        self.notify();
    }

    /// What was to be stored for a block cannot be.
    pub(super) fn refuse(&self, partition: i32, offset: i64, error: &Error) {
        if let Some(partition) = self.lock().partitions.get_mut(&partition) {
            partition.refuse(offset, error);
        }
    }

    /// Nothing of a partition is left below this offset.
    pub(super) fn skip(&self, partition: i32, below: i64) {
        if let Some(partition) = self.lock().partitions.get_mut(&partition) {
            partition.skip(below);
        }
        self.published();
    }

    /// Blocks are lost.
    pub(super) fn lose(&self, lost: Lost) {
        self.lock().lost.push(lost);
    }

    /// What was lost since the last call.
    pub(super) fn take_lost(&self) -> Vec<Lost> {
        std::mem::take(&mut self.lock().lost)
    }

    /// Partitions of which everything that was read is done, each with the offset at which reading goes on.
    pub(super) fn idle(&self) -> BTreeMap<i32, i64> {
        let state = self.lock();
        let all = state.partitions.iter();
        all.filter_map(|(number, partition)| Some((*number, partition.idle()?)))
            .collect()
    }

    /// Whether the group does not know yet what is gone of a partition without work.
    pub(super) fn has_floors(&self) -> bool {
        let state = self.lock();
        let mut all = state.partitions.values();
        all.any(|partition| partition.floor().is_some())
    }

    /// Everything ends, in order.
    pub(super) fn leave(&self) {
        self.lock().is_leaving = true;
    }

    /// Everything ends.
    pub(super) fn stop(&self) {
        self.lock().is_stopping = true;
        self.published();
    }
}
