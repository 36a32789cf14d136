//! Answers in the order of the blocks that they answer, and those of several shards as one. No I/O.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use memchr::memmem;

/// Answers that wait for others before them.
#[derive(Debug)]
pub struct Merge {
    shards: usize,
    next: u64,
    waiting: BTreeMap<u64, Waiting>,
    /// Blocks before `next` that have no answer of every shard.
    dead: BTreeSet<u64>,
    bytes: usize,
    bytes_max: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The answers of shards, in the order of shards.
    parts: BTreeMap<usize, Bytes>,
    /// Whether the block is a dead letter of some shard: it has no answer.
    is_dead: bool,
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
    /// A shard answered twice.
    #[error("block {sequence} was answered twice by shard {shard}")]
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
            dead: BTreeSet::new(),
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
    /// If the shard has answered before, or too much waits.
    pub fn push(&mut self, sequence: u64, shard: usize, bytes: Bytes) -> Result<(), MergeError> {
        // Of a block that one shard could not answer, the answers of others are left out, too.
        if self.dead.contains(&sequence) {
            return Ok(());
        }
        let is_known = sequence < self.next
            || self
                .waiting
                .get(&sequence)
                .is_some_and(|waiting| waiting.parts.contains_key(&shard));
        if is_known {
            return Err(MergeError::Twice { sequence, shard });
        }
        self.bytes += bytes.len();
        let waiting = self.waiting.entry(sequence).or_default();
        waiting.parts.insert(shard, bytes);
        match self.bytes > self.bytes_max && !self.is_ready() {
            true => Err(MergeError::TooMuch {
                sequence: self.next,
                bytes: self.bytes,
                bytes_max: self.bytes_max,
            }),
            false => Ok(()),
        }
    }

    /// Says that a block will not be answered.
    pub fn bury(&mut self, sequence: u64) {
        if sequence >= self.next {
            self.waiting.entry(sequence).or_default().is_dead = true;
        }
    }

    fn is_ready(&self) -> bool {
        let waiting = self.waiting.get(&self.next);
        waiting.is_some_and(|waiting| waiting.is_dead || waiting.parts.len() == self.shards)
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
        let merged = match waiting.is_dead {
            true => {
                self.dead.insert(sequence);
                Merged::Dead
            }
            false => Merged::Answers(parts),
        };
        Some((sequence, merged))
    }
}

/// The lines of one answer of `betree match`, `{"event":1,"ids":[…]}`, made of those of several shards: each event has
/// the ids of all, in ascending order where all are integers.
///
/// # Errors
///
/// If shards have lines of different events.
pub fn join_lines(parts: &[Bytes], out: &mut Vec<u8>) -> Result<(), MergeError> {
    let [first, others @ ..] = parts else {
        return Ok(());
    };
    if others.is_empty() {
        out.extend_from_slice(first);
        return Ok(());
    }
    let mut rests: Vec<&[u8]> = others.iter().map(AsRef::as_ref).collect();
    let mut ids = Vec::new();
    for line in first.split_inclusive(|byte| *byte == b'\n') {
        let (head, own) = parse(line)?;
        ids.clear();
        split_ids(own, &mut ids);
        for rest in &mut rests {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let (other, tail) = rest.split_at(end);
            *rest = tail;
            let (other_head, other_ids) = parse(other)?;
            if other_head != head {
                return Err(different(head, other_head));
            }
            split_ids(other_ids, &mut ids);
        }
        if let Some(mut numbers) = integers(&ids) {
            numbers.sort_unstable();
            ids = numbers.into_iter().map(|(_, text)| text).collect();
        }
        out.extend_from_slice(head);
        out.extend_from_slice(&ids.join(&b','));
        out.extend_from_slice(b"]}\n");
    }
    match rests.iter().find(|rest| !rest.is_empty()) {
        Some(rest) => Err(different(b"the end", rest)),
        None => Ok(()),
    }
}

