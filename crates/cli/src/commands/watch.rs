//! What benchmarks tell on the way, on the terminal.

use std::cell::RefCell;

use bench::{Context, Error, Watch};

use crate::failure::Failure;
use crate::session::Session;
use crate::term::progress::Progress;
use crate::term::{message, signal};

/// Shows the steps of a benchmark as a bar, and stops it when the user does.
#[derive(Debug)]
pub(crate) struct Watcher {
    shows: bool,
    bar: RefCell<Option<Progress>>,
}

impl Watcher {
    /// A watcher with a bar, if `shows` and on a terminal.
    pub(crate) fn new(shows: bool) -> Self {
        Self {
            shows,
            bar: RefCell::new(None),
        }
    }

    /// What a benchmark of this session runs in.
    pub(crate) fn of<'a>(&'a self, session: &'a Session) -> Context<'a> {
        Context {
            run: session.run(),
            watch: self,
        }
    }
}

impl Watch for Watcher {
    fn is_stopped(&self) -> bool {
        signal::interrupted()
    }

    fn expect(&self, steps: u64) {
        let bar = Progress::steps(self.shows, steps);
        self.bar.replace(Some(bar));
    }

    fn advance(&self, steps: u64) {
        if let Some(bar) = &*self.bar.borrow() {
            bar.add(steps);
        }
    }

    fn finish(&self) {
        if let Some(bar) = self.bar.take() {
            bar.finish();
        }
    }

    fn warn(&self, error: &Error) {
        message::failure(&Failure::from(error));
    }
}
