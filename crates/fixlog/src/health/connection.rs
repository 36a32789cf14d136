//! The connections of a session: from a Logon to a Logout, or to the next Logon.

use super::event::{Event, Kind};
use super::rows::{Connection, Spot};

/// A Logon that numbers begin anew with, as soon after a message of each side, is of the connection that there is.
const RESET_NS: i64 = 36_000_000_000;
/// The same, in intervals of Heartbeats.
const RESET_INTERVALS: f64 = 1.2;
/// A log and SendingTime that differ by more: a clock was set, or the time of the year changed.
const JUMP_NS: u64 = 60_000_000_000;
/// What came so soon behind the end of a connection was still of it.
const BEHIND_NS: i64 = 10_000_000_000;

/// A connection that has not ended.
#[derive(Debug)]
struct Open {
    row: Connection,
    /// Who began it: the direction of the Logon; `None` if it began before the log.
    by: Option<usize>,
    is_established: bool,
    /// The Logon was rejected (35=3).
    is_rejected: bool,
    /// The direction of the first Logout.
    logout: Option<usize>,
    /// The direction of a Logon that numbers begin anew with, until it is answered.
    reset: Option<usize>,
    times: Times,
}

/// When the messages of a connection were, by each clock: the first and the last.
#[derive(Debug, Default)]
struct Times {
    sent_ns: [Option<(i64, i64)>; 2],
    logged_ns: Option<(i64, i64)>,
    /// Whether the log says in which zone its times are.
    is_utc: bool,
}

/// The connections that ended before a message, and with it.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) before: Option<Connection>,
    pub(super) with: Option<Connection>,
}

/// The connections of a session, of which one is open at most.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: Option<Open>,
    /// When the last one ended, by SendingTime and by the log.
    ended: Option<(Option<i64>, Option<i64>)>,
    /// The TCP connections of the open one and of those before it: the latest.
    stream: Option<u64>,
    /// HeartBtInt (108) of the last Logon.
    pub(super) heartbeat_s: Option<u64>,
}

impl Connections {
    /// Whether a message came late on a TCP connection before the present one.
    pub(super) fn is_late(&self, event: &Event) -> bool {
        event
            .stream
            .is_some_and(|at| self.stream.is_some_and(|now| at < now))
    }

    /// Adds a message of a direction. Returns the connections that have ended before it and with it.
    pub(super) fn message(
        &mut self,
        event: &Event,
        way: usize,
        spot: &dyn Fn() -> Spot,
        text: &[u8],
    ) -> Ended {
        let mut ended = Ended::default();
        if self.is_late(event) {
            return ended;
        }
        let is_other = event.stream.is_some() && self.stream != event.stream;
        if is_other {
            ended.before = self.end();
            self.stream = event.stream;
        }
        if let Kind::Logon(heartbeat_s, begins) = event.kind
            && !event.is_resent
        {
            if let Some(open) = &mut self.open
                && open.takes_logon(event, way, begins, self.heartbeat_s)
            {
                self.heartbeat_s = heartbeat_s.or(self.heartbeat_s);
                open.add(event, way);
                return ended;
            }
            self.heartbeat_s = heartbeat_s.or(self.heartbeat_s);
            ended.before = ended.before.or(self.end());
            self.begin(event, Some(way), way, spot());
            return ended;
        }
        if let Some(open) = &mut self.open {
            open.add(event, way);
        } else if !is_other && self.is_behind(event) {
            return ended;
        } else {
            self.begin(event, None, way, spot());
        }
        ended.with = self.inside(event, way, spot, text);
        ended
    }

    /// Whether a message is the rest of the connection that has ended.
    fn is_behind(&self, event: &Event) -> bool {
        let Some((sent, logged)) = self.ended else {
            return false;
        };
        let soon = |end: Option<i64>, at: Option<i64>| {
            let after = end.zip(at).map(|(end, at)| at.saturating_sub(end));
            after.is_some_and(|after| after <= BEHIND_NS)
        };
        event.kind == Kind::Logout
            || event.stream.is_some()
            || soon(sent, event.sent_ns)
            || soon(logged, event.logged_ns())
    }

    /// Looks at a message that is no Logon. Returns the connection if it has ended with it.
    fn inside(
        &mut self,
        event: &Event,
        way: usize,
        spot: &dyn Fn() -> Spot,
        text: &[u8],
    ) -> Option<Connection> {
        let open = self.open.as_mut()?;
        let is_answer = !open.is_established && open.by.is_some_and(|by| by != way);
        if event.kind == Kind::LogonReject && is_answer && !event.is_resent {
            open.is_rejected = true;
            [open.row.by, _] = spot().session;
            open.row.text = text.to_vec();
            open.row.how = "logon refused";
            return None;
        }
        if event.kind != Kind::Logout || event.is_resent {
            // A log of one side alone has no answer.
            open.is_established |= open.logout.is_none() && !open.is_rejected;
            return None;
        }
        match open.logout {
            None => {
                open.logout = Some(way);
                if open.is_rejected {
                    return self.close();
                }
                [open.row.by, _] = spot().session;
                open.row.text = text.to_vec();
                open.row.how = "logout not confirmed";
                if is_answer {
                    open.row.how = "logon refused";
                    return self.close();
                }
                None
            }
            Some(by) if by != way => {
                open.row.how = "logout";
                self.close()
            }
            Some(_) => None,
        }
    }

