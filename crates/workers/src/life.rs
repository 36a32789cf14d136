//! The life of one delivery: what is to be done with it next. No I/O, no clock: events and times come in, actions go
//! out.
//!
//! ```text
//! given out ─┬─ at most `deliveries` times ─► match ─┬─ answer ─► publish ─► acknowledge
//!            │                                       └─ failure ─┬─ before the last time ─► give back, later
//!            └─ more often ─► dead letter ◄──────────────────────┘ the last time, or for ever
//! ```
//!
//! A block is acknowledged only after its answer, or its dead letter, is stored. Until then every attempt to publish
//! carries the same id, so that the broker keeps one.

use std::time::Duration;

use crate::engine::{Published, To, Verdict};
use crate::error::Error;

/// What bounds a life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long the broker waits for an acknowledgement before it gives a block out again.
    pub ack_wait: Duration,
    /// How often a block is given out before it is a dead letter.
    pub deliveries: u64,
}

/// The first pause after something failed; each further one is twice as long.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// The pause before an attempt, when so many have failed.
#[must_use]
pub fn pause(failed: u64) -> Duration {
    let doubled = u32::try_from(failed.saturating_sub(1).min(16)).unwrap_or(16);
    PAUSE_MIN
        .saturating_mul(1 << doubled.min(16))
        .min(PAUSE_MAX)
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Match the block.
    Match,
    /// Publish, not before this time.
    Publish(To, Duration),
    /// Acknowledge, and forget the block.
    End(Verdict),
}

/// How a life ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Its answer is stored.
    Answered,
    /// An answer had been stored before.
    AnsweredBefore,
    /// It failed, and is given out again.
    Returned,
    /// It is a dead letter.
    Dead,
}

/// Why a block was not answered, and what may help.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reason {
    /// Why.
    pub text: String,
    /// What may help.
    pub help: Option<String>,
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self { text, help: None }
    }
}

/// What went wrong with a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// This attempt failed.
    Once(Reason),
    /// Every attempt would.
    Always(Reason),
}

/// What may help where a block ends or stops its workers.
const WORN: &str = "its events may take too much time or memory: try them with `betree match` without a broker, and see \
                    --ack-wait";

/// One delivery on its way.
#[derive(Debug)]
pub struct Life {
    limits: Limits,
    count: u64,
    /// Publications that failed.
    failed: u64,
    to: To,
    reason: Option<Reason>,
    fate: Option<Fate>,
    /// The last report of progress, and the steps by then.
    told: Duration,
    steps: u64,
}

impl Life {
    /// A delivery that was given out `count` times, at a time.
    #[must_use]
    pub fn new(limits: Limits, count: u64, now: Duration) -> Self {
        let is_worn = count > limits.deliveries;
        let reason = is_worn.then(|| {
            let times = limits.deliveries;
            Reason {
                text: format!("given out {times} times, and never acknowledged"),
                help: Some(WORN.to_owned()),
            }
        });
        Self {
            limits,
            count,
            failed: 0,
            to: match is_worn {
                true => To::DeadLetters,
                false => To::Answers,
            },
            reason,
            fate: None,
            told: now,
            steps: 0,
        }
    }

    /// What to do first.
    #[must_use]
    pub fn first(&self, now: Duration) -> Action {
        match self.to {
            To::Answers => Action::Match,
            To::DeadLetters => Action::Publish(To::DeadLetters, now),
        }
    }

    /// The block was matched, or could not be.
    pub fn matched(&mut self, result: Result<(), Fault>, now: Duration) -> Action {
        let (reason, is_last) = match result {
            Ok(()) => return Action::Publish(To::Answers, now),
            Err(Fault::Once(reason)) => (reason, self.count >= self.limits.deliveries),
            Err(Fault::Always(reason)) => (reason, true),
        };
        self.reason = Some(reason);
        match is_last {
            true => self.bury(now),
            false => {
                self.fate = Some(Fate::Returned);
                Action::End(Verdict::Again(pause(self.count)))
            }
        }
    }

    /// Something was published, or could not be.
    pub fn published(&mut self, result: &Result<Published, Error>, now: Duration) -> Action {
        match (result, self.to) {
            (Ok(published), To::Answers) => {
                self.fate = Some(match published {
                    Published::Stored => Fate::Answered,
                    Published::Duplicate => Fate::AnsweredBefore,
                });
                Action::End(Verdict::Done)
            }
            (Ok(_), To::DeadLetters) => {
                self.fate = Some(Fate::Dead);
                Action::End(Verdict::Never)
            }
            // Others may be let in. What publishes is to end, for nothing of it would be stored.
            (Err(error), _) if error.is_for_ever() => {
                self.reason = Some(Reason {
                    text: error.to_string(),
                    help: error.help().map(str::to_owned),
                });
                self.fate = Some(Fate::Returned);
                Action::End(Verdict::Again(pause(self.count)))
            }
            (Err(error @ Error::TooLong { .. }), To::Answers) => {
                self.reason = Some(Reason {
                    text: format!("its answer cannot be published: {error}"),
                    help: error.help().map(str::to_owned),
                });
                self.bury(now)
            }
            (Err(_), to) => {
                self.failed += 1;
                Action::Publish(to, now + pause(self.failed))
            }
        }
    }

