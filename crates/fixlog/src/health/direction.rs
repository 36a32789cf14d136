//! One direction of a session: its numbers, what it asked for, and how long it was silent.

use std::collections::VecDeque;

use super::event::{Event, Kind};
use super::gaps::{Gaps, How};
use super::rows::{Direction, Duplicate, Finding, Gap, Request, Silence, Spot, Storm, Test};
use super::skew::Skews;

/// Requests of each kind that wait for their answer at once.
const WAITING_MAX: usize = 64;
/// As many requests for the same number, one after the other, are a storm.
const STORM_REQUESTS: u64 = 3;
/// A party that sends nothing for more than so many times HeartBtInt is overdue.
const OVERDUE: f64 = 1.2;
const SECOND_NS: u64 = 1_000_000_000;
/// Silences that are remembered until the interval of Heartbeats is known: the longest.
const SILENCES_MAX: usize = 64;
/// Heartbeats whose interval is looked at where no Logon says it, and the fewest that show one.
const INTERVALS_MAX: usize = 64;
const INTERVALS_MIN: usize = 3;

/// The last message of a direction, and what the other side sent around it.
#[derive(Debug, Clone)]
struct Last {
    sent_ns: i64,
    /// The last message of the other side before it, and the first and the last one after it.
    other_before_ns: Option<i64>,
    others_ns: Option<(i64, i64)>,
    log: usize,
    offset: u64,
    line: Option<u64>,
}

/// One direction of a session.
#[derive(Debug, Default)]
pub(super) struct Way {
    pub(super) sum: Direction,
    next: u64,
    gaps: Gaps,
    /// The last message of this connection.
    last: Option<Last>,
    /// Silences that may be too long, once it is known how long is too long.
    silences: Vec<Silence>,
    /// From a message to the Heartbeat behind it, of the first ones.
    intervals_ns: Vec<u64>,
    pub(super) skews: Skews,
    requests: VecDeque<Request>,
    storm: Storm,
    tests: VecDeque<(u128, Test)>,
}

impl Way {
    /// Adds a message: its number.
    pub(super) fn number(
        &mut self,
        event: &Event,
        spot: &dyn Fn() -> Spot,
        found: &mut Vec<Finding>,
    ) {
        let mut ended = Vec::new();
        if self.count(event, spot, &mut ended) {
            self.sum.duplicates += 1;
            found.push(Finding::Duplicate(Duplicate {
                spot: spot(),
                number: event.number.unwrap_or_default(),
                start_ns: event.sent_ns,
            }));
        }
        self.push_gaps(ended, found);
    }

    fn push_gaps(&mut self, ended: Vec<Gap>, found: &mut Vec<Finding>) {
        for gap in ended {
            let came: u64 = gap.filled.iter().sum();
            self.sum.missing += (gap.got - gap.expected).saturating_sub(came);
            found.push(Finding::Gap(gap));
        }
    }

    /// Counts a message; whether its number came before.
    fn count(&mut self, event: &Event, spot: &dyn Fn() -> Spot, ended: &mut Vec<Gap>) -> bool {
        self.sum.messages += 1;
        self.sum.resent += u64::from(event.is_resent);
        let Some(number) = event.number else {
            return false;
        };
        let mut end = number.saturating_add(1);
        let begins = match event.kind {
            Kind::Logon(_, true) => Some(end),
            // The numbers of a new day, without a word.
            Kind::Logon(..) if number == 1 && self.next > 1 && !event.is_resent => Some(end),
            Kind::Reset(next) => Some(next.max(1)),
            _ => None,
        };
        if let Some(next) = begins {
            self.gaps.end("reset", event.sent_ns, ended);
            self.next = next;
            return false;
        }
        let how = match event.kind {
            Kind::Fill(next) => {
                end = end.max(next);
                How::Fill
            }
            _ if event.is_resent => How::Resent,
            _ => How::Late,
        };
        // A log may begin anywhere.
        if self.next == 0 {
            self.next = end;
            return false;
        }
        let mut is_again = false;
        if number < self.next {
            let range = (number, end.min(self.next));
            let filled = self.gaps.fill(range, how, event.sent_ns, ended);
            is_again = filled == 0 && how == How::Late;
        } else if number > self.next {
            self.sum.gaps += 1;
            let gap = Gap {
                spot: spot(),
                expected: self.next,
                got: number,
                before_ns: self.last.as_ref().map(|last| last.sent_ns),
                start_ns: event.sent_ns,
                ..Gap::default()
            };
            self.gaps.add(gap, ended);
        }
        self.next = self.next.max(end);
        is_again
    }

