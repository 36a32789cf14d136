//! Why the reading of a stream ends before its end, and what comes of that.

use report::Outcome;

use crate::failure::{Failure, reason};
use crate::term::message;

/// Why reading ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The reader of the results is gone.
    Closed,
    /// All that was asked for is done.
    Enough,
    Failed(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Why threads that work in order stopped; `role` says which.
pub(crate) fn of_threads(error: ordered::Error<Stop>, role: &str) -> Stop {
    let failure = match error {
        ordered::Error::Receiver(stop) => return stop,
        ordered::Error::Thread(error) => {
            Failure::new(format!("cannot start a thread: {}", reason(&error))).help("use one: -T1")
        }
        _ => Failure::new(format!("{role} panicked"))
            .help("please report this as a bug with the command line"),
    };
    Stop::Failed(failure)
}

/// Says how a run that stopped ended.
pub(crate) fn stopped(stop: Stop, outcome: &mut Outcome) {
    match stop {
        // The reader of the pipe has seen enough.
        Stop::Closed | Stop::Enough => {}
        Stop::Failed(failure) => {
            message::failure(&failure);
            outcome.complete = false;
            outcome.status = failure.exit_status();
        }
    }
}
