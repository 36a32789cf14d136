//! Why the reading of a stream ends before its end, and what comes of that.

use report::Outcome;

use crate::failure::Failure;
use crate::term::message;

/// Why reading ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The reader of the results is gone.
    Closed,
    Failed(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Says how a run that stopped ended.
pub(crate) fn stopped(stop: Stop, outcome: &mut Outcome) {
    match stop {
        // The reader of the pipe has seen enough.
        Stop::Closed => {}
        Stop::Failed(failure) => {
            message::failure(&failure);
            outcome.complete = false;
            outcome.status = failure.exit_status();
        }
    }
}
