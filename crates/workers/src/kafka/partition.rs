//! One partition that a worker holds: blocks that wait, blocks that were given out, and answers that can be stored. No
//! I/O, no clock.
//!
//! Kafka knows one number for what is done: up to which offset. So answers are stored in the order of their blocks: a
//! block that fails holds up those behind it, until it is answered or a dead letter.

use std::collections::VecDeque;
use std::time::Instant;

use tokio::sync::oneshot;

use crate::block::Block;
use crate::engine::{Published, To};
use crate::error::{Error, Result};

/// Where a publication is waited for.
pub(super) type Outcome = oneshot::Receiver<Result<Published>>;

/// Blocks that wait are no more than this before reading pauses.
const WAITING_BYTES_MAX: usize = 2 << 20;
/// Reading goes on when no more than this is left.
const WAITING_BYTES_MIN: usize = 512 << 10;
/// The most answers of one transaction, in bytes.
const STORED_BYTES_MAX: usize = 8 << 20;

/// What a worker has of a partition.
#[derive(Debug, Default)]
pub(super) struct Partition {
    /// Which time it is held.
    pub(super) epoch: u64,
    waiting: VecDeque<(i64, Block)>,
    waiting_bytes: usize,
    given: VecDeque<Given>,
    /// What was taken lies below.
    next: i64,
    /// Nothing below is left, and the group does not know it yet.
    floor: Option<i64>,
    is_paused: bool,
    /// It goes to another worker: nothing more is given out.
    pub(super) is_closing: bool,
}

/// A block that was given out.
#[derive(Debug)]
struct Given {
    offset: i64,
    block: Block,
    count: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// It is being matched.
    Working,
    /// It failed, and is given out again at that time.
    Failed(Instant),
    /// This is to be stored.
    Ready(Box<Ready>),
}

/// An answer or a dead letter, and who waits for it.
#[derive(Debug)]
struct Ready {
    to: To,
    block: Block,
    waits: Vec<oneshot::Sender<Result<Published>>>,
}

/// What is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// The block that it belongs to.
    pub(super) offset: i64,
    pub(super) to: To,
    pub(super) block: Block,
}

impl Partition {
    pub(super) fn new(epoch: u64) -> Self {
        Self {
            epoch,
            ..Self::default()
        }
    }

    /// Nothing is left below this offset: reading goes on there.
    pub(super) fn skip(&mut self, below: i64) {
        self.next = self.next.max(below);
        self.floor = Some(self.next);
    }

    /// Where reading goes on, as the group knows it.
    pub(super) fn start(&mut self, next: i64) {
        self.next = self.next.max(next);
    }

    /// Where reading went on, if the message that came does not follow at once.
    pub(super) fn gap(&self, offset: i64) -> Option<i64> {
        (offset > self.next).then_some(self.next)
    }

    /// Where reading goes on, if everything before is done and more is wanted.
    pub(super) fn idle(&self) -> Option<i64> {
        let is_idle = self.given.is_empty() && self.waiting.is_empty();
        (is_idle && !self.is_paused && !self.is_closing).then_some(self.next)
    }

    /// What the group is to know, if there are no answers to store with it.
    pub(super) fn floor(&self) -> Option<i64> {
        self.floor.filter(|_| self.idle().is_some())
    }

    /// Adds a block that was read.
    pub(super) fn push(&mut self, offset: i64, block: Block) {
        if offset >= self.next {
            self.next = offset + 1;
            self.waiting_bytes += block.bytes.len();
            self.waiting.push_back((offset, block));
        }
    }

    /// Whether reading is to pause or to go on, if that is to change.
    pub(super) fn toggle(&mut self) -> Option<bool> {
        let pauses = match self.is_paused {
            true => self.waiting_bytes > WAITING_BYTES_MIN,
            false => self.waiting_bytes > WAITING_BYTES_MAX,
        };
        (std::mem::replace(&mut self.is_paused, pauses) != pauses).then_some(pauses)
    }

