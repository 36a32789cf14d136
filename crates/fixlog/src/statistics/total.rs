//! What a log says about its sessions: how many messages of which type, gaps, duplicates and resends
//! of sequence numbers, requests that come again and again, and how long orders waited for their
//! first execution.
//!
//! Blocks are read by any thread (`part`) and added up here in the order of the log, so that the
//! result is the same for any number of threads.

use std::collections::HashMap;

use fixcore::SOH;

use super::part::{Part, Trade, TypePart};
use super::sequence::Sequence;
use crate::hash::OwnHash;

/// Orders that wait for an execution, sessions and types that are told apart: what a log has beyond
/// these is counted, not kept.
const ORDERS_MAX: usize = 1 << 18;
const SESSIONS_MAX: usize = 1 << 14;
const TYPES_MAX: usize = 1 << 12;
/// Gaps that the report names.
const GAPS_NAMED: usize = 20;

/// A hole in the numbers of one direction of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// SenderCompID (49) and TargetCompID (56).
    pub session: [Vec<u8>; 2],
    /// Which log, counted from 0.
    pub log: usize,
    /// The byte of the log where the message behind the gap begins.
    pub offset: u64,
    /// The number that should have come.
    pub expected: u64,
    /// The number that came.
    pub got: u64,
}

/// The messages of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeCount {
    /// MsgType (35).
    pub msg_type: Vec<u8>,
    /// How many messages.
    pub messages: u64,
    /// How many bytes they have together.
    pub bytes: u64,
}

/// Executions whose SendingTime (52) is before that of their order: the two clocks differ by more than the
/// order waited.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Early {
    /// How many.
    pub executions: u64,
    /// The largest difference, in nanoseconds.
    pub most_ns: u64,
}

/// The sequence numbers of one direction of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionCount {
    /// SenderCompID (49) and TargetCompID (56).
    pub session: [Vec<u8>; 2],
    /// How many messages.
    pub messages: u64,
    /// How often numbers were left out.
    pub gaps: u64,
    /// How many numbers were left out and did not come later, neither late, nor sent again, nor passed
    /// over by a gap fill.
    pub missing: u64,
    /// How many numbers came after higher ones, in messages that do not say that they are sent again.
    pub late: u64,
    /// How many numbers came a second time in messages that do not say that they are sent again.
    pub duplicates: u64,
    /// How many messages say that they are sent again (43=Y).
    pub resent: u64,
    /// How many ResendRequests.
    pub requests: u64,
    /// How often three or more ResendRequests in a row asked for the same number.
    pub storms: u64,
    /// How many ResendRequests the longest of these had.
    pub storm_longest: u64,
}

/// The statistics of logs, added up block by block in their order.
///
/// ```
/// use fixlog::{Job, Part, Statistics};
///
/// # fn message(body: &str) -> Vec<u8> {
/// #     let mut all = Vec::new();
/// #     fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut all);
/// #     all
/// # }
/// let log = [
///     message("35=D|49=DESK|56=MARKET|34=1|52=20260305-14:15:16.000|11=A|"),
///     message("35=8|49=MARKET|56=DESK|34=1|52=20260305-14:15:16.003|11=A|"),
///     message("35=0|49=DESK|56=MARKET|34=5|52=20260305-14:15:17.000|"),
/// ]
/// .concat();
/// let (mut part, mut statistics, mut waits_ns) = (Part::default(), Statistics::new(), Vec::new());
/// let mut decoder = fixcore::Decoder::new();
/// fixlog::split(&log[..], fixlog::Separator::Auto, |offset, found| {
///     if let fixlog::Found::Message(bytes, _) = found
///         && let Ok(message) = decoder.parse(bytes)
///     {
///         part.message(offset, &message);
///     }
/// })?;
/// statistics.add(0, &part, |ns| waits_ns.push(ns));
/// assert_eq!(statistics.types().len(), 3);
/// assert_eq!((statistics.gaps()[0].expected, statistics.gaps()[0].got), (2, 5));
/// assert_eq!(waits_ns, [3_000_000], "from the order to its execution");
/// # let _ = Job::Statistics;
/// # Ok::<(), fixlog::Error>(())
/// ```
#[derive(Debug)]
pub struct Statistics {
    types: HashMap<Vec<u8>, (u64, u64)>,
    sessions: HashMap<Vec<u8>, Sequence>,
    gaps: Vec<Gap>,
    /// Orders without an execution, by the hash of their ClOrdID: when they were sent.
    orders: HashMap<u128, i64, OwnHash>,
    pub(super) orders_max: usize,
    early: Early,
    /// Beyond what is kept.
    pub(super) unfollowed: u64,
}

