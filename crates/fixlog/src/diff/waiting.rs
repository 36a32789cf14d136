//! Messages of two logs that wait for their like, in a window of each log.
//!
//! Messages come in turns, one of each log. So what waits depends on the messages alone, and not on how
//! the logs were read: logs that are the same have one waiting message at a time, and logs that are
//! shifted by some messages as many.

use std::collections::{HashMap, VecDeque};

use crate::diff::restarts::{Count, Session};

/// The hash of what is the same in messages that belong together, and whether they are sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    hash: u128,
    is_copy: bool,
}

impl Key {
    pub(super) fn new(hash: u128, is_copy: bool) -> Self {
        Self { hash, is_copy }
    }

    /// That of the original for a copy, and of a copy for the original: what belongs together if nothing else does.
    fn second_choice(self) -> Self {
        let is_copy = !self.is_copy;
        Self { is_copy, ..self }
    }
}

/// Sessions whose numbers are followed.
const SESSIONS_MAX: usize = 1 << 14;

/// A place in a session: which, and the number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) session: u128,
    pub(super) number: u64,
}

/// A message that may wait.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) key: Key,
    /// Where its log counts messages; `None` where it is sent again, or paired by something else.
    pub(super) place: Option<Place>,
    pub(super) offset: u64,
    pub(super) line: Option<u64>,
    pub(super) bytes: Vec<u8>,
}

/// A message that waits, and what its log said of its number.
#[derive(Debug)]
struct Waits {
    turn: u64,
    kept: Kept,
    count: Count,
}

/// One log.
#[derive(Debug, Default)]
struct Side {
    /// Messages that did not find their like yet, those of a key in their order.
    by_key: HashMap<Key, VecDeque<Waits>>,
    count: usize,
    bytes: usize,
    /// In which order they came: turn and key, of some that wait no more as well.
    order: VecDeque<(u64, Key)>,
}

/// Both logs.
#[derive(Debug)]
pub(super) struct Waiting {
    sides: [Side; 2],
    sessions: HashMap<u128, Session>,
    /// Messages that may wait, and their bytes.
    window: usize,
    bytes_max: usize,
    turn: u64,
}

impl Waiting {
    pub(super) fn new(window: usize, bytes_max: usize) -> Self {
        Self {
            sides: Default::default(),
            sessions: HashMap::new(),
            window,
            bytes_max,
            turn: 0,
        }
    }

    /// The next message of a log: gives it back with its like, or has it wait. `alone` takes what has no
    /// like.
    pub(super) fn place(
        &mut self,
        at: usize,
        kept: Kept,
        alone: &mut dyn FnMut(usize, Kept),
    ) -> Option<(Kept, Kept)> {
        self.turn += 1;
        let session = kept.place.map(|place| place.session);
        let count = self.count(at, kept.place);
        while let Some(other) = self.sides[1 - at].take(kept.key) {
            let session = session.and_then(|session| self.sessions.get_mut(&session));
            if let Some(session) = session {
                if session.is_over(at, &count, &other.count) {
                    alone(1 - at, other.kept);
                    continue;
                }
                session.paired(at, &count, &other.count);
            }
            return Some((kept, other.kept));
        }
        self.sides[at].keep(Waits {
            turn: self.turn,
            kept,
            count,
        });
        None
    }

    /// Follows the numbers of a session in a log.
    fn count(&mut self, at: usize, place: Option<Place>) -> Count {
        let Some(Place { session, number }) = place else {
            return Count::default();
        };
        if self.sessions.len() >= SESSIONS_MAX && !self.sessions.contains_key(&session) {
            return Count::default();
        }
        self.sessions.entry(session).or_default().logs[at].next(number)
    }

    /// Gives out what waits beyond the window, with its second choice if there is one: to be called when each log had
    /// its turn.
    pub(super) fn trim(&mut self, out: &mut dyn FnMut(usize, Kept, Option<Kept>)) {
        for at in 0..2 {
            while self.sides[at].count > self.window || self.sides[at].bytes > self.bytes_max {
                let Some(oldest) = self.sides[at].oldest() else {
                    break;
                };
                let other = self.second_choice(at, &oldest);
                out(at, oldest, other);
            }
            self.sides[at].tidy();
        }
    }

    /// Gives out what waits still, with its second choice if there is one.
    pub(super) fn rest(&mut self, out: &mut dyn FnMut(usize, Kept, Option<Kept>)) {
        for at in 0..2 {
            while let Some(oldest) = self.sides[at].oldest() {
                let other = self.second_choice(at, &oldest);
                out(at, oldest, other);
            }
        }
    }

    fn second_choice(&mut self, at: usize, kept: &Kept) -> Option<Kept> {
        let other = self.sides[1 - at].take(kept.key.second_choice());
        other.map(|waits| waits.kept)
    }
}

impl Side {
    fn keep(&mut self, waits: Waits) {
        let key = waits.kept.key;
        self.count += 1;
        self.bytes += waits.kept.bytes.len();
        self.order.push_back((waits.turn, key));
        self.by_key.entry(key).or_default().push_back(waits);
    }

    /// The first message of a key that waits.
    fn take(&mut self, key: Key) -> Option<Waits> {
        let queue = self.by_key.get_mut(&key)?;
        let waits = queue.pop_front()?;
        if queue.is_empty() {
            self.by_key.remove(&key);
        }
        self.count -= 1;
        self.bytes -= waits.kept.bytes.len();
        Some(waits)
    }

    fn oldest(&mut self) -> Option<Kept> {
        while let Some((turn, key)) = self.order.pop_front() {
            if self.first(key) == Some(turn) {
                return self.take(key).map(|waits| waits.kept);
            }
        }
        None
    }

    /// The turn of the first message of a key that waits.
    fn first(&self, key: Key) -> Option<u64> {
        let queue = self.by_key.get(&key)?;
        queue.front().map(|waits| waits.turn)
    }

    /// Forgets in which order messages came that wait no more.
    fn tidy(&mut self) {
        if self.order.len() > 2 * self.count + 1024 {
            let mut order = std::mem::take(&mut self.order);
            // Of a key those that came first are gone first.
            order.retain(|(turn, key)| self.first(*key).is_some_and(|first| first <= *turn));
            self.order = order;
        }
    }
}

#[cfg(test)]
mod tests;