    fn begin(&mut self, event: &Event, by: Option<usize>, way: usize, spot: Spot) {
        let down = self.ended.and_then(|(sent, logged)| {
            let logged = event.logged_ns().zip(logged);
            let (start, end) = logged.or(event.sent_ns.zip(sent))?;
            u64::try_from(start.saturating_sub(end)).ok()
        });
        let heartbeat_s = match event.kind {
            Kind::Logon(heartbeat_s, _) => heartbeat_s,
            _ => None,
        };
        let mut open = Open {
            row: Connection {
                spot,
                start_ns: event.sent_ns,
                down_ns: down.filter(|_| by.is_some()),
                heartbeat_s: [heartbeat_s, None],
                ..Connection::default()
            },
            by,
            is_established: by.is_none(),
            is_rejected: false,
            logout: None,
            reset: None,
            times: Times::default(),
        };
        open.add(event, way);
        self.open = Some(open);
    }

    /// Ends the open connection because another one began without a Logout before it.
    fn end(&mut self) -> Option<Connection> {
        self.end_as("no logout")
    }

    fn end_as(&mut self, how: &'static str) -> Option<Connection> {
        let open = self.open.as_mut()?;
        if open.logout.is_none() && !open.is_rejected {
            open.row.how = match open.is_established {
                true => how,
                false => "logon not answered",
            };
        }
        self.close()
    }

    fn close(&mut self) -> Option<Connection> {
        let open = self.open.take()?;
        let mut row = open.row;
        row.took_ns = open.times.took_ns(row.start_ns, row.end_ns);
        let logged = open.times.logged_ns.map(|(_, last)| last);
        self.ended = Some((row.end_ns, logged));
        Some(row)
    }

    /// The log has ended.
    pub(super) fn finish(&mut self) -> Option<Connection> {
        self.end_as("end of log")
    }
}

impl Open {
    /// Whether a Logon is of this connection: the answer, or numbers that begin anew.
    fn takes_logon(
        &mut self,
        event: &Event,
        way: usize,
        begins: bool,
        heartbeat_s: Option<u64>,
    ) -> bool {
        if self.logout.is_some() || self.is_rejected {
            return false;
        }
        let answered_s = match event.kind {
            Kind::Logon(heartbeat_s, _) => heartbeat_s,
            _ => None,
        };
        if !self.is_established && self.by.is_some_and(|by| by != way) {
            self.is_established = true;
            self.row.answered_ns = event.sent_ns;
            self.row.heartbeat_s[1] = answered_s;
            return true;
        }
        if self.reset.is_some_and(|by| by != way) {
            self.reset = None;
            return true;
        }
        let is_in_session = begins
            && self.is_established
            && (event.stream.is_some() || self.times.are_recent(event, heartbeat_s));
        if is_in_session {
            self.reset = Some(way);
            self.row.resets += 1;
        }
        is_in_session
    }

    fn add(&mut self, event: &Event, way: usize) {
        self.row.messages += 1;
        self.row.end_ns = self.row.end_ns.max(event.sent_ns);
        let extend = |times: &mut Option<(i64, i64)>, at: Option<i64>| {
            if let Some(at) = at {
                let (_, last) = times.get_or_insert((at, at));
                *last = at;
            }
        };
        if let Some(times) = self.times.sent_ns.get_mut(way) {
            extend(times, event.sent_ns);
        }
        extend(&mut self.times.logged_ns, event.logged_ns());
        self.times.is_utc = event.logged.is_some_and(|logged| logged.is_utc);
    }
}

impl Times {
    /// Whether both sides sent something a short time ago.
    fn are_recent(&self, event: &Event, heartbeat_s: Option<u64>) -> bool {
        let most_ns = match heartbeat_s {
            Some(seconds) if seconds > 0 => (RESET_INTERVALS * 1e9 * seconds as f64) as i64,
            _ => RESET_NS,
        };
        self.sent_ns.iter().all(|times| {
            let since = times.zip(event.sent_ns);
            since.is_some_and(|((_, last), now)| now.saturating_sub(last) <= most_ns)
        })
    }

    /// How long it took: by the log where that says its zone, else what two of three clocks agree upon.
    fn took_ns(&self, start_ns: Option<i64>, end_ns: Option<i64>) -> Option<u64> {
        let span =
            |times: Option<(i64, i64)>| times.map(|(first, last)| last.saturating_sub(first));
        let sent = start_ns
            .zip(end_ns)
            .map(|(start, end)| end.saturating_sub(start));
        let took = match (span(self.logged_ns), sent) {
            (Some(logged), _) if self.is_utc => logged,
            (Some(logged), Some(sent)) if logged.abs_diff(sent) > JUMP_NS => {
                let mut all = [logged, sent, sent];
                if let [Some(a), Some(b)] = self.sent_ns.map(span) {
                    all = [logged, a, b];
                }
                all.sort_unstable();
                all[1]
            }
            (_, sent) => sent?,
        };
        u64::try_from(took).ok()
    }
}
