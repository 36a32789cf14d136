//! What a set of connections may take, which interface it stands on, and why not on another.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::Duration;

use crate::names::{self, UnknownName, named};

/// The most connections of a set: a slot and what happens to it are one word of the kernel's.
const CONNECTIONS_MAX: usize = 1 << 15;

/// Which interface is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// `io_uring` where the system lets us, else `epoll`.
    #[default]
    Auto,
    /// `io_uring`, or an error.
    Uring,
    /// `epoll`.
    Epoll,
}

impl Choice {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Uring, Self::Epoll];

    /// Its name in flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Uring => "uring",
            Self::Epoll => "epoll",
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Choice {
    type Err = UnknownName;

    /// Reads what `Display` writes, and `io_uring`.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        match name {
            "io_uring" => Ok(Self::Uring),
            name => names::find("interface", &Self::ALL, Self::name, name),
        }
    }
}

/// How a ring is set up, the best first. A kernel that does not know a flag says so, and is asked
/// for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Setup {
    /// `COOP_TASKRUN | SINGLE_ISSUER | DEFER_TASKRUN`: completions are worked off when the thread
    /// enters the kernel for them, and at no other time (Linux 6.1).
    Deferred,
    /// `COOP_TASKRUN`: without interrupting the thread (Linux 5.19).
    Cooperative,
    /// No flags.
    Plain,
}

impl Setup {
    /// All of them, the best first.
    pub const ALL: [Self; 3] = [Self::Deferred, Self::Cooperative, Self::Plain];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Deferred => "coop|single|defer",
            Self::Cooperative => "coop",
            Self::Plain => "plain",
        }
    }
}

named!(Setup, "setup of a ring");

/// How a ring receives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Receives {
    /// By a request that goes on (Linux 6.0); where the kernel refuses that, as [`Self::Single`].
    #[default]
    Multishot,
    /// By a request each time.
    Single,
    /// As [`Self::Multishot`] on a kernel that refuses it, whichever this one is: for tests.
    Refused,
}

/// What a set of connections stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// `io_uring`, with a ring that is set up so.
    Uring(Setup),
    /// `epoll`, with a read and a write a connection.
    Epoll,
}

impl Backend {
    /// All of them, the best first.
    pub const ALL: [Self; 4] = [
        Self::Uring(Setup::Deferred),
        Self::Uring(Setup::Cooperative),
        Self::Uring(Setup::Plain),
        Self::Epoll,
    ];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Uring(Setup::Deferred) => "io_uring coop|single|defer",
            Self::Uring(Setup::Cooperative) => "io_uring coop",
            Self::Uring(Setup::Plain) => "io_uring plain",
            Self::Epoll => "epoll",
        }
    }
}

named!(Backend, "interface");

/// A step towards `io_uring` that the system refused.
#[derive(Debug, thiserror::Error)]
#[error("io_uring ({}): {error}{}", .setup.name(), .why.map_or(String::new(), |why| format!(" ({why})")))]
#[non_exhaustive]
pub struct Refused {
    /// The ring that was asked for.
    pub setup: Setup,
    /// What the system said.
    pub error: io::Error,
    /// What that means, where it is known.
    pub why: Option<&'static str>,
}

/// How long a turn may sleep when nothing is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Not at all: for a thread that polls in a loop. A look that finds nothing costs `io_uring`
    /// no system call.
    Poll,
    /// Until something happens, or for so long.
    For(Duration),
    /// Until something happens.
    Event,
}

/// Why there is no set of connections.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A setting that cannot be.
    #[error("{what} cannot be {given}: {least} to {most}{}", if *.what == "buffers" { ", a power of two" } else { "" })]
    Setting {
        /// Which one.
        what: &'static str,
        /// What it is.
        given: usize,
        /// The least that it can be.
        least: usize,
        /// The most.
        most: usize,
    },
    /// `io_uring` was asked for and no other, and the system refuses it.
    #[error("{0}")]
    Refused(Refused),
    /// The system refuses what every set of connections needs.
    #[error("cannot wait for connections: {0}")]
    System(#[from] io::Error),
}

/// Settings of a set of connections.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Which interface.
    pub choice: Choice,
    /// The best ring to ask for.
    pub setup: Setup,
    /// How a ring receives.
    pub receives: Receives,
    /// Connections at a time, 32,768 at most.
    pub connections_max: usize,
    /// Bytes of the longest message, as of [`Framer::with_limit`](crate::Framer::with_limit).
    pub message_bytes_max: usize,
    /// Bytes of the longest answer. A message is handed over only when its connection has room for
    /// such an answer: before that the connection is not read from.
    pub answer_bytes_max: usize,
    /// Bytes that are kept of a connection until they are sent, twice the longest answer at least.
    pub outbox_bytes: usize,
    /// Buffers that all connections receive into, a power of two up to 32,768.
    pub buffers: usize,
    /// Bytes of each. `epoll` has one buffer, of this size or 16 KiB if that is more.
    pub buffer_bytes: usize,
    /// Completions that have room at a time. More of them than that cost time, and none is lost.
    pub completions: usize,
    /// Whether to have the kernel keep the memory of what is to be sent at hand (registered
    /// buffers, zero-copy sends). What cannot be locked in memory is sent without.
    pub registered: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            choice: Choice::Auto,
            setup: Setup::Deferred,
            receives: Receives::Multishot,
            connections_max: 256,
            message_bytes_max: 64 << 10,
            answer_bytes_max: 8 << 10,
            outbox_bytes: 32 << 10,
            buffers: 256,
            buffer_bytes: 4 << 10,
            completions: 1024,
            registered: false,
        }
    }
}

