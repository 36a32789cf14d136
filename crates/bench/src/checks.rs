//! Answers that a benchmark checks outside its timed spans, and what comes of wrong ones.

use latency::report::Validation;
use report::{ExitStatus, Outcome};

/// What was checked so far.
#[derive(Debug, Default)]
pub struct Checks {
    done: u64,
    wrong: u64,
    /// How many of the wrong answers were caused on purpose.
    by_faults: u64,
}

impl Checks {
    /// Counts one answer, right or wrong.
    pub fn that(&mut self, right: bool) {
        self.add(1, u64::from(!right));
    }

    /// Counts `done` answers, of which `wrong` are wrong.
    pub fn add(&mut self, done: u64, wrong: u64) {
        self.done += done;
        self.wrong += wrong;
    }

    /// Counts `done` answers, of which `wrong` are wrong, `by_faults` of them because of injected faults.
    pub fn add_faulty(&mut self, done: u64, wrong: u64, by_faults: u64) {
        self.add(done, wrong);
        self.by_faults += by_faults;
    }

    /// A zstd frame, which has to hold the content.
    #[cfg(feature = "compress")]
    pub fn frame(&mut self, frame: &[u8], content: &[u8]) {
        let back = zstdkit::decompress(frame, &zstdkit::DecoderOptions::default());
        self.that(back.is_ok_and(|back| back == content));
    }

    /// Says in the outcome what was checked by `method`. A wrong answer that no fault explains makes the
    /// run a failure. A run that was `stopped` ends as interrupted, which comes before that.
    pub fn conclude(self, method: &str, outcome: &mut Outcome, stopped: bool) {
        outcome.validation = Some(Validation {
            wrong_by_faults: self.by_faults,
            ..Validation::new(method, self.done, self.wrong)
        });
        if stopped {
            outcome.complete = false;
            outcome.status = ExitStatus::Interrupted;
        } else if self.wrong > self.by_faults {
            outcome.status = ExitStatus::Failure;
        }
    }
}
