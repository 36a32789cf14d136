//! Adds up what blocks say about sessions, in the order of the log.

use std::collections::{BTreeMap, HashMap};

use super::connection::{Connections, Ended};
use super::direction::{Way, inferred_s};
use super::event::{Event, HealthPart, Kind};
use super::rows::{Direction, Finding, Rejects, Spot};
use super::skew::zones;
use crate::parties::{Names, Parties};

/// Sessions that are followed, reasons of rejects that are told apart, and minutes that are counted: what a log
/// has beyond these is counted, not kept.
const SESSIONS_MAX: usize = 4096;
const REJECTS_MAX: usize = 4096;
const MINUTES_MAX: usize = 100_000;
const MINUTE_NS: i64 = 60_000_000_000;

/// Is told what is found.
pub trait Watch {
    /// Something that has ended: a gap that was filled, a request that was answered, a connection.
    fn found(&mut self, finding: Finding);

    /// How late a Heartbeat was, in nanoseconds: the time since the message before it, less HeartBtInt (108).
    fn heartbeat(&mut self, session: &[Vec<u8>; 2], late_ns: u64);
}

/// Both directions of a session.
#[derive(Debug)]
struct Session {
    ways: [Way; 2],
    connections: Connections,
}

/// A message with its names and place.
#[derive(Clone, Copy)]
struct Told<'a> {
    log: usize,
    event: &'a Event,
    names: &'a Names,
    /// Of which direction of a session it is.
    way: usize,
    texts: [&'a [u8]; 2],
}

impl Told<'_> {
    fn spot(&self, subs: &[Vec<u8>; 2]) -> Spot {
        Spot {
            session: [self.names[1].clone(), self.names[2].clone()],
            subs: subs.clone(),
            begin: self.names[0].clone(),
            log: self.log,
            offset: self.event.offset,
            line: self.event.line,
        }
    }
}

/// The sessions of logs. Memory is bounded whatever they have: 4,096 sessions with 64 ranges of missing numbers
/// and 64 requests of each kind in each direction, 4,096 reasons of rejects and 100,000 minutes. Rows go to a
/// [`Watch`] as they end.
///
/// ```
/// use fixlog::health::{Finding, Health, HealthPart, Watch};
///
/// # fn message(body: &str) -> Vec<u8> {
/// #     let mut all = Vec::new();
/// #     fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut all);
/// #     all
/// # }
/// #[derive(Default)]
/// struct Gaps(Vec<(u64, u64, &'static str)>);
///
/// impl Watch for Gaps {
///     fn found(&mut self, finding: Finding) {
///         if let Finding::Gap(gap) = finding {
///             self.0.push((gap.expected, gap.got, gap.how));
///         }
///     }
///     fn heartbeat(&mut self, _: &[Vec<u8>; 2], _: u64) {}
/// }
///
/// let mut part = HealthPart::default();
/// let mut decoder = fixcore::Decoder::new();
/// for (at, more) in ["34=1|", "34=4|", "34=2|43=Y|", "34=3|43=Y|"].iter().enumerate() {
///     let bytes = message(&format!("35=0|49=A|56=B|{more}52=20260305-14:15:16|"));
///     part.message((at as u64, None), b"", &decoder.parse(&bytes)?);
/// }
/// let (mut health, mut gaps) = (Health::new(), Gaps::default());
/// health.add(0, 0, &part, &mut gaps);
/// health.finish(&mut gaps);
/// assert_eq!(gaps.0, [(2, 4, "resent")]);
/// # Ok::<(), fixcore::Error>(())
/// ```
#[derive(Debug)]
pub struct Health {
    sessions: Vec<Session>,
    parties: Parties,
    rejects: HashMap<(u8, Vec<u8>, Vec<u8>), Rejects>,
    minutes: BTreeMap<i64, u64>,
    untimed: u64,
    unfollowed: u64,
    unkept: u64,
    found: Vec<Finding>,
}

impl Default for Health {
    fn default() -> Self {
        Self::new()
    }
}

