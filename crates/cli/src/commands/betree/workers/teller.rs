//! What a worker says of troubles while it goes on: the first few of a kind in full, the others as a number.

use std::cell::Cell;
use std::time::Duration;

use report::units::counted;
use tokio::time::Instant;
use workers::{Place, Reason, Trouble};

use crate::failure::Failure;
use crate::term::message;

/// Dead letters, and attempts that failed, that are told each by itself.
const NAMED_MAX: u64 = 3;
/// How often troubles with the broker are told.
const QUIET: Duration = Duration::from_secs(10);

/// Tells of troubles.
pub(super) struct Teller {
    /// Whether warnings are wanted.
    tells: bool,
    broker: Cell<Option<Instant>>,
    failed: Cell<u64>,
    dead: Cell<u64>,
}

impl Teller {
    pub(super) fn new(tells: bool) -> Self {
        Self {
            tells,
            broker: Cell::new(None),
            failed: Cell::new(0),
            dead: Cell::new(0),
        }
    }

    pub(super) fn tell(&self, trouble: Trouble) {
        match trouble {
            Trouble::Broker(reason) if self.tells => {
                let now = Instant::now();
                if self.broker.get().is_none_or(|at| now - at > QUIET) {
                    self.broker.set(Some(now));
                    message::remark(&format!(
                        "the server does not do what it was asked, and is asked again: {reason}"
                    ));
                }
            }
            Trouble::Failed(place, reason) if self.tells && is_named(&self.failed) => {
                let (block, reason) = (shown(&place), reason.text);
                message::remark(&format!("{block} failed, and is given back: {reason}"));
            }
            Trouble::Dead(place, reason) if is_named(&self.dead) => {
                let Reason { text, help } = reason;
                let failure = Failure::new(format!("{} is a dead letter: {text}", shown(&place)));
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

fn shown(place: &Place) -> String {
    format!("block {} of {}", place.sequence, place.stream)
}

/// Counts one, and says whether it is told by itself.
fn is_named(counted: &Cell<u64>) -> bool {
    counted.set(counted.get() + 1);
    counted.get() <= NAMED_MAX
}

/// What to do about the cause, and about the block, which the workers of this consumer do not get again.
fn advice(help: Option<String>) -> String {
    let cause = help.unwrap_or_else(|| "mend the cause".to_owned());
    format!("{cause}; then workers with another --consumer answer its block after all")
}
