//! What a log says about its sessions: how many messages of which type, gaps, duplicates and resends
//! of sequence numbers, requests that come again and again, and how long orders waited for their
//! first execution.
//!
//! Blocks are read by any thread (`part`) and added up here in the order of the log, so that the
//! result is the same for any number of threads.

use std::collections::HashMap;

use super::counts::{Early, Gap, SessionCount, TypeCount};
use super::groups::{GroupCount, Groups};
use super::part::{Part, Run, Trade, TypePart};
use super::sequence::Sequence;
use super::twice::Twice;
use crate::GroupKey;
use crate::hash::OwnHash;
use crate::parties::{Names, Parties, turned};

/// Orders that wait for an execution, sessions and types that are told apart: what a log has beyond
/// these is counted, not kept.
const ORDERS_MAX: usize = 1 << 18;
const SESSIONS_MAX: usize = 1 << 13;
const TYPES_MAX: usize = 1 << 12;
/// Rows of messages with the same values.
const GROUPS_MAX: usize = 1 << 16;
/// Gaps that the report names.
const GAPS_NAMED: usize = 20;

/// Both directions of a session.
#[derive(Debug)]
struct Session {
    begin: Vec<u8>,
    /// The two parties, the lesser first.
    parties: [Vec<u8>; 2],
    family: usize,
    group: usize,
    log: usize,
    ways: [Sequence; 2],
}

