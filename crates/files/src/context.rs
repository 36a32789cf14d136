//! What the program around provides, as plain values: when to stop waiting, what stands in front of a
//! terminal, and who hears of temporary files.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that ends every wait with [`ErrorKind::Interrupted`](std::io::ErrorKind::Interrupted). Its
/// default is never set.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Option<Arc<AtomicBool>>);

impl Cancel {
    /// Follows `flag`, which a signal handler may set.
    #[must_use]
    pub fn new(flag: Arc<AtomicBool>) -> Self {
        Self(Some(flag))
    }

    /// Whether the flag is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        let flag = self.0.as_ref();
        flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Turns content into what may be printed on a terminal, in any cut.
pub trait TerminalFilter: Debug + Send {
    /// Appends to `out` what to print for `bytes`. The last few bytes may wait for the next chunk.
    fn show(&mut self, bytes: &[u8], out: &mut String);

    /// Appends the bytes that were waiting for the next chunk.
    fn end(&mut self, out: &mut String);
}

/// Makes a filter; `None` leaves the bytes as they are.
pub type MakeFilter = fn() -> Option<Box<dyn TerminalFilter>>;

/// What files need of the program that uses them. The default never stops a wait, filters nothing and
/// tells nothing.
#[derive(Debug, Clone, Default)]
pub struct Context {
    cancel: Cancel,
    filter: Option<MakeFilter>,
    before_temporary: Option<fn()>,
    leftover_removed: Option<fn(&str)>,
}

impl Context {
    /// Ends waits when this flag is set.
    #[must_use]
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Makes the filter of an output that is a terminal; `None` writes the bytes as they are.
    #[must_use]
    pub fn terminal(mut self, filter: MakeFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Is called before a temporary file gets a name. The place to have a signal call
    /// [`temporary::remove_all`](crate::temporary::remove_all) before it ends the process.
    #[must_use]
    pub fn before_temporary(mut self, call: fn()) -> Self {
        self.before_temporary = Some(call);
        self
    }

    /// Is called with the name of every file that a killed process left and that was removed.
    #[must_use]
    pub fn leftover_removed(mut self, call: fn(&str)) -> Self {
        self.leftover_removed = Some(call);
        self
    }

    /// The flag that ends waits.
    #[must_use]
    pub fn cancelled(&self) -> &Cancel {
        &self.cancel
    }

    pub(crate) fn filter(&self) -> Option<Box<dyn TerminalFilter>> {
        self.filter.and_then(|make| make())
    }

    pub(crate) fn makes_temporary(&self) {
        if let Some(call) = self.before_temporary {
            call();
        }
    }

    #[cfg(unix)]
    pub(crate) fn removed(&self, name: &str) {
        if let Some(call) = self.leftover_removed {
            call(name);
        }
    }
}