impl Default for Statistics {
    fn default() -> Self {
        Self::new()
    }
}

impl Statistics {
    /// Of nothing so far.
    #[must_use]
    pub fn new() -> Self {
        Self {
            types: HashMap::new(),
            sessions: HashMap::new(),
            gaps: Vec::new(),
            orders: HashMap::default(),
            orders_max: ORDERS_MAX,
            early: Early::default(),
            unfollowed: 0,
        }
    }

    /// Adds the next block of a log. `wait_ns` gets the nanoseconds from each order to its first
    /// execution, by their SendingTime (52), unless they are negative: these are counted as
    /// [`early`](Self::early).
    pub fn add(&mut self, log: usize, part: &Part, mut wait_ns: impl FnMut(u64)) {
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
                        session: names(&session.key),
                        log,
                        offset: run.offset,
                        expected,
                        got: run.first,
                    });
                }
            }
        }
        for trade in &part.trades {
            if let Some(ns) = self.trade(trade) {
                wait_ns(ns);
            }
        }
    }

    /// The types of messages, the most frequent first.
    #[must_use]
    pub fn types(&self) -> Vec<TypeCount> {
        let types = self.types.iter();
        let mut types: Vec<_> = types
            .map(|(msg_type, (messages, bytes))| TypeCount {
                msg_type: msg_type.clone(),
                messages: *messages,
                bytes: *bytes,
            })
            .collect();
        types.sort_by(|a, b| {
            let counts = |found: &TypeCount| (found.messages, found.bytes);
            counts(b)
                .cmp(&counts(a))
                .then_with(|| a.msg_type.cmp(&b.msg_type))
        });
        types
    }

    /// The directions of sessions, by their names.
    #[must_use]
    pub fn sessions(&self) -> Vec<SessionCount> {
        let mut found: Vec<_> = self.sessions.iter().collect();
        found.sort_by(|a, b| a.0.cmp(b.0));
        let found = found.into_iter().map(|(key, sequence)| SessionCount {
            session: names(key),
            messages: sequence.messages,
            gaps: sequence.gaps,
            missing: sequence.missing,
            late: sequence.late,
            duplicates: sequence.duplicates,
            resent: sequence.resent,
            requests: sequence.requests,
            storms: sequence.storms,
            storm_longest: sequence.storm_longest,
        });
        found.collect()
    }

    /// The first gaps, at most 20.
    #[must_use]
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The executions that are stamped before their order. They are not among the waits.
    #[must_use]
    pub fn early(&self) -> Early {
        self.early
    }

    /// How many messages were not followed because there are too many sessions, types or orders
    /// without an execution.
    #[must_use]
    pub fn unfollowed(&self) -> u64 {
        self.unfollowed
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

    /// Follows an order, or ends the wait of one: then how long it was, in nanoseconds.
    pub(super) fn trade(&mut self, trade: &Trade) -> Option<u64> {
        if !trade.is_order {
            let ordered_ns = self.orders.remove(&trade.id)?;
            let wait = u64::try_from(trade.sent_ns.saturating_sub(ordered_ns));
            if wait.is_err() {
                let early_ns = trade.sent_ns.abs_diff(ordered_ns);
                self.early.executions += 1;
                self.early.most_ns = self.early.most_ns.max(early_ns);
            }
            return wait.ok();
        }
        if self.orders.len() < self.orders_max {
            self.orders.entry(trade.id).or_insert(trade.sent_ns);
        } else if !self.orders.contains_key(&trade.id) {
            self.unfollowed += 1;
        }
        None
    }
}

/// Sender and target of a key.
fn names(key: &[u8]) -> [Vec<u8>; 2] {
    let mut names = key.splitn(2, |byte| *byte == SOH).map(<[u8]>::to_vec);
    [
        names.next().unwrap_or_default(),
        names.next().unwrap_or_default(),
    ]
}