fn different(one: &[u8], other: &[u8]) -> MergeError {
    let shown = |bytes: &[u8]| {
        let text: String = String::from_utf8_lossy(bytes).chars().take(80).collect();
        text.escape_debug().to_string()
    };
    MergeError::Different(format!("'{}' and '{}'", shown(one), shown(other)))
}

/// The start of a line up to its ids, and the ids.
fn parse(line: &[u8]) -> Result<(&[u8], &[u8]), MergeError> {
    const IDS: &[u8] = b"\"ids\":[";
    let found = memmem::find(line, IDS).map(|at| line.split_at(at + IDS.len()));
    let parsed = found.and_then(|(head, rest)| {
        let rest = rest.strip_suffix(b"\n").unwrap_or(rest);
        Some((head, rest.strip_suffix(b"]}")?))
    });
    parsed.ok_or_else(|| different(b"a line of `--format json`", line))
}

/// Ids between commas, of which strings may have some inside.
fn split_ids<'a>(ids: &'a [u8], out: &mut Vec<&'a [u8]>) {
    let (mut start, mut in_string, mut escaped) = (0, false, false);
    for (at, byte) in ids.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' if !in_string => {
                out.push(&ids[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < ids.len() {
        out.push(&ids[start..]);
    }
}

fn integers<'a>(ids: &[&'a [u8]]) -> Option<Vec<(u64, &'a [u8])>> {
    let integer = |text: &&'a [u8]| Some((std::str::from_utf8(text).ok()?.parse().ok()?, *text));
    ids.iter().map(integer).collect()
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
        merge.bury(3);
        assert_eq!(merge.pop(), Some((3, Merged::Dead)));
        assert_eq!((merge.pop(), merge.bytes), (None, 0));
        // What another shard answers to it later is no second answer.
        assert_eq!(merge.push(3, 1, bytes("c1")), Ok(()));
        assert_eq!(merge.bytes, 0);
    }

    #[test]
    fn a_second_answer_and_too_many_are_errors() {
        let mut merge = Merge::new(1, 1, 3);
        merge.push(2, 0, bytes("bb")).unwrap();
        let twice = MergeError::Twice {
            sequence: 2,
            shard: 0,
        };
        assert_eq!(merge.push(2, 0, bytes("bb")), Err(twice));
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
        assert!(merge.pop().is_some() && merge.pop().is_some());
        assert!(matches!(
            merge.push(1, 0, bytes("")),
            Err(MergeError::Twice { .. })
        ));
    }

    #[test]
    fn lines_of_shards_become_one() {
        let joined = |parts: &[&str]| {
            let parts: Vec<Bytes> = parts.iter().map(|part| bytes(part)).collect();
            let mut out = Vec::new();
            join_lines(&parts, &mut out).map(|()| String::from_utf8(out).unwrap())
        };
        let one = "{\"event\":1,\"ids\":[2,30]}\n{\"event\":2,\"ids\":[]}\n";
        let other = "{\"event\":1,\"ids\":[1,9]}\n{\"event\":2,\"ids\":[7]}\n";
        let both = "{\"event\":1,\"ids\":[1,2,9,30]}\n{\"event\":2,\"ids\":[7]}\n";
        assert_eq!(joined(&[one, other]), Ok(both.to_owned()));
        assert_eq!(joined(&[one]), Ok(one.to_owned()));
        let named = joined(&[
            "{\"event\":1,\"id\":\"x\",\"ids\":[\"b,\\\"\"]}\n",
            "{\"event\":1,\"id\":\"x\",\"ids\":[\"a\"]}\n",
        ]);
        let expected = "{\"event\":1,\"id\":\"x\",\"ids\":[\"b,\\\"\",\"a\"]}\n";
        assert_eq!(named.as_deref(), Ok(expected));
        for wrong in ["{\"event\":2,\"ids\":[]}\n", "", "x\n"] {
            assert!(joined(&[one, wrong]).is_err(), "{wrong}");
        }
        let longer = format!("{other}{{\"event\":3,\"ids\":[]}}\n");
        assert!(joined(&[one, &longer]).is_err());
    }
}
