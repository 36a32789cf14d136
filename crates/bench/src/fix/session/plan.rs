//! What is measured, and how much of it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use fixcore::io::Choice;
use fixsession::engine::EngineOptions;

use crate::Error;

/// Sessions that an acceptor is asked to serve.
pub const SESSIONS_MAX: u32 = 4_000;

/// How the acceptor of fixsession carries and waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Transport {
    /// `epoll`; the thread sleeps.
    Epoll,
    /// `io_uring`; the thread sleeps.
    Uring,
    /// `epoll`; the thread never sleeps.
    Busy,
    /// `io_uring`; the thread never sleeps.
    BusyUring,
}

impl Transport {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Epoll, Self::Uring, Self::Busy, Self::BusyUring];

    /// Its name in tables and flags.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Epoll => "epoll",
            Self::Uring => "uring",
            Self::Busy => "busy",
            Self::BusyUring => "busy-uring",
        }
    }

    /// The options of an engine.
    pub(super) fn options(self) -> EngineOptions {
        let mut options = EngineOptions::default();
        options.interface = match self {
            Self::Epoll | Self::Busy => Choice::Epoll,
            Self::Uring | Self::BusyUring => Choice::Uring,
        };
        options.busy_poll = matches!(self, Self::Busy | Self::BusyUring);
        options
    }
}

impl FromStr for Transport {
    type Err = Error;

    /// Reads what [`name`](Self::name) gives.
    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|one| one.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::settings(format!("unknown transport '{name}': expected {names}"))
        })
    }
}

/// Another engine that accepts sessions and returns orders. It knows sessions of FIX 4.4 with the SenderCompID (49)
/// `SERVER` and the TargetCompID (56) `C1`, `C2` and so on, as it sends them.
#[derive(Debug, Clone)]
pub struct Other {
    /// Its name in tables.
    pub name: String,
    /// Where it listens.
    pub address: SocketAddr,
    /// Its process, whose memory is measured.
    pub pid: Option<u32>,
}

/// What is measured, and how much of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plan {
    /// Numbers of sessions, each measured on its own: up to [`SESSIONS_MAX`].
    pub sessions: Vec<u32>,
    /// How the acceptor of fixsession carries and waits.
    pub transports: Vec<Transport>,
    /// Another engine.
    pub other: Option<Other>,
    /// Messages of a turn with one message in flight in each session.
    pub messages: u32,
    /// Rounds in which each side has a turn.
    pub rounds: u32,
    /// Messages per second of all sessions together in the open loop; none without it.
    pub rate: Option<f64>,
    /// How long a turn of the open loop takes.
    pub duration: Duration,
    /// Messages that are sent again; 0 for none.
    pub resend: u32,
    /// Whether the acceptor keeps messages in the durable store; for what is sent again it always does.
    pub is_durable: bool,
    /// Where stores are made; the directory for temporary files by default.
    pub store_dir: Option<PathBuf>,
    /// Processors of the client and of the acceptor.
    pub cpus: Vec<u32>,
    /// What the orders of the turns are drawn from.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            sessions: vec![1, 64, 1_000],
            transports: Transport::ALL.to_vec(),
            other: None,
            messages: 20_000,
            rounds: 7,
            rate: Some(10_000.0),
            duration: Duration::from_secs(1),
            resend: 10_000,
            is_durable: false,
            store_dir: None,
            cpus: Vec::new(),
            seed: 1,
        }
    }
}