impl Session {
    /// The names of a direction.
    fn names(&self, way: usize) -> [Vec<u8>; 2] {
        turned(self.parties.clone(), way)
    }
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
/// statistics.add(0, 0, &part, |ns| waits_ns.push(ns));
/// assert_eq!(statistics.types().len(), 3);
/// assert_eq!((statistics.gaps()[0].expected, statistics.gaps()[0].got), (2, 5));
/// assert_eq!(waits_ns, [3_000_000], "from the order to its execution");
/// # let _ = Job::Statistics;
/// # Ok::<(), fixlog::Error>(())
/// ```
#[derive(Debug)]
pub struct Statistics {
    types: HashMap<Vec<u8>, (u64, u64)>,
    groups: Groups,
    ungrouped: u64,
    parties: Parties,
    sessions: Vec<Session>,
    gaps: Vec<Gap>,
    /// The logs that are read at present.
    group: Option<usize>,
    steps_ns: [Option<u64>; 2],
    twice: Twice,
    /// Orders without an execution, by the hash of their ClOrdID: their times.
    orders: HashMap<u128, i64, OwnHash>,
    pub(super) orders_max: usize,
    early: Early,
    untimed: u64,
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
            groups: Groups::default(),
            ungrouped: 0,
            parties: Parties::new(SESSIONS_MAX),
            sessions: Vec::new(),
            gaps: Vec::new(),
            group: None,
            steps_ns: [None; 2],
            twice: Twice::default(),
            orders: HashMap::default(),
            orders_max: ORDERS_MAX,
            early: Early::default(),
            untimed: 0,
            unfollowed: 0,
        }
    }

    /// Adds the next block of a log. Sessions go on from log to log of the same group, and groups come one after the
    /// other; the same names in another group are another session, as each party's own log has it.
    ///
    /// `wait_ns` gets the nanoseconds from each order to its first execution, by their SendingTime (52), unless they
    /// are negative: these are counted as [`early`](Self::early). An execution that was sent at a time that a group
    /// before has of its direction is the same once more, and is passed over.
    pub fn add(&mut self, log: usize, group: usize, part: &Part, mut wait_ns: impl FnMut(u64)) {
        if self
            .group
            .replace(group)
            .is_some_and(|before| before != group)
        {
            self.twice.next_log();
            // What answers these is in their own log.
            self.orders.clear();
        }
        for found in &part.types {
            self.count(found);
        }
        self.ungrouped += self.groups.add(&part.groups, group, GROUPS_MAX);
        self.untimed += part.untimed;
        for (known, step) in self.steps_ns.iter_mut().zip(part.steps_ns) {
            *known = [*known, step].into_iter().flatten().min();
        }
        let names = part.names.names();
        let families = names.iter().map(|names| self.parties.family(group, names));
        let families: Vec<_> = families.collect();
        for run in &part.runs {
            let at = run.names as usize;
            match names.get(at).zip(families.get(at).copied().flatten()) {
                Some((names, family)) => self.run(log, group, (names, family), run),
                None => self.unfollowed += run.count,
            }
        }
        for trade in &part.trades {
            let told = part.told.all().get(trade.names as usize);
            let is_known =
                told.is_some_and(|told| self.twice.is_known(told.domain(), trade.sent_ns));
            if is_known && !trade.is_order {
                self.orders.remove(&trade.id);
            } else if let Some(ns) = self.trade(trade) {
                wait_ns(ns);
            }
        }
        for told in part.told.all() {
            if let Some(times) = told.executions_ns {
                self.twice.add(told.domain(), times);
            }
        }
    }

    /// Adds numbers that follow each other.
    fn run(&mut self, log: usize, group: usize, (names, family): (&Names, usize), run: &Run) {
        let Some(place) = self.parties.session(family, names, run.is_logon) else {
            self.unfollowed += run.count;
            return;
        };
        let way = Parties::way(names);
        if place >= self.sessions.len() {
            let [begin, sender, target, ..] = names.clone();
            self.sessions.push(Session {
                begin,
                parties: turned([sender, target], way),
                family,
                group,
                log,
                ways: Default::default(),
            });
        }
        let Some(session) = self.sessions.get_mut(place) else {
            return;
        };
        let sequence = &mut session.ways[way];
        let expected = sequence.next;
        if sequence.add(run) && self.gaps.len() < GAPS_NAMED {
            self.gaps.push(Gap {
                session: session.names(way),
                subs: turned(self.parties.subs(family, place), way),
                log,
                offset: run.offset,
                expected,
                got: run.first,
            });
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

    /// The messages by the values that [`Part::group`] counted them by, the most frequent first. The same values in
    /// another group of logs are a row of their own.
    #[must_use]
    pub fn groups(&self, by: &[GroupKey]) -> Vec<GroupCount> {
        self.groups.counts(by)
    }

    /// How many messages are in none of the [`groups`](Self::groups) because there are 65,536 of them.
    #[must_use]
    pub fn ungrouped(&self) -> u64 {
        self.ungrouped
    }

    /// The orders and executions that lack the time that latencies are between: these are not measured.
    #[must_use]
    pub fn untimed(&self) -> u64 {
        self.untimed
    }

    /// The directions of sessions that have messages, by their names and logs.
    #[must_use]
    pub fn sessions(&self) -> Vec<SessionCount> {
        let sessions = self.sessions.iter().enumerate();
        let ways = sessions.flat_map(|(place, session)| [(place, session, 0), (place, session, 1)]);
        let found = ways.filter_map(|(place, session, way)| {
            let sequence = &session.ways[way];
            (sequence.messages > 0).then(|| SessionCount {
                session: session.names(way),
                subs: turned(self.parties.subs(session.family, place), way),
                begin: session.begin.clone(),
                log: session.log,
                messages: sequence.messages,
                gaps: sequence.gaps,
                missing: sequence.missing,
                late: sequence.late,
                duplicates: sequence.duplicates,
                resent: sequence.resent,
                requests: sequence.requests,
                storms: sequence.storms,
                storm_longest: sequence.storm_longest,
            })
        });
        let mut found: Vec<_> = found.collect();
        found.sort_by(|a, b| {
            let key = |one: &SessionCount| (one.session.clone(), one.subs.clone(), one.log);
            key(a).cmp(&key(b)).then_with(|| a.begin.cmp(&b.begin))
        });
        found
    }

    /// How many sessions are in several groups of logs, and the names of one of them.
    #[must_use]
    pub fn shared(&self) -> (u64, Option<[Vec<u8>; 2]>) {
        let mut groups: HashMap<_, (usize, bool)> = HashMap::new();
        for session in &self.sessions {
            let known = groups
                .entry((&session.begin, &session.parties))
                .or_insert((session.group, false));
            known.1 |= known.0 != session.group;
        }
        let shared = groups.iter().filter(|(_, (_, is_shared))| *is_shared);
        let first = shared.clone().map(|((_, parties), _)| *parties).min();
        (shared.count() as u64, first.cloned())
    }

    /// The first gaps, at most 20.
    #[must_use]
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The executions whose time is before that of their order. They are not among the waits.
    #[must_use]
    pub fn early(&self) -> Early {
        self.early
    }

    /// The step of the times of orders and executions, in nanoseconds: that of the coarser ones. A wait is exact to this.
    #[must_use]
    pub fn step_ns(&self) -> Option<u64> {
        self.steps_ns.into_iter().flatten().max()
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
            let at_ns = trade.at_ns?;
            let wait = u64::try_from(at_ns.saturating_sub(ordered_ns));
            if wait.is_err() {
                let early_ns = at_ns.abs_diff(ordered_ns);
                self.early.executions += 1;
                self.early.most_ns = self.early.most_ns.max(early_ns);
            }
            return wait.ok();
        }
        let at_ns = trade.at_ns?;
        if self.orders.len() < self.orders_max {
            self.orders.entry(trade.id).or_insert(at_ns);
        } else if !self.orders.contains_key(&trade.id) {
            self.unfollowed += 1;
        }
        None
    }
}