impl Health {
    /// Of nothing so far.
    #[must_use]
    pub fn new() -> Self {
        Self {
            sessions: Vec::new(),
            parties: Parties::new(SESSIONS_MAX),
            rejects: HashMap::new(),
            minutes: BTreeMap::new(),
            untimed: 0,
            unfollowed: 0,
            unkept: 0,
            found: Vec::new(),
        }
    }

    /// Adds the next block of a log. Sessions go on from log to log of the same group; the same names in another
    /// group are another session, as each party's own log has it.
    pub fn add(&mut self, log: usize, group: usize, part: &HealthPart, watch: &mut impl Watch) {
        self.untimed += part.untimed;
        let names = part.names.names().iter();
        let parties = &mut self.parties;
        let places = names.map(|names| (parties.family(group, names), Parties::way(names)));
        let places: Vec<_> = places.collect();
        for event in &part.events {
            let at = event.names as usize;
            let Some((names, (family, way))) =
                part.names.names().get(at).zip(places.get(at).copied())
            else {
                continue;
            };
            if let Some(sent) = event.sent_ns {
                self.minute(sent.div_euclid(MINUTE_NS));
            }
            let texts = part.texts(event);
            let told = Told {
                log,
                event,
                names,
                way,
                texts,
            };
            match event.kind {
                Kind::Reject(msg_type, tag) => self.reject((msg_type, tag), told),
                Kind::LogonReject => self.reject((b'3', 373), told),
                _ => {}
            }
            match family.and_then(|family| self.session(family, told)) {
                Some(place) => self.event(place, told, watch),
                None => self.unfollowed += 1,
            }
        }
    }

    fn event(&mut self, at: usize, told: Told<'_>, watch: &mut impl Watch) {
        let Some(session) = self.sessions.get_mut(at) else {
            return;
        };
        let Told { event, way, .. } = told;
        let Session {
            ways, connections, ..
        } = session;
        let subs = ways[way].sum.subs.clone();
        let spot = || told.spot(&subs);
        let [id, text] = told.texts;
        let found = &mut self.found;
        let known_s = connections.heartbeat_s;
        let is_late = connections.is_late(event);
        let Ended { before, with } = connections.message(event, way, &spot, text);
        if let Some(before) = before {
            for way in ways.iter_mut() {
                way.disconnected(known_s, found);
            }
            found.push(Finding::Connection(before));
        }
        let heartbeat_s = connections.heartbeat_s;
        if known_s != heartbeat_s {
            for way in ways.iter_mut() {
                way.interval(heartbeat_s, false, found);
            }
        }
        let [a, b] = ways;
        let (own, other) = match way {
            0 => (a, b),
            _ => (b, a),
        };
        own.number(event, &spot, found);
        if !is_late {
            let place = (told.log, other.last_ns());
            if let Some(late_ns) = own.silence(event, place, heartbeat_s, found) {
                watch.heartbeat(&own.sum.session, late_ns);
            }
            other.other_sent(event);
        }
        own.asks(event, &spot, id, found);
        other.answered(event, found);
        if let Some((logged, sent)) = event.logged.zip(event.sent_ns) {
            own.skews.add(logged, sent);
        }
        if let Some(with) = with {
            own.disconnected(heartbeat_s, found);
            other.disconnected(heartbeat_s, found);
            found.push(Finding::Connection(with));
        }
        self.found.drain(..).for_each(|one| watch.found(one));
    }

    /// Ends everything that is open.
    pub fn finish(&mut self, watch: &mut impl Watch) {
        for session in &mut self.sessions {
            let found = &mut self.found;
            let known_s = session.connections.heartbeat_s;
            for way in &mut session.ways {
                way.finish(known_s, found);
            }
            if known_s.is_none() {
                let intervals = session.ways.iter().flat_map(Way::intervals_ns);
                let inferred = inferred_s(intervals.copied().collect());
                for way in &mut session.ways {
                    way.interval(inferred, inferred.is_some(), found);
                }
            }
            let zones = zones([&session.ways[0].skews, &session.ways[1].skews]);
            for way in &mut session.ways {
                way.sum.skew = way.skews.skew(&zones);
            }
            found.extend(session.connections.finish().map(Finding::Connection));
            found.drain(..).for_each(|one| watch.found(one));
        }
    }

