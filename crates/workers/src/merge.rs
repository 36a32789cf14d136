//! Answers in the order of the blocks that they answer. No I/O.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};

use bytes::Bytes;

/// How many blocks that were given out are remembered: a repeated answer to one of them is compared.
const REMEMBERED: usize = 1 << 16;

/// Answers that wait for others before them.
///
/// An answer wins over a dead letter of its block: none counts as dead before all answers are known that there were
/// at the start ([`Merge::settle`]), or more waits for it than may.
#[derive(Debug)]
pub struct Merge {
    shards: usize,
    next: u64,
    waiting: BTreeMap<u64, Waiting>,
    /// The last blocks before `next`: a hash of the answer of each shard, nothing for those that are dead.
    given: VecDeque<Box<[u64]>>,
    remembered: usize,
    hasher: RandomState,
    /// Blocks before `next` that have no answer of every shard, with the shards whose dead letters they are.
    dead: BTreeMap<u64, BTreeSet<usize>>,
    /// Blocks that will get no answer any more, unless they have one: those below the number, and these.
    gone_below: u64,
    gone: BTreeSet<u64>,
    /// Blocks before `next` that were gone, in ranges.
    lost: Vec<(u64, u64)>,
    settled: bool,
    bytes: usize,
    bytes_max: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The answers of shards, in the order of shards.
    parts: BTreeMap<usize, Bytes>,
    /// The shards whose dead letter the block is, and that have not answered it.
    dead: BTreeSet<usize>,
}

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// It waits for its turn.
    New,
    /// The same answer was there before.
    Repeated,
    /// Its block was given out as dead before: this shard has answered it since.
    Late,
    /// Its block was given out as dead before, for another shard.
    Left,
}

/// Why answers cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Too much waits.
    #[error(
        "{bytes} bytes of answers wait for an answer to block {sequence}, more than {bytes_max}"
    )]
    TooMuch {
        /// The block whose answer is missing.
        sequence: u64,
        /// What waits.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// A shard gave two answers that differ.
    #[error("block {sequence} has two different answers of shard {shard}")]
    Differs {
        /// The block.
        sequence: u64,
        /// Which shard, from 0.
        shard: usize,
    },
    /// A shard answered twice, so far apart that the answers cannot be compared.
    #[error("block {sequence} was answered again by shard {shard}, long after it was given out")]
    Twice {
        /// The block.
        sequence: u64,
        /// Which shard, from 0.
        shard: usize,
    },
    /// Shards answered different events.
    #[error("shards answer different events: {0}")]
    Different(String),
}

/// What is known of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// Its answers, one a shard.
    Answers(Vec<Bytes>),
    /// It has none.
    Dead,
    /// It has none, and is itself gone.
    Lost,
}

impl Merge {
    /// Waits for so many shards, from this block on, with at most so many bytes that wait.
    #[must_use]
    pub fn new(shards: usize, first: u64, bytes_max: usize) -> Self {
        Self {
            shards: shards.max(1),
            next: first,
            waiting: BTreeMap::new(),
            given: VecDeque::new(),
            remembered: REMEMBERED,
            hasher: RandomState::new(),
            dead: BTreeMap::new(),
            gone_below: 0,
            gone: BTreeSet::new(),
            lost: Vec::new(),
            settled: false,
            bytes: 0,
            bytes_max,
        }
    }

    /// The block that is waited for.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The shards that have not answered the block that is waited for, from 0.
    #[must_use]
    pub fn missing(&self) -> Vec<usize> {
        let waiting = self.waiting.get(&self.next);
        let is_missing =
            |shard: &usize| waiting.is_none_or(|waiting| !waiting.parts.contains_key(shard));
        (0..self.shards).filter(is_missing).collect()
    }

    /// Adds an answer.
    ///
    /// # Errors
    ///
    /// If the shard has given another answer before, or too much waits.
    pub fn push(
        &mut self,
        sequence: u64,
        shard: usize,
        bytes: Bytes,
    ) -> Result<Pushed, MergeError> {
        if sequence < self.next {
            return self.again(sequence, shard, &bytes);
        }
        let waiting = self.waiting.entry(sequence).or_default();
        if let Some(before) = waiting.parts.get(&shard) {
            return match *before == bytes {
                true => Ok(Pushed::Repeated),
                false => Err(MergeError::Differs { sequence, shard }),
            };
        }
        self.bytes += bytes.len();
        waiting.dead.remove(&shard);
        waiting.parts.insert(shard, bytes);
        match self.bytes > self.bytes_max && !self.is_ready() {
            true => Err(MergeError::TooMuch {
                sequence: self.next,
                bytes: self.bytes,
                bytes_max: self.bytes_max,
            }),
            false => Ok(Pushed::New),
        }
    }

