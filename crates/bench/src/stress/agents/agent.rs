//! The side that does a part: it asks for one, says that it can do it, starts when it is told to, and reports.

use std::collections::VecDeque;
use std::time::Duration;

use super::message::{Envelope, FromAgent, FromLead, PIECE_BYTES, WrongMessage, is_id, plain};
use super::part::SharedPlan;
use super::{AGAIN, ALIVE, SILENCE, stood_still};

/// What an agent has to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// Prepare this part, and say [`Agent::ready`] or [`Agent::refuse`].
    Prepare(Box<SharedPlan>),
    /// Start at this time; then [`Agent::report`].
    Start(Duration),
    /// Stop, for this reason, and report what there is.
    Stop(String),
    /// The report is there, and this is the end.
    Done,
    /// This is the end, for this reason.
    Failed(String),
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    /// Until there is a lead.
    Looks,
    /// The caller prepares.
    Prepares,
    /// Until there is a start.
    Ready,
    Runs,
    /// Until the lead has these pieces.
    Reports(Vec<String>),
    Over,
}

/// One of the agents of a run.
#[derive(Debug)]
pub struct Agent {
    id: String,
    name: String,
    wait: Duration,
    run: Option<String>,
    phase: Phase,
    blocks: u64,
    /// When the lead was last heard, something was last said, and pieces were last sent.
    heard: Duration,
    said: Option<Duration>,
    sent: Option<Duration>,
    ticked: Duration,
    is_stopped: bool,
    out: VecDeque<Vec<u8>>,
    orders: VecDeque<Order>,
}