    /// Adds a message: how long it was silent before it. Returns how late a Heartbeat is.
    pub(super) fn silence(
        &mut self,
        event: &Event,
        (log, other_ns): (usize, Option<i64>),
        heartbeat_s: Option<u64>,
        found: &mut Vec<Finding>,
    ) -> Option<u64> {
        self.sum.heartbeats += u64::from(event.kind == Kind::Heartbeat(None));
        let sent = event.sent_ns?;
        let before = self.last.take();
        let latest = before
            .as_ref()
            .map_or(sent, |before| before.sent_ns.max(sent));
        self.last = Some(Last {
            sent_ns: latest,
            other_before_ns: other_ns,
            others_ns: None,
            log,
            offset: event.offset,
            line: event.line,
        });
        let before = before?;
        let silence = u64::try_from(sent.saturating_sub(before.sent_ns)).unwrap_or(0);
        self.silent(&before, (silence, sent, "resumed"), heartbeat_s, found);
        if event.kind != Kind::Heartbeat(None) {
            return None;
        }
        if self.intervals_ns.len() < INTERVALS_MAX {
            self.intervals_ns.push(silence);
        }
        let seconds = heartbeat_s.filter(|seconds| *seconds > 0)?;
        Some(silence.saturating_sub(seconds.saturating_mul(SECOND_NS)))
    }

    /// When the last message of this connection was sent.
    pub(super) fn last_ns(&self) -> Option<i64> {
        self.last.as_ref().map(|last| last.sent_ns)
    }

    /// The other side sent something.
    pub(super) fn other_sent(&mut self, event: &Event) {
        if let Some(last) = &mut self.last
            && let Some(sent) = event.sent_ns
        {
            let (_, latest) = last.others_ns.get_or_insert((sent, sent));
            *latest = sent.max(*latest);
        }
    }

    /// How long it had sent nothing when the other side sent its last message. Clocks differ and are set: the time
    /// by both clocks is believed if that of the other side alone allows it.
    fn end_silence(&mut self, heartbeat_s: Option<u64>, found: &mut Vec<Finding>) {
        let Some(last) = self.last.take() else {
            return;
        };
        let Some((first, end)) = last.others_ns else {
            return;
        };
        let least = end.saturating_sub(first);
        let most = last
            .other_before_ns
            .map_or(i64::MAX, |before| end.saturating_sub(before));
        let across = end.saturating_sub(last.sent_ns);
        let silence = match (least..=most).contains(&across) {
            true => across,
            false => least,
        };
        let silence = u64::try_from(silence).unwrap_or(0);
        self.silent(&last, (silence, end, "never"), heartbeat_s, found);
    }

