//! What a benchmark tells its caller on the way, and asks.

use report::Run;

use crate::Error;

/// Who watches a benchmark. `()` does nothing and never stops it.
pub trait Watch {
    /// Whether the benchmark has to stop. Asked before every operation: keep it quick.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Takes what is measured from now on.
    fn doing(&self, _what: &str) {}

    /// Takes the number of steps that will follow.
    fn expect(&self, _steps: u64) {}

    /// Takes the number of steps that were done since the last call.
    fn advance(&self, _steps: u64) {}

    /// All expected steps were taken, or will not be.
    fn finish(&self) {}

    /// Something went wrong that does not end the run.
    fn warn(&self, _error: &Error) {}

    /// Ends the work when it has to stop.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`].
    fn check(&self) -> Result<(), Error> {
        match self.is_stopped() {
            true => Err(Error::Stopped),
            false => Ok(()),
        }
    }
}

impl Watch for () {}

/// What a benchmark is run in.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The run that it is a part of.
    pub run: &'a Run,
    /// Who watches it.
    pub watch: &'a dyn Watch,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("run", self.run)
            .finish_non_exhaustive()
    }
}
