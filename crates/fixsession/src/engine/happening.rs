//! What happens to connections, for operators. What happens in a session is an `Event` of the application.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use crate::id::SessionId;

/// Why a connection that cannot be sent to is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Slow {
    /// More bytes wait than allowed.
    #[error("the peer does not read: {bytes} bytes wait, at most {most} may")]
    Unsent {
        /// How many bytes wait.
        bytes: usize,
        /// How many may.
        most: usize,
    },
    /// More messages wait than `MaxScheduledWriteRequests` allows.
    #[error(
        "the peer does not read: {messages} messages wait, at most {most} may (MaxScheduledWriteRequests)"
    )]
    Scheduled {
        /// How many messages wait.
        messages: usize,
        /// How many may.
        most: usize,
    },
    /// Nothing was sent for too long, although bytes wait.
    #[error("the peer read nothing for {} s, and {bytes} bytes wait", .time.as_secs())]
    Stuck {
        /// How many bytes wait.
        bytes: usize,
        /// For how long.
        time: Duration,
    },
}

/// What happened to a connection.
#[derive(Debug)]
#[non_exhaustive]
pub enum Happening {
    /// A connection was closed without an answer.
    TurnedAway {
        /// Its peer.
        peer: IpAddr,
        /// Why.
        why: TurnedAway,
    },
    /// So many further connections were closed without an answer, too fast to list them.
    MoreTurnedAway(u64),
    /// A session has a connection.
    Connected {
        /// Which session.
        id: Box<SessionId>,
        /// Its peer, if that is known.
        peer: Option<IpAddr>,
    },
    /// A connection could not be opened; another attempt follows.
    NotConnected {
        /// Which session.
        id: Box<SessionId>,
        /// The host and port.
        to: String,
        /// Why.
        error: io::Error,
        /// When the next attempt is made.
        retry: Duration,
    },
    /// A connection was closed because its peer does not read.
    Slow {
        /// Which session.
        id: Box<SessionId>,
        /// What waits.
        why: Slow,
    },
    /// A session's connection has ended.
    Disconnected {
        /// Which session.
        id: Box<SessionId>,
        /// The error that ended it.
        error: Option<io::Error>,
    },
    /// The store or the log of a session failed.
    Failed {
        /// Which session.
        id: Box<SessionId>,
        /// What failed.
        what: String,
    },
}

/// Why a connection was closed without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnedAway {
    /// No first message came in time.
    Silent,
    /// The first message is not a Logon that names both sides.
    NoLogon,
    /// There is no such session on this port.
    Unknown(Box<SessionId>),
    /// A session or template of this port fits, but does not state ids that the Logon has.
    Unstated {
        /// The session that the Logon names.
        id: Box<SessionId>,
        /// The line of the session or template.
        line: u32,
        /// The keys that would fit, such as `TargetSubID`.
        keys: Vec<&'static str>,
    },
    /// `AllowedRemoteAddresses` does not name the peer.
    NotAllowed(Box<SessionId>),
    /// The session has a connection already, which goes on.
    Duplicate(Box<SessionId>),
    /// The session is outside of its hours, or was logged out here.
    Closed(Box<SessionId>),
    /// A limit of this engine is reached.
    Full,
    /// Too many connections of its address wait for their Logon.
    Crowded,
    /// The peer closed the connection before a Logon was complete.
    Gone,
}

impl fmt::Display for TurnedAway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent => f.write_str("no Logon in time"),
            Self::NoLogon => f.write_str("the first message is not a valid Logon"),
            Self::Unknown(id) => write!(f, "unknown session {id}"),
            Self::Unstated { id, line, keys } => {
                let stated: Vec<String> = keys.iter().map(|key| format!("{key}=*")).collect();
                write!(
                    f,
                    "unknown session {id}: state {} in the template at line {line} to accept it",
                    stated.join(" and ")
                )
            }
            Self::NotAllowed(id) => write!(f, "AllowedRemoteAddresses of {id} does not name it"),
            Self::Duplicate(id) => write!(f, "{id} is connected already"),
            Self::Closed(id) => write!(f, "{id} is outside of its hours"),
            Self::Full => f.write_str("too many connections or sessions"),
            Self::Crowded => f.write_str("too many connections of this address have not logged on"),
            Self::Gone => f.write_str("it closed the connection before its Logon was complete"),
        }
    }
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TurnedAway { peer, why } => write!(f, "closed the connection of {peer}: {why}"),
            Self::MoreTurnedAway(1) => f.write_str("closed one more connection without a Logon"),
            Self::MoreTurnedAway(more) => {
                write!(f, "closed {more} more connections without a Logon")
            }
            Self::Connected {
                id,
                peer: Some(peer),
            } => write!(f, "{id}: connected with {peer}"),
            Self::Connected { id, peer: None } => write!(f, "{id}: connected"),
            Self::NotConnected {
                id,
                to,
                error,
                retry,
            } => {
                let seconds = retry.as_secs_f64();
                write!(
                    f,
                    "{id}: cannot connect to {to}: {error}; next attempt in {seconds:.1} s"
                )
            }
            Self::Slow { id, why } => write!(f, "{id}: {why}: disconnected"),
            Self::Disconnected { id, error: None } => write!(f, "{id}: disconnected"),
            Self::Disconnected {
                id,
                error: Some(error),
            } => write!(f, "{id}: disconnected: {error}"),
            Self::Failed { id, what } => write!(f, "{id}: {what}"),
        }
    }
}