    /// Takes a time without messages.
    fn silent(
        &mut self,
        before: &Last,
        (took_ns, end_ns, how): (u64, i64, &'static str),
        heartbeat_s: Option<u64>,
        found: &mut Vec<Finding>,
    ) {
        self.sum.silence_ns = self.sum.silence_ns.max(took_ns);
        if took_ns <= SECOND_NS {
            return;
        }
        let is_short = |seconds| !is_overdue(took_ns, seconds);
        if heartbeat_s.is_some_and(is_short) {
            return;
        }
        let silence = Silence {
            spot: Spot {
                session: self.sum.session.clone(),
                subs: self.sum.subs.clone(),
                begin: self.sum.begin.clone(),
                log: before.log,
                offset: before.offset,
                line: before.line,
            },
            start_ns: Some(before.sent_ns),
            end_ns: Some(end_ns),
            took_ns,
            heartbeat_s: heartbeat_s.unwrap_or_default(),
            how,
        };
        if heartbeat_s.is_some() {
            self.sum.overdue += 1;
            return found.push(Finding::Silence(silence));
        }
        if self.silences.len() >= SILENCES_MAX {
            let shortest = (0..self.silences.len()).min_by_key(|at| self.silences[*at].took_ns);
            if let Some(at) = shortest.filter(|at| self.silences[*at].took_ns < took_ns) {
                self.silences.remove(at);
            } else {
                return;
            }
        }
        self.silences.push(silence);
    }

    /// The interval of Heartbeats is known now.
    pub(super) fn interval(
        &mut self,
        seconds: Option<u64>,
        is_inferred: bool,
        found: &mut Vec<Finding>,
    ) {
        self.sum.heartbeat_s = seconds;
        self.sum.is_heartbeat_inferred = is_inferred;
        let Some(seconds) = seconds else {
            return;
        };
        for mut silence in self.silences.drain(..) {
            if is_overdue(silence.took_ns, seconds) {
                silence.heartbeat_s = seconds;
                self.sum.overdue += 1;
                found.push(Finding::Silence(silence));
            }
        }
    }

    /// What Heartbeats show of their interval: from the message before to each of the first ones.
    pub(super) fn intervals_ns(&self) -> &[u64] {
        &self.intervals_ns
    }

    /// Adds what it asks for.
    pub(super) fn asks(
        &mut self,
        event: &Event,
        spot: &dyn Fn() -> Spot,
        id: &[u8],
        found: &mut Vec<Finding>,
    ) {
        match event.kind {
            Kind::Request(from, to) if !event.is_resent => {
                self.sum.requests += 1;
                if self.storm.requests > 0 && self.storm.from != from {
                    self.end_storm(found);
                }
                if self.storm.requests == 0 {
                    self.storm = Storm {
                        spot: spot(),
                        from,
                        requests: 0,
                        start_ns: event.sent_ns,
                        end_ns: None,
                    };
                }
                self.storm.requests += 1;
                self.storm.end_ns = event.sent_ns;
                self.sum.storms += u64::from(self.storm.requests == STORM_REQUESTS);
                let request = Request {
                    spot: spot(),
                    from,
                    to,
                    start_ns: event.sent_ns,
                    end_ns: None,
                    how: "never",
                };
                if self.requests.len() == WAITING_MAX {
                    found.extend(self.requests.pop_front().map(Finding::Request));
                }
                self.requests.push_back(request);
            }
            Kind::TestRequest(hash) if !event.is_resent => {
                self.sum.tests += 1;
                if self.tests.len() == WAITING_MAX {
                    self.forget_test(found);
                }
                let test = Test {
                    spot: spot(),
                    start_ns: event.sent_ns,
                    id: id.to_vec(),
                };
                self.tests.push_back((hash, test));
            }
            _ => {}
        }
    }

    /// Adds a message of the other side, which may answer a request.
    pub(super) fn answered(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Kind::Heartbeat(Some(hash)) = event.kind
            && let Some(at) = self.tests.iter().position(|test| test.0 == hash)
        {
            self.tests.remove(at);
        }
        let how = match event.kind {
            Kind::Fill(_) => "gap fill",
            _ if event.is_resent => "resent",
            _ => return,
        };
        let Some(number) = event.number else {
            return;
        };
        let end = match event.kind {
            Kind::Fill(next) => next,
            _ => number.saturating_add(1),
        };
        self.requests.retain_mut(|request| {
            // To FIX 4.2, 999,999 is all.
            let last = match request.to {
                0 | 999_999 => u64::MAX,
                to => to,
            };
            let is_for = number <= last && end > request.from;
            if is_for {
                (request.how, request.end_ns) = (how, event.sent_ns);
                found.push(Finding::Request(request.clone()));
            }
            !is_for
        });
    }

    fn forget_test(&mut self, found: &mut Vec<Finding>) {
        if let Some((_, test)) = self.tests.pop_front() {
            self.sum.unanswered += 1;
            found.push(Finding::Test(test));
        }
    }

    fn end_storm(&mut self, found: &mut Vec<Finding>) {
        let storm = std::mem::take(&mut self.storm);
        if storm.requests >= STORM_REQUESTS {
            found.push(Finding::Storm(storm));
        }
    }

    /// The connection has ended: nothing is answered any more.
    pub(super) fn disconnected(&mut self, heartbeat_s: Option<u64>, found: &mut Vec<Finding>) {
        self.end_silence(heartbeat_s, found);
        while !self.tests.is_empty() {
            self.forget_test(found);
        }
        found.extend(self.requests.drain(..).map(Finding::Request));
    }

    /// The log has ended.
    pub(super) fn finish(&mut self, heartbeat_s: Option<u64>, found: &mut Vec<Finding>) {
        let mut ended = Vec::new();
        self.gaps.end("never", None, &mut ended);
        self.push_gaps(ended, found);
        self.disconnected(heartbeat_s, found);
        self.end_storm(found);
    }
}

/// Whether nothing was sent for too long.
fn is_overdue(took_ns: u64, heartbeat_s: u64) -> bool {
    let every_ns = heartbeat_s.saturating_mul(SECOND_NS);
    heartbeat_s > 0 && took_ns as f64 > OVERDUE * every_ns as f64
}

/// The interval that Heartbeats show: the middle one, in whole seconds.
pub(super) fn inferred_s(mut intervals_ns: Vec<u64>) -> Option<u64> {
    if intervals_ns.len() < INTERVALS_MIN {
        return None;
    }
    intervals_ns.sort_unstable();
    let middle = intervals_ns.get(intervals_ns.len() / 2)?;
    Some(middle.saturating_add(SECOND_NS / 2) / SECOND_NS).filter(|seconds| *seconds > 0)
}
