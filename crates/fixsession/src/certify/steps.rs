//! The steps of a run: whether each is met, may still be met, or is not.

use std::time::Duration;

use super::compare;
use super::message::{Context, Numbers};
use super::run::{Outcome, Request, Run, State, place};
use super::scenario::{Action, Connection, Cut, Kind, Pattern, Step, What, Window};
use super::seen::Seen;
use super::verdict::{Direction, Exchange};
use crate::now::Now;
use crate::options::Role;

/// A longer HeartBtInt (108) is not waited for.
const INTERVAL_SECONDS_MAX: u64 = 3600;
/// With a shorter one, the Heartbeats of an engine come between what the scenarios expect.
const INTERVAL_SECONDS_MIN: u64 = 2;

impl Run {
    pub(super) fn step(&mut self, step: &Step, since: Duration, now: Now) -> Outcome {
        let connection = step.connection;
        match &step.action {
            Action::Connect => match self.lines[place(connection)].state {
                State::Ended if self.settled(connection) > now.monotonic => {
                    Outcome::Open(self.settled(connection))
                }
                State::Idle | State::Ended => {
                    self.line(connection).state = State::Connecting;
                    self.requests.push_back(match self.engine.role {
                        Role::Acceptor => Request::Connect(connection),
                        Role::Initiator => Request::Accept(connection),
                    });
                    Outcome::Open(since)
                }
                State::Connecting => Outcome::Open(now.monotonic + self.engine.timeout),
                State::Open => Outcome::Met(now.monotonic),
            },
            Action::Close => {
                self.line(connection).state = State::Ended;
                self.line(connection).ended = now.monotonic;
                self.requests.push_back(Request::Close(connection));
                Outcome::Met(now.monotonic)
            }
            Action::Closed(window) => self.closed(connection, *window, since, now),
            Action::Ends(window) => {
                self.skip_allowed(connection, now);
                self.skip(connection, |seen| seen.is("3") || seen.is("5"));
                self.closed(connection, *window, since, now)
            }
            Action::Nothing(wait) => self.nothing(connection, since + wait.of(self.interval), now),
            Action::Wait(wait) => {
                let until = since + wait.of(self.interval);
                match until <= now.monotonic {
                    true => Outcome::Met(now.monotonic),
                    false => Outcome::Open(until),
                }
            }
            Action::Send(pattern, cut) => self.send(connection, pattern, *cut, now),
            Action::Raw(fields) => {
                let (bytes, number) = self.context(now, true).raw(fields);
                self.write(connection, bytes, number, Cut::Whole, now)
            }
            Action::Expect(pattern, window) => {
                self.expect(connection, pattern, *window, since, now)
            }
            Action::Next(number) => {
                self.numbers.out = self.numbers.ours(*number);
                Outcome::Met(since)
            }
            Action::Restart => {
                self.numbers = Numbers::new();
                Outcome::Met(since)
            }
            Action::Rebase => {
                self.numbers.base_out = self.numbers.out.saturating_sub(1);
                self.numbers.base_in = self.numbers.expected.saturating_sub(1);
                Outcome::Met(since)
            }
            Action::AllowHeartbeats => {
                self.allows_heartbeats = true;
                Outcome::Met(since)
            }
            Action::Allow(pattern) => {
                (self.allowed, self.has_come) = (Some(pattern.clone()), false);
                Outcome::Met(since)
            }
            Action::Came => {
                self.skip_allowed(connection, now);
                match self.allowed.clone() {
                    Some(pattern) if !self.has_come => {
                        self.expect(connection, &pattern, Window::default(), since, now)
                    }
                    _ => Outcome::Met(since),
                }
            }
            // Written out when the run was made.
            Action::Logon(_) | Action::Logout | Action::Alive => Outcome::Met(since),
        }
    }

    /// When the engine has noticed that the connection ended.
    fn settled(&self, connection: Connection) -> Duration {
        let ended = self.lines[place(connection)].ended;
        ended.saturating_add(self.engine.settle)
    }