impl Options {
    /// Sets [`choice`](Self#structfield.choice).
    #[must_use]
    pub fn choice(mut self, choice: Choice) -> Self {
        self.choice = choice;
        self
    }

    /// Sets [`setup`](Self#structfield.setup).
    #[must_use]
    pub fn setup(mut self, setup: Setup) -> Self {
        self.setup = setup;
        self
    }

    /// Sets [`receives`](Self#structfield.receives).
    #[must_use]
    pub fn receives(mut self, receives: Receives) -> Self {
        self.receives = receives;
        self
    }

    /// Sets [`connections_max`](Self#structfield.connections_max).
    #[must_use]
    pub fn connections_max(mut self, connections_max: usize) -> Self {
        self.connections_max = connections_max;
        self
    }

    /// Sets [`message_bytes_max`](Self#structfield.message_bytes_max).
    #[must_use]
    pub fn message_bytes_max(mut self, message_bytes_max: usize) -> Self {
        self.message_bytes_max = message_bytes_max;
        self
    }

    /// Sets [`answer_bytes_max`](Self#structfield.answer_bytes_max).
    #[must_use]
    pub fn answer_bytes_max(mut self, answer_bytes_max: usize) -> Self {
        self.answer_bytes_max = answer_bytes_max;
        self
    }

    /// Sets [`outbox_bytes`](Self#structfield.outbox_bytes).
    #[must_use]
    pub fn outbox_bytes(mut self, outbox_bytes: usize) -> Self {
        self.outbox_bytes = outbox_bytes;
        self
    }

    /// Sets [`buffers`](Self#structfield.buffers).
    #[must_use]
    pub fn buffers(mut self, buffers: usize) -> Self {
        self.buffers = buffers;
        self
    }

    /// Sets [`buffer_bytes`](Self#structfield.buffer_bytes).
    #[must_use]
    pub fn buffer_bytes(mut self, buffer_bytes: usize) -> Self {
        self.buffer_bytes = buffer_bytes;
        self
    }

    /// Sets [`completions`](Self#structfield.completions).
    #[must_use]
    pub fn completions(mut self, completions: usize) -> Self {
        self.completions = completions;
        self
    }

    /// Sets [`registered`](Self#structfield.registered).
    #[must_use]
    pub fn registered(mut self, registered: bool) -> Self {
        self.registered = registered;
        self
    }

    /// The most bytes that a connection makes a set keep: what waits to be sent, the longest
    /// message, and what was received beside it before the connection was paused.
    #[must_use]
    pub fn connection_bytes_max(&self) -> usize {
        let received = self.buffers.max(self.completions) * self.buffer_bytes;
        self.outbox_bytes + crate::framer::kept_bytes_max(self.message_bytes_max, received)
    }

    /// Whether these can be.
    pub(super) fn check(&self) -> Result<(), OpenError> {
        let largest = 1 << 30;
        let answers = self.answer_bytes_max.saturating_mul(2);
        let settings = [
            ("connections_max", self.connections_max, 1, CONNECTIONS_MAX),
            ("answer_bytes_max", self.answer_bytes_max, 1, largest / 2),
            ("outbox_bytes", self.outbox_bytes, answers, largest),
            ("buffers", self.buffers, 1, CONNECTIONS_MAX),
            ("buffer_bytes", self.buffer_bytes, 64, 1 << 24),
            ("completions", self.completions, 2, 1 << 16),
        ];
        for (what, given, least, most) in settings {
            let power = what != "buffers" || given.is_power_of_two();
            if !(least..=most).contains(&given) || !power {
                return Err(OpenError::Setting {
                    what,
                    given,
                    least,
                    most,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_settings_checked() {
        assert_eq!("uring".parse(), Ok(Choice::Uring));
        assert_eq!("epoll".parse(), Ok(Choice::Epoll));
        assert_eq!("auto".parse(), Ok(Choice::Auto));
        let error = "kqueue".parse::<Choice>().unwrap_err().to_string();
        assert!(
            error.contains("kqueue") && error.contains("epoll"),
            "{error}"
        );
        assert!(Options::default().check().is_ok());
        let none = Options::default().connections_max(0);
        let error = none.check().unwrap_err().to_string();
        assert_eq!(error, "connections_max cannot be 0: 1 to 32768");
        let small = Options::default().outbox_bytes(100);
        assert!(small.check().is_err());
    }
}
