//! The state of a session, as operators see it.

use std::net::IpAddr;
use std::time::Duration;

use crate::id::SessionId;
use crate::session::Status;

/// The state of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionState {
    /// Which session.
    pub id: SessionId,
    /// Where it is in its life.
    pub status: Status,
    /// The number of the next message to send.
    pub next_sender: u64,
    /// The number of the next message to receive.
    pub next_target: u64,
    /// The peer of its connection.
    pub peer: Option<IpAddr>,
    /// Since when it is logged on, on the monotonic clock.
    pub logged_on_since: Option<Duration>,
    /// Messages received and sent, of all connections.
    pub received: u64,
    /// Messages sent, of all connections.
    pub sent: u64,
    /// How many Logons succeeded.
    pub logons: u64,
    /// Whether it is within its hours.
    pub in_hours: bool,
    /// Whether it connects by itself.
    pub connects: bool,
    /// Why something was last refused, lost or ended: the text of an event, at most 200 characters.
    pub last_reason: Option<String>,
}