    /// The place of the session of a message.
    fn session(&mut self, family: usize, told: Told<'_>) -> Option<usize> {
        let is_logon = matches!(told.event.kind, Kind::Logon(..));
        let place = self.parties.session(family, told.names, is_logon)?;
        if place >= self.sessions.len() {
            self.begin(told);
        }
        for (at, [lesser, greater]) in self.parties.with_subs(family) {
            if let Some(session) = self.sessions.get_mut(at) {
                session.ways[0].sum.subs = [lesser.clone(), greater.clone()];
                session.ways[1].sum.subs = [greater.clone(), lesser.clone()];
            }
        }
        Some(place)
    }

    fn begin(&mut self, told: Told<'_>) {
        let mut ways = [Way::default(), Way::default()];
        let [begin, sender, target, ..] = told.names.clone();
        let (own, other) = (told.way, 1 - told.way);
        ways[own].sum.session = [sender.clone(), target.clone()];
        ways[other].sum.session = [target, sender];
        for way in &mut ways {
            way.sum.log = told.log;
            way.sum.begin.clone_from(&begin);
        }
        self.sessions.push(Session {
            ways,
            connections: Connections::default(),
        });
    }

    fn minute(&mut self, minute: i64) {
        let room = self.minutes.len() < MINUTES_MAX;
        match self.minutes.get_mut(&minute) {
            Some(count) => *count += 1,
            None if room => drop(self.minutes.insert(minute, 1)),
            None => self.unkept += 1,
        }
    }

    fn reject(&mut self, (msg_type, tag): (u8, u32), told: Told<'_>) {
        let [reason, text] = told.texts;
        let key = (msg_type, reason.to_vec(), without_digits(text));
        let room = self.rejects.len() < REJECTS_MAX;
        match self.rejects.get_mut(&key) {
            Some(known) => known.count += 1,
            None if room => {
                let row = Rejects {
                    msg_type,
                    tag,
                    reason: reason.to_vec(),
                    count: 1,
                    text: text.to_vec(),
                    spot: told.spot(&Default::default()),
                    start_ns: told.event.sent_ns,
                };
                self.rejects.insert(key, row);
            }
            None => self.unkept += 1,
        }
    }

    /// The directions that have messages, by log and names.
    #[must_use]
    pub fn directions(&self) -> Vec<&Direction> {
        let ways = self.sessions.iter().flat_map(|session| &session.ways);
        let sums = ways.map(|way| &way.sum).filter(|sum| sum.messages > 0);
        let mut sums: Vec<_> = sums.collect();
        sums.sort_by_key(|sum| (sum.log, &sum.session, &sum.begin, &sum.subs));
        sums
    }

    /// The reasons of rejects, the most frequent first.
    #[must_use]
    pub fn rejects(&self) -> Vec<&Rejects> {
        let mut all: Vec<_> = self.rejects.values().collect();
        all.sort_by_key(|one| {
            let place = (one.spot.log, one.spot.offset);
            (std::cmp::Reverse(one.count), place)
        });
        all
    }

    /// How many messages were sent (52) in each minute since 1970 that has some.
    #[must_use]
    pub fn minutes(&self) -> &BTreeMap<i64, u64> {
        &self.minutes
    }

    /// How many messages have something like a time before them that was not read as one.
    #[must_use]
    pub fn untimed(&self) -> u64 {
        self.untimed
    }

    /// How many messages were not followed, because there are too many sessions.
    #[must_use]
    pub fn unfollowed(&self) -> u64 {
        self.unfollowed
    }

    /// How many messages are in no minute or no reason of a reject, because there are too many of these.
    #[must_use]
    pub fn unkept(&self) -> u64 {
        self.unkept
    }
}

/// A text with `#` for each number in it: ids differ from reject to reject.
#[must_use]
pub fn without_digits(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'0'..=b'9' if out.last() == Some(&b'#') => {}
            b'0'..=b'9' => out.push(b'#'),
            byte => out.push(*byte),
        }
    }
    out
}
