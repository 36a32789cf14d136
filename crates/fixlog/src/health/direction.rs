//! One direction of a session: its numbers, what it asked for, and how long it was silent.

use std::collections::VecDeque;

use super::event::{Event, Kind};
use super::gaps::{Gaps, How};
use super::rows::{Direction, Finding, Gap, Request, Skew, Spot, Storm, Test};

/// Requests of each kind that wait for their answer at once.
const WAITING_MAX: usize = 64;
/// As many requests for the same number, one after the other, are a storm.
const STORM_REQUESTS: u64 = 3;
/// A party that sends nothing for more than so many times HeartBtInt is overdue.
const OVERDUE: f64 = 1.2;
const SECOND_NS: u64 = 1_000_000_000;

/// One direction of a session.
#[derive(Debug, Default)]
pub(super) struct Way {
    pub(super) sum: Direction,
    next: u64,
    gaps: Gaps,
    /// The last message of this connection.
    last_ns: Option<i64>,
    requests: VecDeque<Request>,
    storm: Storm,
    tests: VecDeque<(u128, Test)>,
}

impl Way {
    /// Adds a message: its number.
    pub(super) fn number(&mut self, event: &Event, spot: &Spot, found: &mut Vec<Finding>) {
        let mut ended = Vec::new();
        self.count(event, spot, &mut ended);
        self.push_gaps(ended, found);
    }

    fn push_gaps(&mut self, ended: Vec<Gap>, found: &mut Vec<Finding>) {
        for gap in ended {
            let came: u64 = gap.filled.iter().sum();
            self.sum.missing += (gap.got - gap.expected).saturating_sub(came);
            found.push(Finding::Gap(gap));
        }
    }

    fn count(&mut self, event: &Event, spot: &Spot, ended: &mut Vec<Gap>) {
        self.sum.messages += 1;
        self.sum.resent += u64::from(event.is_resent);
        let Some(number) = event.number else {
            return;
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
            return;
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
            return;
        }
        if number < self.next {
            let range = (number, end.min(self.next));
            let filled = self.gaps.fill(range, how, event.sent_ns, ended);
            self.sum.duplicates += u64::from(filled == 0 && how == How::Late);
        } else if number > self.next {
            self.sum.gaps += 1;
            let gap = Gap {
                spot: spot.clone(),
                expected: self.next,
                got: number,
                before_ns: self.last_ns,
                start_ns: event.sent_ns,
                ..Gap::default()
            };
            self.gaps.add(gap, ended);
        }
        self.next = self.next.max(end);
    }

    /// Adds a message: how long it was silent before it. Returns how late a Heartbeat is.
    pub(super) fn silence(&mut self, event: &Event, heartbeat_s: Option<u64>) -> Option<u64> {
        let before = self.last_ns;
        let sent = event.sent_ns?;
        self.last_ns = Some(before.map_or(sent, |before| before.max(sent)));
        let silence = u64::try_from(sent.saturating_sub(before?)).unwrap_or(0);
        let every_ns = heartbeat_s
            .filter(|seconds| *seconds > 0)?
            .saturating_mul(SECOND_NS);
        self.sum.silence_ns = self.sum.silence_ns.max(silence);
        self.sum.overdue += u64::from(silence as f64 > OVERDUE * every_ns as f64);
        if event.kind != Kind::Heartbeat(None) {
            return None;
        }
        self.sum.heartbeats += 1;
        Some(silence.saturating_sub(every_ns))
    }

    /// Adds what it asks for.
    pub(super) fn asks(&mut self, event: &Event, spot: &Spot, id: &[u8], found: &mut Vec<Finding>) {
        match event.kind {
            Kind::Request(from, to) if !event.is_resent => {
                self.sum.requests += 1;
                if self.storm.requests > 0 && self.storm.from != from {
                    self.end_storm(found);
                }
                if self.storm.requests == 0 {
                    self.storm = Storm {
                        spot: spot.clone(),
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
                    spot: spot.clone(),
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
                    spot: spot.clone(),
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
    pub(super) fn disconnected(&mut self, found: &mut Vec<Finding>) {
        while !self.tests.is_empty() {
            self.forget_test(found);
        }
        found.extend(self.requests.drain(..).map(Finding::Request));
        self.last_ns = None;
    }

    /// The log has ended.
    pub(super) fn finish(&mut self, found: &mut Vec<Finding>) {
        let mut ended = Vec::new();
        self.gaps.end("never", None, &mut ended);
        self.push_gaps(ended, found);
        self.disconnected(found);
        self.end_storm(found);
    }

    /// The time from SendingTime to that of the log.
    pub(super) fn skew(&mut self, ns: i64) {
        let skew = self.sum.skew.get_or_insert(Skew {
            least_ns: ns,
            largest_ns: ns,
            ..Skew::default()
        });
        skew.messages += 1;
        skew.least_ns = skew.least_ns.min(ns);
        skew.largest_ns = skew.largest_ns.max(ns);
        skew.sum_ns += i128::from(ns);
    }
}