    fn context(&self, now: Now, is_sent: bool) -> Context<'_> {
        Context {
            version: self.version,
            engine: &self.engine,
            numbers: self.numbers,
            kept: &self.kept,
            utc: now.utc,
            is_sent,
        }
    }

    fn send(&mut self, connection: Connection, pattern: &Pattern, cut: Cut, now: Now) -> Outcome {
        let (bytes, number) = self.context(now, true).message(pattern);
        self.write(connection, bytes, number, cut, now)
    }

    fn write(
        &mut self,
        connection: Connection,
        bytes: Vec<u8>,
        number: Option<u64>,
        cut: Cut,
        now: Now,
    ) -> Outcome {
        if let Some(number) = number {
            self.numbers.out = self.numbers.out.max(number.saturating_add(1));
        }
        let began = self.began.unwrap_or(now.monotonic);
        self.exchange.push(Exchange {
            at: now.monotonic.saturating_sub(began),
            connection,
            direction: Direction::Sent,
            bytes: bytes.clone(),
        });
        let line = self.line(connection);
        if line.state != State::Open {
            return Outcome::Not("the connection is closed; there is a message to send".to_owned());
        }
        match cut {
            Cut::Glue => line.glued.extend_from_slice(&bytes),
            Cut::Whole => {
                let mut all = std::mem::take(&mut line.glued);
                all.extend_from_slice(&bytes);
                self.requests.push_back(Request::Send(connection, all));
            }
            Cut::Bytes => {
                let each = bytes
                    .into_iter()
                    .map(|byte| Request::Send(connection, vec![byte]));
                self.requests.extend(each);
            }
        }
        Outcome::Met(now.monotonic)
    }

    /// How long after `since` something may happen at the earliest, and when at the latest.
    fn times(&self, window: Window, since: Duration) -> (Duration, Duration) {
        let until = window.until.map(|until| until.of(self.interval));
        let until = since + until.unwrap_or(self.engine.timeout);
        (window.from.of(self.interval), until)
    }

    /// Passes over the messages that a scenario allows at any time.
    fn skip_allowed(&mut self, connection: Connection, now: Now) {
        while let Some(pattern) = &self.allowed {
            let Some((_, Ok(bytes))) = self.lines[place(connection)].inbox.front() else {
                return;
            };
            let cx = self.context(now, false);
            let is_it = Seen::read(bytes.clone()).and_then(|seen| {
                compare::message(&seen, pattern, &cx, &mut self.kept.clone())?;
                compare::header(&seen, &cx)
            });
            if is_it.is_err() {
                return;
            }
            self.line(connection).inbox.pop_front();
            self.numbers.expected = self.numbers.expected.saturating_add(1);
            self.has_come = true;
        }
    }

    /// Passes over what the scenario allows: Heartbeats, or other messages.
    fn skip_what_is_allowed(&mut self, connection: Connection, now: Now) {
        self.skip_allowed(connection, now);
        if self.allows_heartbeats {
            self.skip(connection, |seen| seen.is("0") && seen.get("112").is_none());
        }
    }

    /// Passes over messages.
    fn skip(&mut self, connection: Connection, is_passed: fn(&Seen) -> bool) {
        let expected = &mut self.numbers.expected;
        let inbox = &mut self.lines[place(connection)].inbox;
        while let Some((_, Ok(bytes))) = inbox.front() {
            match Seen::read(bytes.clone()) {
                Ok(seen) if is_passed(&seen) => {
                    *expected = seen
                        .number()
                        .map_or(*expected, |number| number.saturating_add(1));
                    inbox.pop_front();
                }
                _ => return,
            }
        }
    }

    fn expect(
        &mut self,
        connection: Connection,
        pattern: &Pattern,
        window: Window,
        since: Duration,
        now: Now,
    ) -> Outcome {
        self.skip_what_is_allowed(connection, now);
        let (from, until) = self.times(window, since);
        let line = self.line(connection);
        let Some((at, found)) = line.inbox.pop_front() else {
            return match (line.state, now.monotonic >= until) {
                (State::Ended | State::Idle, _) => Outcome::Not(
                    "expected a message, and the engine closed the connection".to_owned(),
                ),
                (_, true) => {
                    let waited = until.saturating_sub(since).as_secs_f64();
                    Outcome::Not(format!(
                        "expected a message, and none came in {waited:.1} s"
                    ))
                }
                _ => Outcome::Open(until),
            };
        };
        if let Some(why) = self.too_short(found.as_deref()) {
            return Outcome::Not(why);
        }
        let after = at.saturating_sub(since);
        if after < from || at > until {
            let (from, to) = (from.as_secs_f64(), (until - since).as_secs_f64());
            let came = after.as_secs_f64();
            return Outcome::Not(format!(
                "expected a message after {from:.1} to {to:.1} s, and it came after {came:.1} s"
            ));
        }
        let compared = found.and_then(Seen::read).and_then(|seen| {
            let mut keeps = self.kept.clone();
            let cx = self.context(now, false);
            compare::message(&seen, pattern, &cx, &mut keeps)?;
            compare::header(&seen, &cx)?;
            Ok((seen, keeps))
        });
        match compared {
            Ok((seen, keeps)) => {
                self.kept = keeps;
                if seen.is("A") {
                    let seconds = seen.get("108").and_then(fixcore::value::unsigned);
                    let seconds = seconds.unwrap_or(0).min(INTERVAL_SECONDS_MAX);
                    self.interval = Duration::from_secs(seconds);
                }
                // What is sent again moves nothing.
                if !is_again(pattern, &seen) {
                    let number = seen.number().unwrap_or(self.numbers.expected);
                    self.numbers.expected = number.saturating_add(1);
                }
                Outcome::Met(at)
            }
            Err(why) => Outcome::Not(why),
        }
    }

    /// Why the HeartBtInt (108) of an engine that connects cannot be certified.
    fn too_short(&self, found: Result<&[u8], &String>) -> Option<String> {
        let seen = Seen::read(found.ok()?.to_vec()).ok()?;
        let seconds = fixcore::value::unsigned(seen.get("108")?)?;
        let is_own = self.engine.role == Role::Initiator && seen.is("A");
        (is_own && seconds < INTERVAL_SECONDS_MIN).then(|| {
            format!("HeartBtInt (108) of the engine is {seconds} s, and the scenarios of timers need {INTERVAL_SECONDS_MIN} s or more: set HeartBtInt=5")
        })
    }

    fn closed(
        &mut self,
        connection: Connection,
        window: Window,
        since: Duration,
        now: Now,
    ) -> Outcome {
        self.skip_what_is_allowed(connection, now);
        let (from, until) = self.times(window, since);
        let line = self.line(connection);
        if !line.inbox.is_empty() {
            return Outcome::Not(
                "expected the end of the connection, and the engine sent a message".to_owned(),
            );
        }
        match line.state {
            State::Ended | State::Idle => {
                let after = line.ended.saturating_sub(since);
                if after < from {
                    let (from, came) = (from.as_secs_f64(), after.as_secs_f64());
                    return Outcome::Not(format!(
                        "expected the end of the connection not before {from:.1} s, and it came after {came:.1} s"
                    ));
                }
                Outcome::Met(now.monotonic)
            }
            _ if now.monotonic >= until => {
                let waited = until.saturating_sub(since).as_secs_f64();
                Outcome::Not(format!(
                    "expected the end of the connection, and it is open after {waited:.1} s"
                ))
            }
            _ => Outcome::Open(until),
        }
    }

    fn nothing(&mut self, connection: Connection, until: Duration, now: Now) -> Outcome {
        self.skip_what_is_allowed(connection, now);
        let line = self.line(connection);
        if !line.inbox.is_empty() {
            return Outcome::Not("expected nothing, and the engine sent a message".to_owned());
        }
        match line.state {
            State::Open if now.monotonic >= until => Outcome::Met(now.monotonic),
            State::Open => Outcome::Open(until),
            _ => Outcome::Not("expected nothing, and the engine closed the connection".to_owned()),
        }
    }
}

/// Whether a scenario expects a message that is sent again.
fn is_again(pattern: &Pattern, seen: &Seen) -> bool {
    let asks = |what: &What| matches!(what, What::Is(_) | What::Present);
    let stated = pattern
        .fields
        .iter()
        .any(|rule| rule.tag == "43" && asks(&rule.what));
    stated && seen.is_poss_dup() && matches!(pattern.kind, Kind::Type(_))
}
