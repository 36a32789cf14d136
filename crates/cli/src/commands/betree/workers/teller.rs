//! Who looks on while a worker goes on: troubles are told, the first few of a kind in full, the others as a number.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use report::units::counted;
use tokio::time::Instant;
use workers::{Reason, Tally, Trouble, Watch};

use crate::failure::Failure;
use crate::term::message;

/// Dead letters, and attempts that failed, that are told each by itself.
const NAMED_MAX: u64 = 3;
/// How often troubles with the broker are told, and how often the same one again.
const QUIET: Duration = Duration::from_secs(10);
const QUIET_SAME: Duration = Duration::from_secs(60);

/// Tells of troubles.
pub(super) struct Teller {
    /// Whether warnings are wanted.
    tells: bool,
    broker: RefCell<Option<Told>>,
    failed: Cell<u64>,
    dead: Cell<u64>,
    seen: Cell<(Tally, usize)>,
}

/// A trouble with the broker that was told.
struct Told {
    at: Instant,
    reason: String,
    /// Those since then.
    more: u64,
}

impl Watch for Teller {
    fn tell(&self, trouble: Trouble) {
        self.told(trouble);
    }

    fn see(&self, tally: &Tally, in_flight: usize) {
        self.seen.set((*tally, in_flight));
    }
}

impl Teller {
    pub(super) fn new(tells: bool) -> Self {
        Self {
            tells,
            broker: RefCell::new(None),
            failed: Cell::new(0),
            dead: Cell::new(0),
            seen: Cell::default(),
        }
    }

    /// What the worker has done by now, and how many blocks it has.
    pub(super) fn seen(&self) -> (Tally, usize) {
        self.seen.get()
    }

    fn told(&self, trouble: Trouble) {
        match trouble {
            Trouble::Broker(reason) if self.tells => {
                let line = asked_again(&mut self.broker.borrow_mut(), reason, Instant::now());
                if let Some(line) = line {
                    message::remark(&line);
                }
            }
            Trouble::Failed(place, reason) if self.tells && is_named(&self.failed) => {
                let reason = reason.text;
                message::remark(&format!("{place} failed, and is given back: {reason}"));
            }
            Trouble::Dead(place, reason) if is_named(&self.dead) => {
                let Reason { text, help } = reason;
                let failure = Failure::new(format!("{place} is a dead letter: {text}"));
                message::failure(&failure.help(advice(help)));
            }
            _ => {}
        }
    }

    /// Says how many were not told.
    pub(super) fn end(&self) {
        let more = |counted: &Cell<u64>| counted.get().saturating_sub(NAMED_MAX);
        let (failed, dead) = (more(&self.failed), more(&self.dead));
        if failed > 0 {
            let failed = counted(failed, ["more attempt", "more attempts"]);
            message::remark(&format!(
                "{failed} failed, and their blocks were given back"
            ));
        }
        if dead > 0 {
            let failure = Failure::new(match dead {
                1 => "1 more block is a dead letter".to_owned(),
                dead => format!("{dead} more blocks are dead letters"),
            });
            message::failure(&failure.help(
                "the stream of dead letters has each of them with its reason (Perfkit-Reason)",
            ));
        }
    }
}

/// What to say of a server that does not do what it is asked, if it is time: of the same reason seldom, with a number.
fn asked_again(told: &mut Option<Told>, reason: String, now: Instant) -> Option<String> {
    let mut since = String::new();
    if let Some(told) = told {
        let quiet = match told.reason == reason {
            true => QUIET_SAME,
            false => QUIET,
        };
        if now - told.at <= quiet {
            told.more += 1;
            return None;
        }
        if told.more > 0 {
            since = format!(" ({} times more since this was said)", told.more);
        }
    }
    let line =
        format!("the server does not do what it was asked, and is asked again: {reason}{since}");
    *told = Some(Told {
        at: now,
        reason,
        more: 0,
    });
    Some(line)
}

/// Counts one, and says whether it is told by itself.
fn is_named(counted: &Cell<u64>) -> bool {
    counted.set(counted.get() + 1);
    counted.get() <= NAMED_MAX
}

/// What to do about the cause, and about the block, which the workers of this consumer do not get again.
fn advice(help: Option<String>) -> String {
    let cause = help.unwrap_or_else(|| "mend the cause".to_owned());
    format!("{cause}; then answer it after all: `betree match --from` the stream of dead letters")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_that_goes_on_is_said_seldom_with_a_number() {
        let start = Instant::now();
        let mut told = None;
        let mut at = |second: u64, reason: &str| {
            asked_again(
                &mut told,
                reason.to_owned(),
                start + Duration::from_secs(second),
            )
        };
        assert!(at(0, "timed out").is_some_and(|line| line.ends_with("again: timed out")));
        for second in 1..=60 {
            assert_eq!(at(second, "timed out"), None);
        }
        let line = at(61, "timed out").expect("a line");
        assert!(line.contains("timed out (60 times more since"), "{line}");
        assert_eq!(at(70, "is full"), None);
        assert!(at(72, "is full").is_some());
    }
}
