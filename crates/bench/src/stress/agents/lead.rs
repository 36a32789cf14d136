//! The side that gives out the parts: who came, who is ready, who runs, whose report is here.

use std::collections::VecDeque;
use std::time::Duration;

use latency::report::{Report, read_json};

use super::message::{Envelope, FromAgent, FromLead, PIECES_MAX, WrongMessage, is_id, plain};
use super::part::SharedPlan;
use super::{AGAIN, ALIVE, SILENCE, START_IN, stood_still};

/// How long agents may take to report once they were told to stop.
const REPORT_WITHIN: Duration = Duration::from_secs(30);

/// How far an agent is.
#[derive(Debug, Clone, PartialEq)]
enum Phase {
    /// Its part was sent.
    Planned,
    /// It can do it.
    Ready,
    /// The start was sent.
    Told,
    /// It has heard it.
    Runs,
    /// It has ended.
    Over(Ended),
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// With a report.
    Reported(Box<Report>),
    /// Without, for this reason.
    Gone(String),
}

/// An agent, as the lead knows it.
#[derive(Debug, Clone)]
pub struct Member {
    id: String,
    name: String,
    /// Which part it has.
    nth: u32,
    phase: Phase,
    heard: Duration,
    sent: Duration,
    told: Option<Duration>,
    round_trip: Option<Duration>,
    blocks: u64,
    pieces: Vec<Option<String>>,
}

impl Member {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// From telling it when to start to hearing that it knows. Its start was at most so much later than meant.
    #[must_use]
    pub fn round_trip(&self) -> Option<Duration> {
        self.round_trip
    }

    /// How it ended, once it has.
    #[must_use]
    pub fn ended(&self) -> Option<&Ended> {
        match &self.phase {
            Phase::Over(ended) => Some(ended),
            _ => None,
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over(_))
    }
}

/// Why a run is not what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// Too few came.
    #[error("{came} of {wanted} agents came within {} s", within.as_secs_f64())]
    Missing {
        /// How many did.
        came: usize,
        /// How many were to.
        wanted: usize,
        /// How long they were waited for.
        within: Duration,
    },
    /// An agent will not do its part.
    #[error("agent {name} cannot do its part: {reason}")]
    Refused {
        /// Which.
        name: String,
        /// Why.
        reason: String,
    },
    /// An agent is not heard.
    #[error("agent {name} has vanished: nothing was heard of it for {} s", SILENCE.as_secs())]
    Vanished {
        /// Which.
        name: String,
    },
}

/// What happened, for those who look on.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// An agent came.
    Came {
        /// Which.
        name: String,
        /// How many are here.
        here: usize,
    },
    /// All are ready, and start after this time.
    Starts(Duration),
    /// An agent of another version was sent away, or a message was none.
    Wrong(String),
}

/// Leads a run.
#[derive(Debug)]
pub struct Lead {
    run: String,
    plan: SharedPlan,
    wanted: u32,
    wait: Duration,
    members: Vec<Member>,
    /// When the run starts, once that is known.
    start: Option<Duration>,
    /// Since when it stops, and why.
    stops: Option<(Duration, String)>,
    trouble: Option<Trouble>,
    told_alive: Duration,
    ticked: Duration,
    out: VecDeque<(String, Vec<u8>)>,
    news: VecDeque<News>,
    said_wrong: bool,
}

impl Lead {
    /// Leads a run of that id by this number of agents, who must come within `wait`. The id has letters, digits, `-` and `_`.
    #[must_use]
    pub fn new(run: &str, plan: SharedPlan, agents: u32, wait: Duration) -> Self {
        debug_assert!(is_id(run));
        Self {
            run: run.to_owned(),
            plan,
            wanted: agents,
            wait,
            members: Vec::new(),
            start: None,
            stops: None,
            trouble: None,
            told_alive: Duration::ZERO,
            ticked: Duration::ZERO,
            out: VecDeque::new(),
            news: VecDeque::new(),
            said_wrong: false,
        }
    }