impl Agent {
    /// An agent that waits this long for a lead. Its id tells it from all others, and has letters, digits, `-` and `_`; its
    /// name is for people.
    #[must_use]
    pub fn new(id: &str, name: &str, wait: Duration) -> Self {
        debug_assert!(is_id(id));
        Self {
            id: id.to_owned(),
            name: plain(name),
            wait,
            run: None,
            phase: Phase::Looks,
            blocks: 0,
            heard: Duration::ZERO,
            said: None,
            sent: None,
            ticked: Duration::ZERO,
            is_stopped: false,
            out: VecDeque::new(),
            orders: VecDeque::new(),
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The next message to send to the lead.
    pub fn send(&mut self) -> Option<Vec<u8>> {
        self.out.pop_front()
    }

    /// The next thing to do.
    pub fn order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// The part is prepared.
    pub fn ready(&mut self, now: Duration) {
        if self.phase == Phase::Prepares {
            self.phase = Phase::Ready;
            self.say(FromAgent::Ready, now);
        }
    }

    /// The part cannot be done, or not any more: the end.
    pub fn refuse(&mut self, reason: &str, now: Duration) {
        if self.phase != Phase::Over {
            let reason = plain(reason);
            self.say(FromAgent::Refused { reason }, now);
            self.phase = Phase::Over;
        }
    }

    /// Takes how many blocks are done.
    pub fn progress(&mut self, blocks: u64) {
        self.blocks = blocks;
    }

    /// The run has ended, and this is its report as JSON.
    pub fn report(&mut self, report: &str) {
        if self.phase != Phase::Over {
            self.phase = Phase::Reports(pieces(report));
        }
    }

    /// Takes a message.
    pub fn heard(&mut self, bytes: &[u8], now: Duration) {
        let message = match Envelope::<FromLead>::read(bytes) {
            Ok(message) if message.agent == self.id => message,
            Err(error @ WrongMessage::Version { .. }) if self.phase == Phase::Looks => {
                return self.fail(error.to_string());
            }
            _ => return,
        };
        match (&self.run, message.run) {
            (_, None) => return,
            (Some(own), Some(run)) if *own != run => {
                // Only who does not know it yet has to be told.
                if matches!(message.says, FromLead::Plan { .. }) {
                    self.say(FromAgent::Busy, now);
                }
                return;
            }
            (None, Some(run)) => match &message.says {
                FromLead::Plan { .. } => self.run = Some(run),
                FromLead::Away { .. } => {}
                _ => return,
            },
            _ => {}
        }
        self.heard = now;
        match (message.says, &self.phase) {
            (_, Phase::Over) => {}
            (FromLead::Plan { plan }, Phase::Looks) => {
                self.phase = Phase::Prepares;
                self.orders.push_back(Order::Prepare(plan));
            }
            // What was said to it got lost.
            (FromLead::Plan { .. }, Phase::Ready) => self.say(FromAgent::Ready, now),
            (FromLead::Start { in_ns }, Phase::Ready) => {
                self.phase = Phase::Runs;
                let at = now + Duration::from_nanos(in_ns);
                self.orders.push_back(Order::Start(at));
                self.say(FromAgent::Starting, now);
            }
            (FromLead::Start { .. }, Phase::Runs) => self.say(FromAgent::Starting, now),
            (FromLead::Stop { reason }, Phase::Runs) => self.stop(plain(&reason)),
            (FromLead::Stop { reason }, Phase::Looks | Phase::Prepares | Phase::Ready) => {
                let reason = plain(&reason);
                self.refuse(&reason, now);
                self.orders.push_back(Order::Failed(reason));
            }
            (FromLead::Received, Phase::Reports(_)) => {
                self.phase = Phase::Over;
                self.orders.push_back(Order::Done);
            }
            (FromLead::Away { reason }, Phase::Looks) => self.fail(plain(&reason)),
            _ => {}
        }
    }

    /// Looks at the time.
    pub fn tick(&mut self, now: Duration) {
        // While it stood still itself it could hear nothing.
        self.heard += stood_still(std::mem::replace(&mut self.ticked, now), now);
        let silent = now.saturating_sub(self.heard) > SILENCE;
        match &self.phase {
            Phase::Over => return,
            Phase::Looks if now > self.wait => {
                let seconds = self.wait.as_secs_f64();
                return self.fail(format!("no run began within {seconds} s"));
            }
            Phase::Runs if silent => {
                self.stop(format!(
                    "nothing was heard of the lead for {} s",
                    SILENCE.as_secs()
                ));
            }
            Phase::Prepares | Phase::Ready | Phase::Reports(_) if silent => {
                return self.fail("the lead has vanished".to_owned());
            }
            _ => {}
        }
        let since = |time: Option<Duration>| time.map(|time| now.saturating_sub(time));
        let is_due = |time, every: Duration| since(time).is_none_or(|passed| passed >= every);
        match &self.phase {
            Phase::Looks if is_due(self.said, AGAIN) => {
                let name = self.name.clone();
                self.say(FromAgent::Hello { name }, now);
            }
            Phase::Reports(pieces) if is_due(self.sent, ALIVE) => {
                let (of, pieces) = (pieces.len(), pieces.clone());
                for (nth, text) in pieces.into_iter().enumerate() {
                    let number = |value| u32::try_from(value).unwrap_or(u32::MAX);
                    let (nth, of) = (number(nth), number(of));
                    self.say(FromAgent::Piece { nth, of, text }, now);
                }
                self.sent = Some(now);
            }
            _ if is_due(self.said, ALIVE) => {
                let blocks = self.blocks;
                self.say(FromAgent::Alive { blocks }, now);
            }
            _ => {}
        }
    }

    fn stop(&mut self, reason: String) {
        if !std::mem::replace(&mut self.is_stopped, true) {
            self.orders.push_back(Order::Stop(reason));
        }
    }

    fn fail(&mut self, reason: String) {
        self.phase = Phase::Over;
        self.orders.push_back(Order::Failed(reason));
    }

    fn say(&mut self, says: FromAgent, now: Duration) {
        let message = Envelope::new(self.run.as_deref(), &self.id, says);
        self.out.push_back(message.bytes());
        self.said = Some(now);
    }
}

/// A text in pieces of limited length; at least one.
fn pieces(mut text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    while text.len() > PIECE_BYTES {
        let mut end = PIECE_BYTES;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        pieces.push(text[..end].to_owned());
        text = &text[end..];
    }
    pieces.push(text.to_owned());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_text() {
        for length in [0, 1, PIECE_BYTES, 3 * PIECE_BYTES + 5] {
            let text: String = "äb".chars().cycle().take(length).collect();
            let pieces = pieces(&text);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().all(|piece| piece.len() <= PIECE_BYTES));
        }
    }
}
