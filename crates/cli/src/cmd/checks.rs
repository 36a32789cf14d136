//! Answers that a command checks outside its timed spans, and what comes of wrong ones.

use latency::report::Validation;

use crate::exit::ExitStatus;
use crate::session::Outcome;
use crate::term::signal;

/// What was checked so far.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    done: u64,
    wrong: u64,
}

impl Checks {
    /// One answer, which is right or not.
    pub(crate) fn that(&mut self, right: bool) {
        self.add(1, u64::from(!right));
    }

    /// Many answers, of which some are wrong.
    pub(crate) fn add(&mut self, done: u64, wrong: u64) {
        self.done += done;
        self.wrong += wrong;
    }

    /// A frame, which has to hold the content.
    pub(crate) fn frame(&mut self, frame: &[u8], content: &[u8]) {
        let back = zstdkit::decompress(frame, &zstdkit::DecoderOptions::default());
        self.that(back.is_ok_and(|back| back == content));
    }

    /// Says in the outcome what was checked by `method`. A wrong answer makes the run a failure; an
    /// interruption, which says more of what is missing, comes before it.
    pub(crate) fn conclude(self, method: &str, outcome: &mut Outcome) {
        outcome.validation = Some(Validation {
            checked: self.done,
            method: method.to_owned(),
            ok: self.wrong == 0,
        });
        if signal::interrupted() {
            outcome.complete = false;
            outcome.status = ExitStatus::Interrupted;
        } else if self.wrong > 0 {
            outcome.status = ExitStatus::Failure;
        }
    }
}