    /// The agents of the run.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// What went wrong first, if anything did.
    #[must_use]
    pub fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }

    /// Blocks that the agents have said to have done.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.members.iter().map(|member| member.blocks).sum()
    }

    /// When the run started, or will, once all were ready.
    #[must_use]
    pub fn start(&self) -> Option<Duration> {
        self.start
    }

    /// Whether every agent has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let began = self.start.is_some() || self.stops.is_some();
        began && self.members.iter().all(Member::is_over)
    }

    /// The next message to send, and to which agent.
    pub fn send(&mut self) -> Option<(String, Vec<u8>)> {
        self.out.pop_front()
    }

    /// The next of what happened.
    pub fn news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// Asks all to stop and to report what they have.
    pub fn stop(&mut self, reason: &str, now: Duration) {
        if self.stops.is_some() {
            return;
        }
        self.stops = Some((now, plain(reason)));
        for at in 0..self.members.len() {
            self.say_stop(at);
            let member = &mut self.members[at];
            // Who has not begun has nothing to report.
            if matches!(member.phase, Phase::Planned | Phase::Ready) {
                member.phase = Phase::Over(Ended::Gone("stopped before it began".to_owned()));
            }
        }
    }

    /// Takes a message.
    pub fn heard(&mut self, bytes: &[u8], now: Duration) {
        let message = match Envelope::<FromAgent>::read(bytes) {
            Ok(message) => message,
            Err(error) => {
                // One is enough: it may come every second.
                if !std::mem::replace(&mut self.said_wrong, true) {
                    self.news.push_back(News::Wrong(match &error {
                        WrongMessage::Version { .. } => format!("an agent cannot join: {error}"),
                        _ => error.to_string(),
                    }));
                }
                return;
            }
        };
        let found = self
            .members
            .iter()
            .position(|member| member.id == message.agent);
        match (found, message.says) {
            (None, FromAgent::Hello { name }) => self.join(message.agent, &name, now),
            (Some(at), says) if says == FromAgent::Busy || message.run.is_none() => {
                let member = &mut self.members[at];
                if says == FromAgent::Busy && member.phase == Phase::Planned {
                    self.members.remove(at);
                } else {
                    member.heard = now;
                }
            }
            (Some(at), says) if message.run.as_deref() == Some(&*self.run) => {
                self.members[at].heard = now;
                self.member_says(at, says, now);
            }
            _ => {}
        }
    }

    fn join(&mut self, id: String, name: &str, now: Duration) {
        let reason = match &self.stops {
            Some((_, reason)) => Some(format!("the run was stopped: {reason}")),
            None if self.members.len() >= self.wanted as usize => {
                Some(format!("the run has its {} agents", self.wanted))
            }
            None => None,
        };
        if let Some(reason) = reason {
            return self.say(&id, FromLead::Away { reason });
        }
        let is_free = |nth: &u32| self.members.iter().all(|member| member.nth != *nth);
        self.members.push(Member {
            id,
            name: plain(name),
            // Others may have left.
            nth: (0..self.wanted).find(is_free).unwrap_or(0),
            phase: Phase::Planned,
            heard: now,
            sent: now,
            told: None,
            round_trip: None,
            blocks: 0,
            pieces: Vec::new(),
        });
        let (name, here) = (plain(name), self.members.len());
        self.news.push_back(News::Came { name, here });
        self.say_plan(here - 1);
    }

    fn member_says(&mut self, at: usize, says: FromAgent, now: Duration) {
        let member = &mut self.members[at];
        match (says, &member.phase) {
            (FromAgent::Piece { .. }, Phase::Over(Ended::Reported(_))) => {
                let id = member.id.clone();
                self.say(&id, FromLead::Received);
            }
            (_, Phase::Over(_)) => {}
            (FromAgent::Ready, Phase::Planned) => member.phase = Phase::Ready,
            (FromAgent::Starting, Phase::Told) => {
                member.round_trip = member.told.map(|told| now.saturating_sub(told));
                member.phase = Phase::Runs;
            }
            (FromAgent::Alive { blocks }, _) => member.blocks = member.blocks.max(blocks),
            (FromAgent::Refused { reason }, _) => {
                let (name, reason) = (member.name.clone(), plain(&reason));
                member.phase = Phase::Over(Ended::Gone(reason.clone()));
                // One that was told to stop before it began has nothing to report.
                if self.stops.is_none() {
                    self.fail(Trouble::Refused { name, reason }, now);
                }
            }
            (FromAgent::Piece { nth, of, text }, _) => self.piece(at, nth, of, text, now),
            _ => {}
        }
    }

    fn piece(&mut self, at: usize, nth: u32, of: u32, text: String, now: Duration) {
        let member = &mut self.members[at];
        if nth >= of || of > PIECES_MAX {
            return;
        }
        if member.pieces.len() != of as usize {
            member.pieces = vec![None; of as usize];
        }
        member.pieces[nth as usize] = Some(text);
        let whole: Option<Vec<&str>> = member.pieces.iter().map(Option::as_deref).collect();
        let Some(whole) = whole.map(|pieces| pieces.concat()) else {
            return;
        };
        member.pieces.clear();
        let (id, name) = (member.id.clone(), member.name.clone());
        match read_json(whole.as_bytes()) {
            Ok(report) => member.phase = Phase::Over(Ended::Reported(Box::new(report))),
            Err(error) => {
                let reason = format!("its report cannot be read: {error}");
                member.phase = Phase::Over(Ended::Gone(reason.clone()));
                self.fail(Trouble::Refused { name, reason }, now);
            }
        }
        self.say(&id, FromLead::Received);
    }

    /// Looks at the time.
    pub fn tick(&mut self, now: Duration) {
        // While it stood still itself it could hear nothing.
        let stood = stood_still(std::mem::replace(&mut self.ticked, now), now);
        for member in &mut self.members {
            member.heard += stood;
        }
        if self.start.is_none() && self.stops.is_none() {
            self.gather(now);
        }
        if now.saturating_sub(self.told_alive) >= ALIVE {
            self.told_alive = now;
            for at in 0..self.members.len() {
                if !self.members[at].is_over() {
                    let id = self.members[at].id.clone();
                    self.say(&id, FromLead::Alive);
                }
            }
        }
        for at in 0..self.members.len() {
            self.look_at(at, now);
        }
        if let Some((since, _)) = self.stops
            && now.saturating_sub(since) > REPORT_WITHIN
        {
            for member in self.members.iter_mut().filter(|member| !member.is_over()) {
                member.phase = Phase::Over(Ended::Gone("did not report".to_owned()));
            }
        }
    }

    /// Until all are ready.
    fn gather(&mut self, now: Duration) {
        let here = self.members.len();
        let is_ready = |member: &Member| member.phase == Phase::Ready;
        if here == self.wanted as usize && self.members.iter().all(is_ready) {
            let start = now + START_IN;
            self.start = Some(start);
            self.news.push_back(News::Starts(START_IN));
            for at in 0..here {
                let member = &mut self.members[at];
                (member.phase, member.told) = (Phase::Told, Some(now));
                self.say_start(at, start, now);
            }
        } else if here < self.wanted as usize && now > self.wait {
            let trouble = Trouble::Missing {
                came: here,
                wanted: self.wanted as usize,
                within: self.wait,
            };
            self.fail(trouble, now);
        }
    }

    /// Whether an agent lives, and what has to be said again.
    fn look_at(&mut self, at: usize, now: Duration) {
        let member = &self.members[at];
        if member.is_over() {
            return;
        }
        if now.saturating_sub(member.heard) > SILENCE {
            let name = member.name.clone();
            if self.start.is_none() && self.stops.is_none() {
                // Another one may come in its place.
                self.members[at].phase = Phase::Over(Ended::Gone("vanished".to_owned()));
                self.members.retain(|member| !member.is_over());
                return;
            }
            self.members[at].phase = Phase::Over(Ended::Gone("vanished".to_owned()));
            return self.fail(Trouble::Vanished { name }, now);
        }
        if now.saturating_sub(member.sent) < AGAIN {
            return;
        }
        match (&member.phase, self.start, &self.stops) {
            (Phase::Told | Phase::Runs, _, Some(_)) => self.say_stop(at),
            (Phase::Planned, ..) => self.say_plan(at),
            (Phase::Told, Some(start), None) => self.say_start(at, start, now),
            _ => return,
        }
        self.members[at].sent = now;
    }

    fn fail(&mut self, trouble: Trouble, now: Duration) {
        let reason = trouble.to_string();
        self.trouble.get_or_insert(trouble);
        self.stop(&reason, now);
    }

    fn say(&mut self, agent: &str, says: FromLead) {
        let message = Envelope::new(Some(&self.run), agent, says);
        self.out.push_back((agent.to_owned(), message.bytes()));
    }

    fn say_plan(&mut self, at: usize) {
        let member = &self.members[at];
        let plan = Box::new(self.plan.part(member.nth, self.wanted));
        let id = member.id.clone();
        self.say(&id, FromLead::Plan { plan });
    }

    fn say_start(&mut self, at: usize, start: Duration, now: Duration) {
        let left = start.saturating_sub(now).as_nanos();
        let in_ns = u64::try_from(left).unwrap_or(u64::MAX);
        let id = self.members[at].id.clone();
        self.say(&id, FromLead::Start { in_ns });
    }

    fn say_stop(&mut self, at: usize) {
        let Some((_, reason)) = &self.stops else {
            return;
        };
        let (id, reason) = (self.members[at].id.clone(), reason.clone());
        self.say(&id, FromLead::Stop { reason });
    }
}
