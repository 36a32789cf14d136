//! Adds up what blocks say about sessions, in the order of the log.

use std::collections::{BTreeMap, HashMap};

use super::arrival::zone_ns;
use super::connection::Connections;
use super::direction::Way;
use super::event::{Event, HealthPart, Kind};
use super::rows::{Direction, Finding, Rejects, Spot};

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

    /// The time from SendingTime (52) to what the log has before the message, less the zone of the log. It is
    /// negative where the two clocks differ by more than the message took.
    fn skew(&mut self, session: &[Vec<u8>; 2], ns: i64);
}

/// Both directions of a session.
#[derive(Debug)]
struct Session {
    ways: [Way; 2],
    connections: Connections,
}

/// Logs that are one, and the two parties, the lesser first.
type Key = (usize, [Vec<u8>; 2]);

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
///     fn skew(&mut self, _: &[Vec<u8>; 2], _: i64) {}
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
#[derive(Debug, Default)]
pub struct Health {
    sessions: Vec<Session>,
    places: HashMap<Key, usize>,
    rejects: HashMap<(u8, Vec<u8>, Vec<u8>), Rejects>,
    minutes: BTreeMap<i64, u64>,
    /// The zone of each log, by its first message with a time.
    zones: HashMap<usize, i64>,
    unfollowed: u64,
    unkept: u64,
    found: Vec<Finding>,
}

impl Health {
    /// Of nothing so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next block of a log. Sessions go on from log to log of the same group; the same names in another
    /// group are another session, as each party's own log has it.
    pub fn add(&mut self, log: usize, group: usize, part: &HealthPart, watch: &mut impl Watch) {
        let sessions = part.sessions.names().iter();
        let places: Vec<_> = sessions
            .map(|names| self.place(log, group, names))
            .collect();
        for event in &part.events {
            let Some(names) = part.sessions.names().get(event.session as usize) else {
                continue;
            };
            if let Some(sent) = event.sent_ns {
                self.minute(sent.div_euclid(MINUTE_NS));
            }
            let spot = || Spot {
                session: names.clone(),
                log,
                offset: event.offset,
                line: event.line,
            };
            if let Kind::Reject(msg_type, tag) = event.kind {
                self.reject((msg_type, tag), event, part.texts(event), spot());
            }
            match places.get(event.session as usize).copied().flatten() {
                Some(place) => self.event(log, place, (event, names), part.texts(event), watch),
                None => self.unfollowed += 1,
            }
        }
    }

    fn event(
        &mut self,
        log: usize,
        (at, way): (usize, usize),
        (event, names): (&Event, &[Vec<u8>; 2]),
        [id, text]: [&[u8]; 2],
        watch: &mut impl Watch,
    ) {
        let Some(Session { ways, connections }) = self.sessions.get_mut(at) else {
            return;
        };
        let spot = Spot {
            session: names.clone(),
            log,
            offset: event.offset,
            line: event.line,
        };
        let found = &mut self.found;
        let ends_before = matches!(event.kind, Kind::Logon(..)) && !event.is_resent;
        let ended = connections.message(event, way, &spot, text);
        if let Some(ended) = ended.as_ref().filter(|_| ends_before) {
            ways.iter_mut().for_each(|way| way.disconnected(found));
            found.push(Finding::Connection(ended.clone()));
        }
        let heartbeat_s = connections.heartbeat_s;
        let [a, b] = ways;
        let (own, other) = match way {
            0 => (a, b),
            _ => (b, a),
        };
        own.number(event, &spot, found);
        if let Some(late_ns) = own.silence(event, heartbeat_s) {
            watch.heartbeat(names, late_ns);
        }
        own.asks(event, &spot, id, found);
        other.answered(event, found);
        if let Some(ns) = event.logged_ns.zip(event.sent_ns) {
            let difference = ns.0.saturating_sub(ns.1);
            let zone = self.zones.entry(log).or_insert_with(|| zone_ns(difference));
            let skew = difference.saturating_sub(*zone);
            own.skew(skew);
            watch.skew(names, skew);
        }
        if let Some(ended) = ended.filter(|_| !ends_before) {
            own.disconnected(found);
            other.disconnected(found);
            found.push(Finding::Connection(ended));
        }
        self.found.drain(..).for_each(|one| watch.found(one));
    }

    /// Ends everything that is open.
    pub fn finish(&mut self, watch: &mut impl Watch) {
        for session in &mut self.sessions {
            let found = &mut self.found;
            session.ways.iter_mut().for_each(|way| way.finish(found));
            found.extend(session.connections.finish().map(Finding::Connection));
            found.drain(..).for_each(|one| watch.found(one));
        }
    }

    /// The place of a session, and which of its directions this is. `None` if there are too many.
    fn place(&mut self, log: usize, group: usize, names: &[Vec<u8>; 2]) -> Option<(usize, usize)> {
        let [sender, target] = names;
        let way = usize::from(sender > target);
        let pair = match way {
            0 => [sender.clone(), target.clone()],
            _ => [target.clone(), sender.clone()],
        };
        let key = (group, pair);
        if let Some(place) = self.places.get(&key) {
            return Some((*place, way));
        }
        if self.sessions.len() >= SESSIONS_MAX {
            return None;
        }
        let [lesser, greater] = key.1.clone();
        let mut ways = [Way::default(), Way::default()];
        ways[0].sum.session = [lesser.clone(), greater.clone()];
        ways[1].sum.session = [greater, lesser];
        ways.iter_mut().for_each(|way| way.sum.log = log);
        self.sessions.push(Session {
            ways,
            connections: Connections::default(),
        });
        let place = self.sessions.len() - 1;
        self.places.insert(key, place);
        Some((place, way))
    }

    fn minute(&mut self, minute: i64) {
        let room = self.minutes.len() < MINUTES_MAX;
        match self.minutes.get_mut(&minute) {
            Some(count) => *count += 1,
            None if room => drop(self.minutes.insert(minute, 1)),
            None => self.unkept += 1,
        }
    }

    fn reject(
        &mut self,
        (msg_type, tag): (u8, u32),
        event: &Event,
        [reason, text]: [&[u8]; 2],
        spot: Spot,
    ) {
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
                    spot,
                    start_ns: event.sent_ns,
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
        sums.sort_by_key(|sum| (sum.log, &sum.session));
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

    /// How much the times that each log has before messages are ahead of UTC, in nanoseconds.
    #[must_use]
    pub fn zones(&self) -> &HashMap<usize, i64> {
        &self.zones
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
fn without_digits(text: &[u8]) -> Vec<u8> {
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
