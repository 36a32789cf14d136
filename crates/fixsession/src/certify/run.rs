//! One scenario, driven without I/O: bytes and times in, requests out.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use fixcore::dict::Version;
use fixcore::{Frame, Framer};

use super::counterparty::Counterparty;
use super::expand;
use super::message::Numbers;
use super::scenario::{Connection, Pattern, Scenario, Step};
use super::verdict::{Direction, Exchange, Finished, Verdict};
use crate::now::Now;

/// The longest message of an engine.
const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// An engine that sends more than this in one scenario is not waited for.
const RECEIVED_BYTES_MAX: usize = 16 << 20;

/// What the caller has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Request {
    /// Connect to the engine; then call [`Run::connected`] or [`Run::refused`].
    Connect(Connection),
    /// Wait for the engine to connect; then call [`Run::connected`] or [`Run::refused`].
    Accept(Connection),
    /// Write these bytes.
    Send(Connection, Vec<u8>),
    /// Close the connection.
    Close(Connection),
    /// Call again when something came, or when the monotonic clock is there.
    Wait(Duration),
    /// The run has ended: see [`Run::finish`].
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Idle,
    Connecting,
    Open,
    Ended,
}

#[derive(Debug)]
pub(super) struct Line {
    pub(super) state: State,
    pub(super) framer: Framer,
    /// Messages that came, and when.
    pub(super) inbox: VecDeque<(Duration, Result<Vec<u8>, String>)>,
    pub(super) ended: Duration,
    /// Bytes that wait for the next message.
    pub(super) glued: Vec<u8>,
}

impl Line {
    fn new() -> Self {
        Self {
            state: State::Idle,
            framer: Framer::with_limit(MESSAGE_BYTES_MAX),
            inbox: VecDeque::new(),
            ended: Duration::ZERO,
            glued: Vec::new(),
        }
    }
}

/// One scenario in one version, against one engine.
#[derive(Debug)]
pub struct Run {
    pub(super) engine: Counterparty,
    pub(super) version: Version,
    pub(super) steps: Vec<Step>,
    pub(super) at: usize,
    /// When the step began: the end of the one before.
    pub(super) since: Option<Duration>,
    pub(super) began: Option<Duration>,
    pub(super) lines: [Line; 2],
    pub(super) requests: VecDeque<Request>,
    pub(super) numbers: Numbers,
    pub(super) kept: BTreeMap<String, Vec<u8>>,
    pub(super) allows_heartbeats: bool,
    /// Messages that are passed over, and whether one came.
    pub(super) allowed: Option<Pattern>,
    pub(super) has_come: bool,
    /// HeartBtInt (108) of the engine's Logon.
    pub(super) interval: Duration,
    pub(super) verdict: Option<Verdict>,
    pub(super) exchange: Vec<Exchange>,
    pub(super) received_bytes: usize,
    pub(super) last: Duration,
}

/// What a step came to.
pub(super) enum Outcome {
    /// It is met, at this time.
    Met(Duration),
    /// It may still be met until this time.
    Open(Duration),
    Not(String),
}

impl Run {
    /// A run of a scenario. Ask [`Scenario::skipped`] before.
    #[must_use]
    pub fn new(scenario: &Scenario, version: Version, engine: &Counterparty) -> Self {
        Self {
            engine: engine.clone(),
            version,
            steps: expand::steps(scenario, version, engine),
            at: 0,
            since: None,
            began: None,
            lines: [Line::new(), Line::new()],
            requests: VecDeque::new(),
            numbers: Numbers::new(),
            kept: BTreeMap::new(),
            allows_heartbeats: false,
            allowed: None,
            has_come: false,
            interval: Duration::ZERO,
            verdict: None,
            exchange: Vec::new(),
            received_bytes: 0,
            last: Duration::ZERO,
        }
    }

