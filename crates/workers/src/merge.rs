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

    /// Says that all answers are known that there were at the start: from now on a block can be dead.
    pub fn settle(&mut self) {
        self.settled = true;
    }

    fn is_ready(&self) -> bool {
        let waiting = self.waiting.get(&self.next);
        let ends_waiting = self.settled || self.bytes > self.bytes_max;
        waiting.is_some_and(|waiting| {
            waiting.parts.len() == self.shards || (ends_waiting && !waiting.dead.is_empty())
        })
    }

    /// The next block, once all shards have answered.
    pub fn pop(&mut self) -> Option<(u64, Merged)> {
        if !self.is_ready() {
            return None;
        }
        let waiting = self.waiting.remove(&self.next)?;
        let sequence = self.next;
        self.next += 1;
        let parts: Vec<Bytes> = waiting.parts.into_values().collect();
        self.bytes -= parts.iter().map(Bytes::len).sum::<usize>();
        if self.given.len() >= self.remembered {
            self.given.pop_front();
        }
        if waiting.dead.is_empty() {
            let hashes = parts.iter().map(|part| self.hasher.hash_one(part));
            self.given.push_back(hashes.collect());
            Some((sequence, Merged::Answers(parts)))
        } else {
            self.given.push_back(Box::default());
            self.dead.insert(sequence, waiting.dead);
            Some((sequence, Merged::Dead))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Bytes {
        Bytes::copy_from_slice(text.as_bytes())
    }

    #[test]
    fn answers_come_in_the_order_of_their_blocks() {
        let mut merge = Merge::new(2, 1, 100);
        merge.settle();
        merge.push(2, 0, bytes("b0")).unwrap();
        assert_eq!(merge.missing(), [0, 1]);
        merge.push(1, 1, bytes("a1")).unwrap();
        assert_eq!(merge.missing(), [0]);
        assert_eq!(merge.pop(), None);
        merge.push(2, 1, bytes("b1")).unwrap();
        assert_eq!(merge.pop(), None);
        merge.push(1, 0, bytes("a0")).unwrap();
        let both = |one, other| Merged::Answers(vec![bytes(one), bytes(other)]);
        assert_eq!(merge.pop(), Some((1, both("a0", "a1"))));
        assert_eq!(merge.pop(), Some((2, both("b0", "b1"))));
        merge.bury(3, 0);
        assert_eq!(merge.pop(), Some((3, Merged::Dead)));
        assert_eq!((merge.pop(), merge.bytes), (None, 0));
        // What another shard answers to it later is no second answer; what its own does is late.
        assert_eq!(merge.push(3, 1, bytes("c1")), Ok(Pushed::Left));
        assert_eq!(merge.push(3, 0, bytes("c0")), Ok(Pushed::Late));
        assert_eq!(merge.bytes, 0);
    }

    #[test]
    fn an_answer_wins_over_a_dead_letter_in_whichever_order_they_come() {
        let steps: [fn(&mut Merge); 3] = [
            |merge| merge.bury(1, 0),
            |merge| assert_eq!(merge.push(1, 0, bytes("a0")), Ok(Pushed::New)),
            |merge| assert_eq!(merge.push(1, 1, bytes("a1")), Ok(Pushed::New)),
        ];
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let mut merge = Merge::new(2, 1, 100);
            for at in order {
                steps[at](&mut merge);
            }
            // Before all answers are known, too.
            let answers = Merged::Answers(vec![bytes("a0"), bytes("a1")]);
            assert_eq!(merge.pop(), Some((1, answers)), "{order:?}");
            merge.bury(1, 0);
            merge.settle();
            assert_eq!(merge.pop(), None, "{order:?}");
        }
        let mut merge = Merge::new(2, 1, 100);
        merge.bury(1, 1);
        merge.push(1, 0, bytes("a0")).unwrap();
        assert_eq!(merge.pop(), None);
        merge.settle();
        assert_eq!(merge.pop(), Some((1, Merged::Dead)));
    }

    #[test]
    fn a_dead_letter_holds_no_more_back_than_may_wait() {
        let mut merge = Merge::new(1, 1, 3);
        merge.bury(1, 0);
        for sequence in 2..=5 {
            assert_eq!(merge.push(sequence, 0, bytes("a")), Ok(Pushed::New));
            let is_first = sequence == 5;
            assert_eq!(merge.pop().is_some(), is_first, "{sequence}");
        }
        for sequence in 2..=5 {
            let answers = Merged::Answers(vec![bytes("a")]);
            assert_eq!(merge.pop(), Some((sequence, answers)));
        }
        assert_eq!(merge.push(1, 0, bytes("a")), Ok(Pushed::Late));
        assert_eq!((merge.pop(), merge.bytes), (None, 0));
    }

    #[test]
    fn the_same_answer_again_is_passed_over_and_another_one_is_an_error() {
        let mut merge = Merge::new(1, 1, 3);
        merge.remembered = 2;
        merge.push(2, 0, bytes("bb")).unwrap();
        assert_eq!(merge.push(2, 0, bytes("bb")), Ok(Pushed::Repeated));
        let differs = |sequence| MergeError::Differs { sequence, shard: 0 };
        assert_eq!(merge.push(2, 0, bytes("b")), Err(differs(2)));
        let error = merge.push(3, 0, bytes("cc")).unwrap_err();
        assert!(matches!(
            error,
            MergeError::TooMuch {
                sequence: 1,
                bytes: 4,
                ..
            }
        ));
        merge.push(1, 0, bytes("aaaa")).unwrap();
        for sequence in 1..=3 {
            assert_eq!(merge.pop().map(|(sequence, _)| sequence), Some(sequence));
        }
        // Of the first block nothing is known any more.
        let twice = MergeError::Twice {
            sequence: 1,
            shard: 0,
        };
        assert_eq!(merge.push(1, 0, bytes("aaaa")), Err(twice));
        assert_eq!(merge.push(2, 0, bytes("bb")), Ok(Pushed::Repeated));
        assert_eq!(merge.push(3, 0, bytes("cc")), Ok(Pushed::Repeated));
        assert_eq!(merge.push(3, 0, bytes("c")), Err(differs(3)));
        assert_eq!(merge.bytes, 0);
    }
}
