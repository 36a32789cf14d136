//! What benchmarks tell on the way, on the terminal.

use std::cell::RefCell;

use bench::{Context, Error, Watch};

use crate::failure::Failure;
use crate::session::Session;
use crate::term::live::Live;
use crate::term::progress::Progress;
use crate::term::{message, signal};

/// Shows the steps of a benchmark as a bar or in a live view, and stops it when the user does.
#[derive(Debug)]
pub(crate) struct Watcher<'l> {
    shows: bool,
    live: Option<&'l Live>,
    bar: RefCell<Option<Progress>>,
}

impl<'l> Watcher<'l> {
    /// A watcher with a bar, if `shows` and on a terminal.
    pub(crate) fn new(shows: bool) -> Self {
        Self {
            shows,
            live: None,
            bar: RefCell::new(None),
        }
    }

    /// The same with a live view in place of a bar, if there is one.
    pub(crate) fn live(self, live: Option<&'l Live>) -> Self {
        Self {
            shows: self.shows && live.is_none(),
            live,
            ..self
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

impl Watch for Watcher<'_> {
    fn is_stopped(&self) -> bool {
        signal::interrupted()
    }

    fn doing(&self, what: &str) {
        if let Some(live) = self.live {
            live.now(what.to_owned());
        }
    }

    fn expect(&self, steps: u64) {
        if let Some(live) = self.live {
            live.expect(steps);
        }
        let bar = Progress::steps(self.shows, steps);
        self.bar.replace(Some(bar));
    }

    fn advance(&self, steps: u64) {
        if let Some(live) = self.live {
            live.advance(steps);
        }
        if let Some(bar) = &*self.bar.borrow() {
            bar.add(steps);
        }
    }

    fn finish(&self) {
        if let Some(live) = self.live {
            live.finish();
        }
        if let Some(bar) = self.bar.take() {
            bar.finish();
        }
    }

    fn warn(&self, error: &Error) {
        message::failure(&Failure::from(error));
    }
}