    /// An answer to a block that was given out.
    fn again(&mut self, sequence: u64, shard: usize, bytes: &Bytes) -> Result<Pushed, MergeError> {
        if let Some(shards) = self.dead.get(&sequence) {
            return Ok(match shards.contains(&shard) {
                true => Pushed::Late,
                false => Pushed::Left,
            });
        }
        if self.was_lost(sequence) {
            return Ok(Pushed::Late);
        }
        let back = usize::try_from(self.next - sequence).unwrap_or(usize::MAX);
        let at = self.given.len().checked_sub(back);
        let before = at.and_then(|at| self.given[at].get(shard));
        match before {
            Some(hash) if *hash == self.hasher.hash_one(bytes) => Ok(Pushed::Repeated),
            Some(_) => Err(MergeError::Differs { sequence, shard }),
            None => Err(MergeError::Twice { sequence, shard }),
        }
    }

    /// Says that a block is a dead letter of a shard: it will not be answered, unless it is already.
    pub fn bury(&mut self, sequence: u64, shard: usize) {
        if sequence < self.next {
            return;
        }
        let waiting = self.waiting.entry(sequence).or_default();
        if !waiting.parts.contains_key(&shard) {
            waiting.dead.insert(shard);
        }
    }

    /// Says that blocks below this number are gone: those without answers will get none.
    pub fn lose_below(&mut self, sequence: u64) {
        self.gone_below = self.gone_below.max(sequence);
    }

    /// Says that this block is gone.
    pub fn lose(&mut self, sequence: u64) {
        self.gone.insert(sequence);
    }

    /// Whether all answers are known that there were at the start.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    fn is_gone(&self) -> bool {
        self.next < self.gone_below || self.gone.contains(&self.next)
    }

    fn was_lost(&self, sequence: u64) -> bool {
        let at = self.lost.partition_point(|(first, _)| *first <= sequence);
        at > 0 && sequence <= self.lost[at - 1].1
    }

    /// Says that all answers are known that there were at the start: from now on a block can be dead.
    pub fn settle(&mut self) {
        self.settled = true;
    }

    fn is_ready(&self) -> bool {
        let ends_waiting = self.settled || self.bytes > self.bytes_max;
        let is_hopeless = |waiting: Option<&Waiting>| {
            self.is_gone() || waiting.is_some_and(|waiting| !waiting.dead.is_empty())
        };
        let waiting = self.waiting.get(&self.next);
        waiting.is_some_and(|waiting| waiting.parts.len() == self.shards)
            || (ends_waiting && is_hopeless(waiting))
    }

    /// The next block, once all shards have answered.
    pub fn pop(&mut self) -> Option<(u64, Merged)> {
        if !self.is_ready() {
            return None;
        }
        let waiting = self.waiting.remove(&self.next).unwrap_or_default();
        let is_gone = self.is_gone();
        let sequence = self.next;
        self.next += 1;
        self.gone.remove(&sequence);
        let parts: Vec<Bytes> = waiting.parts.into_values().collect();
        self.bytes -= parts.iter().map(Bytes::len).sum::<usize>();
        if self.given.len() >= self.remembered {
            self.given.pop_front();
        }
        if parts.len() == self.shards {
            let hashes = parts.iter().map(|part| self.hasher.hash_one(part));
            self.given.push_back(hashes.collect());
            return Some((sequence, Merged::Answers(parts)));
        }
        self.given.push_back(Box::default());
        if waiting.dead.is_empty() && is_gone {
            match self.lost.last_mut() {
                Some((_, last)) if *last + 1 == sequence => *last = sequence,
                _ => self.lost.push((sequence, sequence)),
            }
            return Some((sequence, Merged::Lost));
        }
        self.dead.insert(sequence, waiting.dead);
        Some((sequence, Merged::Dead))
    }

    /// Blocks that were given out as lost, in ranges from the first to the last.
    #[must_use]
    pub fn lost(&self) -> &[(u64, u64)] {
        &self.lost
    }
}

#[cfg(test)]
mod tests;
