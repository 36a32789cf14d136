//! What a log says about its sessions: how many messages of which type, gaps, duplicates and resends
//! of sequence numbers, requests that come again and again, and how long orders waited for their
//! first execution.
//!
//! Blocks are read by any thread (`part`) and added up here in the order of the log, so that the
//! result is the same for any number of threads.

#[cfg(test)]
mod orders;
mod part;
mod tables;

pub(super) use part::Part;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use latency::Recorder;

use part::{Kind, Run, Trade, TypePart};

/// Orders that wait for an execution, sessions and types that are told apart: what a log has beyond
/// these is counted, not kept.
const ORDERS_MAX: usize = 1 << 18;
const SESSIONS_MAX: usize = 1 << 14;
const TYPES_MAX: usize = 1 << 12;
/// Gaps that the report names.
const GAPS_NAMED: usize = 20;
/// As many requests for the same number, one after the other, are a storm.
const STORM_REQUESTS: u64 = 3;

/// A hash is its own hash.
#[derive(Default)]
struct Own(u64);

impl Hasher for Own {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, number: u128) {
        self.0 = number as u64;
    }
}

/// The sequence numbers of one direction of a session.
#[derive(Debug, Default)]
struct Sequence {
    next: u64,
    messages: u64,
    gaps: u64,
    missing: u64,
    duplicates: u64,
    resent: u64,
    requests: u64,
    storms: u64,
    /// The number that was last asked for, and how often one after the other.
    asked: (u64, u64),
    storm_longest: u64,
}

/// A hole in the numbers of a session.
struct Gap {
    session: String,
    file: usize,
    offset: u64,
    expected: u64,
    got: u64,
}

/// What was seen so far.
pub(super) struct Stats {
    types: HashMap<Vec<u8>, (u64, u64)>,
    sessions: HashMap<Vec<u8>, Sequence>,
    gaps: Vec<Gap>,
    /// Orders without an execution, by the hash of their ClOrdID: when they were sent.
    orders: HashMap<u128, i64, BuildHasherDefault<Own>>,
    orders_max: usize,
    waits: Recorder,
    /// Beyond what is kept.
    unfollowed: u64,
}

impl Stats {
    pub(super) fn new(waits: Recorder) -> Self {
        Self {
            types: HashMap::new(),
            sessions: HashMap::new(),
            gaps: Vec::new(),
            orders: HashMap::default(),
            orders_max: ORDERS_MAX,
            waits,
            unfollowed: 0,
        }
    }

    /// Adds what the next block says.
    pub(super) fn add(&mut self, file: usize, part: &Part) {
        for found in &part.types {
            self.count(found);
        }
        for session in &part.sessions {
            if !self.sessions.contains_key(&session.key) {
                if self.sessions.len() >= SESSIONS_MAX {
                    let numbers = session.runs.iter().map(|run| run.count);
                    self.unfollowed += numbers.sum::<u64>();
                    continue;
                }
                let new = (session.key.clone(), Sequence::default());
                self.sessions.insert(new.0, new.1);
            }
            let Some(sequence) = self.sessions.get_mut(&session.key) else {
                continue;
            };
            for run in &session.runs {
                let expected = sequence.next;
                if sequence.add(run) && self.gaps.len() < GAPS_NAMED {
                    self.gaps.push(Gap {
                        session: tables::name(&session.key),
                        file,
                        offset: run.offset,
                        expected,
                        got: run.first,
                    });
                }
            }
        }
        for trade in &part.trades {
            self.trade(trade);
        }
    }

    fn count(&mut self, found: &TypePart) {
        let room = self.types.len() < TYPES_MAX;
        match self.types.get_mut(&found.msg_type) {
            Some(count) => {
                count.0 += found.messages;
                count.1 += found.bytes;
            }
            None if room => {
                let count = (found.messages, found.bytes);
                self.types.insert(found.msg_type.clone(), count);
            }
            None => self.unfollowed += found.messages,
        }
    }

    fn trade(&mut self, trade: &Trade) {
        if !trade.is_order {
            if let Some(ordered_ns) = self.orders.remove(&trade.id) {
                let ns = trade.sent_ns.saturating_sub(ordered_ns);
                self.waits.record_ns(u64::try_from(ns).unwrap_or(0));
            }
        } else if self.orders.len() < self.orders_max {
            self.orders.entry(trade.id).or_insert(trade.sent_ns);
        } else if !self.orders.contains_key(&trade.id) {
            self.unfollowed += 1;
        }
    }
}

impl Sequence {
    /// Adds numbers that follow each other; whether there is a hole in front of them.
    fn add(&mut self, run: &Run) -> bool {
        let end = run.first.saturating_add(run.count);
        self.messages += run.count;
        match run.kind {
            Kind::Begin(next) => {
                self.next = next.unwrap_or(end);
                return false;
            }
            Kind::Request(from) => self.request(from),
            Kind::Resent => self.resent += run.count,
            Kind::Plain => {}
        }
        // A log may begin anywhere.
        if self.next == 0 {
            self.next = end;
            return false;
        }
        let again = end.min(self.next).saturating_sub(run.first);
        if run.kind != Kind::Resent {
            self.duplicates += again;
        }
        let hole = run.first.saturating_sub(self.next);
        self.gaps += u64::from(hole > 0);
        self.missing = self.missing.saturating_add(hole);
        self.next = self.next.max(end);
        hole > 0
    }

    fn request(&mut self, from: u64) {
        self.requests += 1;
        let times = if self.requests > 1 && self.asked.0 == from {
            self.asked.1 + 1
        } else {
            1
        };
        self.asked = (from, times);
        self.storms += u64::from(times == STORM_REQUESTS);
        if times >= STORM_REQUESTS {
            self.storm_longest = self.storm_longest.max(times);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_counts_as_its_numbers_one_by_one() {
        let run = |kind, first, count| Run {
            kind,
            first,
            count,
            offset: 0,
        };
        let runs = [
            run(Kind::Plain, 5, 10),
            run(Kind::Plain, 12, 6),
            run(Kind::Resent, 9, 20),
            run(Kind::Plain, 40, 3),
            run(Kind::Plain, 1, 2),
            run(Kind::Begin(Some(3)), 7, 1),
            run(Kind::Plain, 3, 1),
        ];
        let (mut whole, mut single) = (Sequence::default(), Sequence::default());
        for run in runs {
            whole.add(&run);
            for number in run.first..run.first + run.count {
                single.add(&Run {
                    first: number,
                    count: 1,
                    ..run
                });
            }
        }
        assert_eq!(format!("{whole:?}"), format!("{single:?}"));
        assert_eq!((whole.gaps, whole.missing), (1, 11));
        assert_eq!((whole.duplicates, whole.resent), (5, 20));
    }

    #[test]
    fn requests_for_the_same_number_are_a_storm() {
        let mut sequence = Sequence::default();
        for (number, from) in [7, 7, 9, 9, 9, 9, 9, 7, 7, 7].into_iter().enumerate() {
            sequence.add(&Run {
                kind: Kind::Request(from),
                first: number as u64 + 1,
                count: 1,
                offset: 0,
            });
        }
        assert_eq!(sequence.requests, 10);
        assert_eq!((sequence.storms, sequence.storm_longest), (2, 5));
    }
}
