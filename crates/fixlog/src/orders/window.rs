//! Messages on their way to the book, held for a moment: what a log has behind messages that were sent later is put
//! in its place.
//!
//! Threads that write one log change places now and then. Messages of one sender to one target are brought into the
//! order of their numbers where their times agree. Between the two sides of a session, clocks may differ: there, an
//! answer waits for its request only if that is stamped before it.

use std::collections::{HashMap, VecDeque};

use super::keys::Keys;
use super::life::{Step, StepKind};
use crate::hash::{self, OwnHash};

/// As many messages are held at most,
pub(super) const HELD_MAX: usize = 1024;
/// and none longer than this, by the times of the log.
pub(super) const HELD_NS: i64 = 2_000_000_000;
/// Directions whose messages are put in order.
const DIRECTIONS_MAX: usize = 1 << 16;

/// A message that is held.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) keys: Keys,
    pub(super) step: Step,
    /// RefSeqNum (45).
    pub(super) about: Option<u64>,
    /// The latest time when it came.
    pub(super) came_ns: i64,
}

/// Where logs have messages in another order than that in which they were sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unordered {
    /// The first place: which log, counted from 0.
    pub log: usize,
    /// The byte of the log.
    pub offset: u64,
    /// The line of the log, counted from 1.
    pub line: Option<u64>,
    /// How many messages were put before others that the log has first.
    pub moved: u64,
    /// How many orders came so long after their answers that these were not put behind them.
    pub far: u64,
}

impl Unordered {
    /// Notes a message that was put before others, by its log, byte and line.
    pub(super) fn moved(&mut self, place: (usize, u64, Option<u64>)) {
        self.first(place);
        self.moved += 1;
    }

    /// Notes an order that came long after its answers.
    pub(super) fn far(&mut self, step: &Step) {
        self.first((step.log, step.offset, step.line));
        self.far += 1;
    }

    fn first(&mut self, place: (usize, u64, Option<u64>)) {
        if self.moved + self.far == 0 {
            (self.log, self.offset, self.line) = place;
        }
    }
}

/// The messages that are held, the next one first.
#[derive(Debug)]
pub(super) struct Window {
    held: VecDeque<Held>,
    /// By direction: the last number.
    numbers: HashMap<u128, u64, OwnHash>,
    pub(super) newest_ns: i64,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            held: VecDeque::new(),
            numbers: HashMap::default(),
            newest_ns: i64::MIN,
        }
    }
}

impl Window {
    /// Takes the next message of the logs. Returns whether it was put before others.
    pub(super) fn push(&mut self, mut held: Held) -> bool {
        let sent = held.step.sent_ns.unwrap_or(i64::MIN);
        self.newest_ns = self.newest_ns.max(sent);
        held.came_ns = self.newest_ns;
        let Some(at) = self.place_of(&held.step) else {
            self.held.push_back(held);
            return false;
        };
        held.came_ns = self.held.get(at).map_or(held.came_ns, |next| next.came_ns);
        self.held.insert(at, held);
        true
    }

    /// Before which message one belongs that came after it: its number is smaller, and it was not sent later.
    fn place_of(&mut self, step: &Step) -> Option<usize> {
        // What is sent again has the number that it had.
        let sent = step.sent_ns.filter(|_| step.number > 0 && !step.is_copy)?;
        let direction = [step.sender, step.target];
        let key = hash::of_pair(direction);
        if self.numbers.len() >= DIRECTIONS_MAX && !self.numbers.contains_key(&key) {
            return None;
        }
        let last = self.numbers.entry(key).or_default();
        let mut place = None;
        if step.number < *last {
            for (at, other) in self.held.iter().enumerate().rev() {
                let other = &other.step;
                let is_of_it = !other.is_copy
                    && other.log == step.log
                    && [other.sender, other.target] == direction;
                if !is_of_it {
                    continue;
                }
                let later_ns = other.sent_ns.map(|other| other.saturating_sub(sent));
                let is_later = later_ns.is_some_and(|ns| (0..=HELD_NS).contains(&ns));
                if other.number <= step.number || !is_later {
                    break;
                }
                place = Some(at);
            }
        }
        if place.is_none() {
            *last = step.number;
        }
        place
    }

    /// The next message that is not held any longer.
    pub(super) fn due(&mut self) -> Option<Held> {
        let waited_ns = self.newest_ns.saturating_sub(self.held.front()?.came_ns);
        match self.held.len() > HELD_MAX || waited_ns > HELD_NS {
            true => self.held.pop_front(),
            false => None,
        }
    }

    /// How many are held.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// The next message, at the end.
    pub(super) fn rest(&mut self) -> Option<Held> {
        self.held.pop_front()
    }

    /// The first message of the other side that fits, and was sent before an answer.
    pub(super) fn before(&self, answer: &Step, fits: impl Fn(&Held) -> bool) -> Option<usize> {
        let direction = [answer.target, answer.sender];
        let answered = answer.sent_ns?;
        self.held.iter().position(|held| {
            let step = &held.step;
            [step.sender, step.target] == direction
                && step.sent_ns.is_some_and(|sent| sent <= answered)
                && fits(held)
        })
    }

    /// Takes a message out, and those of the same direction before it.
    pub(super) fn take(&mut self, at: usize) -> Vec<Held> {
        let Some(last) = self.held.get(at) else {
            return Vec::new();
        };
        let direction = [last.step.sender, last.step.target];
        let behind = self.held.split_off(at + 1);
        let before = std::mem::take(&mut self.held);
        let is_of_it = |held: &Held| [held.step.sender, held.step.target] == direction;
        let (taken, left): (Vec<_>, Vec<_>) = before.into_iter().partition(is_of_it);
        self.held = left.into();
        self.held.extend(behind);
        taken
    }
}

/// Whether a message is one that answers name by ClOrdID.
pub(super) fn is_answered(kind: StepKind) -> bool {
    matches!(kind, StepKind::New | StepKind::Replace | StepKind::Cancel)
}