    /// What has to be done next.
    pub fn next(&mut self, now: Now) -> Request {
        self.last = now.monotonic;
        let began = *self.began.get_or_insert(now.monotonic);
        loop {
            if let Some(request) = self.requests.pop_front() {
                return request;
            }
            if self.verdict.is_some() {
                return self.end();
            }
            let since = *self.since.get_or_insert(began);
            let Some(step) = self.steps.get(self.at).cloned() else {
                let stray = self.lines.iter().find_map(|line| line.inbox.front());
                self.verdict = Some(match stray {
                    None => Verdict::Passed,
                    Some(_) => Verdict::Failed {
                        step: "the end of the scenario".to_owned(),
                        why: "the engine sent more than it was expected to".to_owned(),
                    },
                });
                continue;
            };
            match self.step(&step, since, now) {
                Outcome::Met(at) => {
                    self.at += 1;
                    self.since = Some(at);
                }
                Outcome::Open(until) => {
                    if self.requests.is_empty() {
                        return Request::Wait(until);
                    }
                }
                Outcome::Not(why) => {
                    self.verdict = Some(Verdict::Failed {
                        step: step.text.clone(),
                        why,
                    });
                }
            }
        }
    }

    /// The connection is there.
    pub fn connected(&mut self, connection: Connection, now: Now) {
        self.last = now.monotonic;
        let line = self.line(connection);
        *line = Line::new();
        line.state = State::Open;
    }

    /// The connection could not be made.
    pub fn refused(&mut self, connection: Connection, why: &str) {
        self.line(connection).state = State::Ended;
        match self.exchange.is_empty() {
            true => self.verdict = Some(Verdict::NoConnection(why.to_owned())),
            // It was there before.
            false => self.fail(why),
        }
    }

    /// Bytes came.
    pub fn received(&mut self, connection: Connection, bytes: &[u8], now: Now) {
        self.last = now.monotonic;
        self.received_bytes = self.received_bytes.saturating_add(bytes.len());
        if self.received_bytes > RECEIVED_BYTES_MAX {
            self.fail("the engine sends without end");
            return;
        }
        let at = now
            .monotonic
            .saturating_sub(self.began.unwrap_or(now.monotonic));
        let line = &mut self.lines[place(connection)];
        line.framer.push(bytes);
        while let Some(frame) = line.framer.next_frame() {
            let found = match frame {
                Frame::Message { bytes, .. } => Ok(bytes.to_vec()),
                Frame::Skipped { bytes, why, .. } => Err(match why {
                    Some(why) => format!("{bytes} bytes that are no valid message: {why:?}"),
                    None => format!("{bytes} bytes that are no message"),
                }),
            };
            let bytes = match &found {
                Ok(bytes) => bytes.clone(),
                Err(why) => why.clone().into_bytes(),
            };
            self.exchange.push(Exchange {
                at,
                connection,
                direction: Direction::Received,
                bytes,
            });
            line.inbox.push_back((now.monotonic, found));
        }
    }

    /// The engine closed the connection.
    pub fn ended(&mut self, connection: Connection, now: Now) {
        self.last = now.monotonic;
        let at = now
            .monotonic
            .saturating_sub(self.began.unwrap_or(now.monotonic));
        let line = self.line(connection);
        if line.state != State::Open {
            return;
        }
        line.state = State::Ended;
        line.ended = now.monotonic;
        self.exchange.push(Exchange {
            at,
            connection,
            direction: Direction::Received,
            bytes: Vec::new(),
        });
    }

    /// Ends the run before its time, for this reason.
    pub fn fail(&mut self, why: &str) {
        let step = self.steps.get(self.at).map(|step| step.text.clone());
        self.verdict.get_or_insert(Verdict::Failed {
            step: step.unwrap_or_default(),
            why: why.to_owned(),
        });
    }

    /// Ends the run before its time: it is no verdict on the engine.
    pub fn interrupt(&mut self, why: &str) {
        self.verdict
            .get_or_insert_with(|| Verdict::Skipped(why.to_owned()));
    }

    /// The verdict and the messages.
    #[must_use]
    pub fn finish(self) -> Finished {
        let unfinished = Verdict::Skipped("the run was not finished".to_owned());
        Finished {
            verdict: self.verdict.unwrap_or(unfinished),
            exchange: self.exchange,
            took: self.last.saturating_sub(self.began.unwrap_or(self.last)),
        }
    }

    pub(super) fn line(&mut self, connection: Connection) -> &mut Line {
        &mut self.lines[place(connection)]
    }

    /// Closes what is open.
    fn end(&mut self) -> Request {
        for connection in [Connection::A, Connection::B] {
            let line = self.line(connection);
            if line.state == State::Open {
                line.state = State::Ended;
                return Request::Close(connection);
            }
        }
        Request::Done
    }
}

pub(super) fn place(connection: Connection) -> usize {
    match connection {
        Connection::A => 0,
        Connection::B => 1,
    }
}
