//! Options of a set of connections: its limits, its system interface, and why another was refused.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::Duration;

use crate::names::{self, UnknownName, named};

/// The most connections of a set: a slot and its operation share one word of the kernel's.
const CONNECTIONS_MAX: usize = 1 << 15;

/// Which system interface to use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// `io_uring` if the system allows it, else `epoll`.
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

/// How to set up a ring, the best first. If the kernel does not know a flag, the next setup is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Setup {
    /// `COOP_TASKRUN | SINGLE_ISSUER | DEFER_TASKRUN`: completions are processed when the thread
    /// enters the kernel for them, and at no other time (Linux 6.1).
    Deferred,
    /// `COOP_TASKRUN`: without interrupting the thread (Linux 5.19).
    Cooperative,
    /// No flags.
    Plain,
    /// `SQPOLL`: a thread of the kernel takes the requests. It occupies a processor while there are any, and so is
    /// never tried unless it was asked for; a kernel that refuses it gets no other setup.
    Polled,
}

impl Setup {
    /// All that are tried, the best first.
    pub const ALL: [Self; 3] = [Self::Deferred, Self::Cooperative, Self::Plain];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Deferred => "coop|single|defer",
            Self::Cooperative => "coop",
            Self::Plain => "plain",
            Self::Polled => "sqpoll",
        }
    }
}

named!(Setup, "setup of a ring");

/// How a ring receives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Receives {
    /// By one request for many receives (Linux 6.0); if the kernel refuses it, as [`Self::Single`].
    #[default]
    Multishot,
    /// By a request for each receive.
    Single,
    /// As [`Self::Multishot`] on a kernel that refuses it, whatever this kernel does: for tests.
    Refused,
}

/// The system interface of a set of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// `io_uring`, with a ring of this setup.
    Uring(Setup),
    /// `epoll`, with a read and a write for each connection.
    Epoll,
}

impl Backend {
    /// All that are tried, the best first.
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
            Self::Uring(Setup::Polled) => "io_uring sqpoll",
            Self::Epoll => "epoll",
        }
    }
}

named!(Backend, "interface");

/// An attempt at `io_uring` that the system refused.
#[derive(Debug, thiserror::Error)]
#[error("io_uring ({}): {error}{}", .setup.name(), .why.map_or(String::new(), |why| format!(" ({why})")))]
#[non_exhaustive]
pub struct Refused {
    /// The setup that was tried.
    pub setup: Setup,
    /// The system's error.
    pub error: io::Error,
    /// What the error means, if that is known.
    pub why: Option<&'static str>,
}

/// How long a turn may wait when nothing has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wait {
    /// Not at all, for a thread that polls in a loop. With `io_uring` a poll that finds nothing makes no
    /// system call.
    Poll,
    /// Until something happens, but at most this long.
    For(Duration),
    /// Until something happens.
    Event,
}

/// Why a set of connections could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// An option is out of range.
    #[error("{what} is {given}: must be {least} to {most}{}", if *.what == "buffers" { ", a power of two" } else { "" })]
    Setting {
        /// The option.
        what: &'static str,
        /// Its value.
        given: usize,
        /// The smallest allowed value.
        least: usize,
        /// The largest allowed value.
        most: usize,
    },
    /// [`Choice::Uring`] was asked for, and the system refuses it.
    #[error("{0}")]
    Refused(Refused),
    /// The system refuses what every interface needs.
    #[error("cannot wait for connections: {0}")]
    System(#[from] io::Error),
}

/// Options of a set of connections.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Which interface to use.
    pub choice: Choice,
    /// The best setup of a ring to try.
    pub setup: Setup,
    /// How a ring receives.
    pub receives: Receives,
    /// How many connections there may be at a time: up to 32,768.
    pub connections_max: usize,
    /// The longest message, in bytes, as for [`Framer::with_limit`](crate::Framer::with_limit).
    pub message_bytes_max: usize,
    /// The longest answer, in bytes. The handler gets a message only when its connection has room for
    /// such an answer; until then reading from the connection pauses.
    pub answer_bytes_max: usize,
    /// How many bytes a connection may have queued: at least twice the longest answer.
    pub outbox_bytes: usize,
    /// How many receive buffers all connections share: a power of two up to 32,768.
    pub buffers: usize,
    /// The size of each. `epoll` has one buffer, of this size or 16 KiB if that is more.
    pub buffer_bytes: usize,
    /// How many completions have room at a time. More than that cost time, but none is lost.
    pub completions: usize,
    /// Whether to register send buffers with the kernel (zero-copy sends). If they cannot be locked in
    /// memory, sends copy.
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

    /// The most memory that a connection takes: bytes to be sent, the longest message, and bytes
    /// received before the connection was paused.
    #[must_use]
    pub fn connection_bytes_max(&self) -> usize {
        let received = self.buffers.max(self.completions) * self.buffer_bytes;
        self.outbox_bytes + crate::framer::kept_bytes_max(self.message_bytes_max, received)
    }

    /// Checks that every option is in range.
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
        assert_eq!(error, "connections_max is 0: must be 1 to 32768");
        let small = Options::default().outbox_bytes(100);
        assert!(small.check().is_err());
    }
}