    fn bury(&mut self, now: Duration) -> Action {
        self.to = To::DeadLetters;
        Action::Publish(To::DeadLetters, now)
    }

    /// When to look at its progress.
    #[must_use]
    pub fn next_look(&self) -> Duration {
        self.told + self.limits.ack_wait / 3
    }

    /// Whether to report progress to the broker, at the time of [`Self::next_look`]. `steps` are those of the work; while
    /// it waits for others of this worker, or for the broker, there are none to count.
    pub fn reports(&mut self, steps: Option<u64>, now: Duration) -> bool {
        self.told = now;
        match steps {
            Some(steps) => std::mem::replace(&mut self.steps, steps) != steps,
            None => true,
        }
    }

    /// Why it was not answered.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_ref().map(|reason| reason.text.as_str())
    }

    /// The same, with what may help.
    #[must_use]
    pub fn why(&self) -> Reason {
        self.reason.clone().unwrap_or_default()
    }

    /// How it ended, once it has.
    #[must_use]
    pub fn fate(&self) -> Option<Fate> {
        self.fate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        ack_wait: Duration::from_secs(30),
        deliveries: 5,
    };
    const NOW: Duration = Duration::from_secs(7);

    fn later() -> Result<Published, Error> {
        Err(Error::Later("no answer".to_owned()))
    }

    #[test]
    fn an_answer_is_stored_before_the_block_is_acknowledged() {
        for (published, fate) in [
            (Published::Stored, Fate::Answered),
            (Published::Duplicate, Fate::AnsweredBefore),
        ] {
            let mut life = Life::new(LIMITS, 1, NOW);
            assert_eq!(life.first(NOW), Action::Match);
            let action = life.matched(Ok(()), NOW);
            assert_eq!(action, Action::Publish(To::Answers, NOW));
            let action = life.published(&later(), NOW);
            assert_eq!(action, Action::Publish(To::Answers, NOW + PAUSE_MIN));
            assert_eq!(life.fate(), None);
            let action = life.published(&Ok(published), NOW);
            assert_eq!(action, Action::End(Verdict::Done));
            assert_eq!(life.fate(), Some(fate));
        }
    }

    #[test]
    fn what_the_broker_refuses_for_ever_is_given_back() {
        for count in [1, 5, 6] {
            let mut life = Life::new(LIMITS, count, NOW);
            life.matched(Ok(()), NOW);
            let refused = Err(Error::refused("not permitted", "ask for it"));
            let action = life.published(&refused, NOW);
            assert_eq!(action, Action::End(Verdict::Again(pause(count))));
            assert_eq!(life.fate(), Some(Fate::Returned));
            assert_eq!(life.reason(), Some("not permitted"));
        }
    }

    #[test]
    fn the_fifth_failure_is_a_dead_letter() {
        for count in 1..=5 {
            let mut life = Life::new(LIMITS, count, NOW);
            let action = life.matched(Err(Fault::Once("bad".to_owned().into())), NOW);
            if count < 5 {
                assert_eq!(action, Action::End(Verdict::Again(pause(count))));
                assert_eq!(life.fate(), Some(Fate::Returned));
                continue;
            }
            assert_eq!(action, Action::Publish(To::DeadLetters, NOW));
            // Nothing is acknowledged before the dead letter is stored.
            let action = life.published(&later(), NOW);
            assert_eq!(action, Action::Publish(To::DeadLetters, NOW + PAUSE_MIN));
            let action = life.published(&Ok(Published::Stored), NOW);
            assert_eq!(action, Action::End(Verdict::Never));
            assert_eq!(life.fate(), Some(Fate::Dead));
            assert_eq!(life.reason(), Some("bad"));
        }
    }

    #[test]
    fn a_block_that_kills_its_workers_is_not_matched_a_sixth_time() {
        let mut life = Life::new(LIMITS, 6, NOW);
        assert_eq!(life.first(NOW), Action::Publish(To::DeadLetters, NOW));
        assert!(life.reason().is_some_and(|reason| reason.contains('5')));
        let action = life.published(&Ok(Published::Duplicate), NOW);
        assert_eq!(action, Action::End(Verdict::Never));
    }

    #[test]
    fn what_will_never_fit_is_a_dead_letter_at_once() {
        let mut life = Life::new(LIMITS, 1, NOW);
        life.matched(Ok(()), NOW);
        let too_long = Err(Error::TooLong {
            bytes: 2,
            bytes_max: 1,
        });
        let action = life.published(&too_long, NOW);
        assert_eq!(action, Action::Publish(To::DeadLetters, NOW));
    }

    #[test]
    fn progress_is_reported_only_where_there_is_some() {
        let mut life = Life::new(LIMITS, 1, NOW);
        assert_eq!(life.next_look(), NOW + Duration::from_secs(10));
        let now = life.next_look();
        assert!(life.reports(Some(3), now));
        let now = life.next_look();
        assert!(!life.reports(Some(3), now), "the work stands still");
        let now = life.next_look();
        assert!(life.reports(None, now), "it waits for the broker");
    }

    #[test]
    fn pauses_grow_to_a_limit() {
        assert_eq!(pause(1), PAUSE_MIN);
        assert_eq!(pause(2), 2 * PAUSE_MIN);
        assert_eq!(pause(7), PAUSE_MAX);
        assert_eq!(pause(u64::MAX), PAUSE_MAX);
    }
}