    /// The next block with its offset, and how often it was given out. While one has failed, no others: they would take
    /// the places of the worker, and wait for it.
    pub(super) fn give(&mut self, now: Instant, fresh: bool) -> Option<(i64, Block, u64)> {
        if self.is_closing {
            return None;
        }
        let failed = |given: &&mut Given| matches!(given.state, State::Failed(_));
        if let Some(given) = self.given.iter_mut().find(failed) {
            let State::Failed(due) = given.state else {
                return None;
            };
            if due > now {
                return None;
            }
            given.count += 1;
            given.state = State::Working;
            return Some((given.offset, given.block.clone(), given.count));
        }
        if !fresh {
            return None;
        }
        let (offset, block) = self.waiting.pop_front()?;
        self.waiting_bytes -= block.bytes.len();
        self.given.push_back(Given {
            offset,
            block: block.clone(),
            count: 1,
            state: State::Working,
        });
        Some((offset, block, 1))
    }

    /// When a block that failed is given out again.
    pub(super) fn due(&self) -> Option<Instant> {
        self.given.iter().find_map(|given| match given.state {
            State::Failed(due) => Some(due),
            _ => None,
        })
    }

    /// Whether blocks are given out, and not done.
    pub(super) fn is_busy(&self) -> bool {
        !self.given.is_empty()
    }

    /// Whether blocks wait.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn find(&mut self, offset: i64) -> Option<&mut Given> {
        self.given.iter_mut().find(|given| given.offset == offset)
    }

    /// Takes what is to be stored for a block. `None`: the block is done, or none of ours.
    pub(super) fn publish(&mut self, offset: i64, to: To, block: Block) -> Option<Outcome> {
        let given = self.find(offset)?;
        let (sender, receiver) = oneshot::channel();
        match &mut given.state {
            // The same block was given out twice: before and after the partition was away.
            State::Ready(ready) => ready.waits.push(sender),
            state => {
                let waits = vec![sender];
                *state = State::Ready(Box::new(Ready { to, block, waits }));
            }
        }
        Some(receiver)
    }

    /// A block failed, and is to be given out again at that time.
    pub(super) fn fail(&mut self, offset: i64, due: Instant) {
        if let Some(given) = self.find(offset)
            && matches!(given.state, State::Working)
        {
            given.state = State::Failed(due);
        }
    }

    /// What can be stored now, in order.
    pub(super) fn ready(&self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut bytes = 0;
        for given in &self.given {
            let State::Ready(ready) = &given.state else {
                break;
            };
            bytes += ready.block.bytes.len();
            if !items.is_empty() && bytes > STORED_BYTES_MAX {
                break;
            }
            items.push(Item {
                offset: given.offset,
                to: ready.to,
                block: ready.block.clone(),
            });
        }
        items
    }

    /// Blocks below this offset are done: by this worker, or, if their answers are `Duplicate`, by another one.
    pub(super) fn done(&mut self, below: i64, published: Published) {
        self.floor = self.floor.filter(|floor| *floor > below);
        while let Some(given) = self.given.front()
            && given.offset < below
        {
            if let Some(Given {
                state: State::Ready(ready),
                ..
            }) = self.given.pop_front()
            {
                for wait in ready.waits {
                    // Nobody may wait any more.
                    let _ = wait.send(Ok(published));
                }
            }
        }
        while let Some((offset, block)) = self.waiting.front()
            && *offset < below
        {
            self.waiting_bytes -= block.bytes.len();
            self.waiting.pop_front();
        }
    }

    /// What was to be stored for a block cannot be.
    pub(super) fn refuse(&mut self, offset: i64, error: &Error) {
        if let Some(given) = self.find(offset)
            && let State::Ready(ready) = std::mem::replace(&mut given.state, State::Working)
        {
            for wait in ready.waits {
                let _ = wait.send(Err(error.clone()));
            }
        }
    }
}

#[cfg(test)]
mod tests;
