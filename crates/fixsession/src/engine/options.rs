//! What an engine allows and how it waits.

use std::time::Duration;

use fixcore::io::Choice;

/// Options of an engine. The limits are those of Artio where it has them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EngineOptions {
    /// The system interface for connections. Default: `epoll`.
    pub interface: Choice,
    /// Whether the thread never sleeps: lower latency for a whole CPU. Default: no.
    pub busy_poll: bool,
    /// How many messages of a session are handled before the others have their turn. Default: 64.
    pub budget_messages: usize,
    /// How long a session may go on with what waits before the others have their turn. Each turn of a session handles
    /// one message at least. Default: 100 µs.
    pub turn_time_max: Duration,
    /// How many connections there may be at a time. Default: 4,096.
    pub connections_max: usize,
    /// How many connections may wait for their Logon, and how many of these may be of one address. Default: 1,024, and
    /// 256.
    pub strangers_max: usize,
    /// See [`strangers_max`](Self#structfield.strangers_max).
    pub strangers_of_an_address_max: usize,
    /// How many sessions templates may create. Default: 4,096.
    pub dynamic_sessions_max: usize,
    /// A connection whose first message does not come within this time is closed. Default: 5 s.
    pub first_message_timeout: Duration,
    /// Bytes of a first message. Default: 16 KiB.
    pub first_message_bytes_max: usize,
    /// A connection with more unsent bytes is closed. Default: 4 MiB.
    pub unsent_bytes_max: usize,
    /// A connection that takes no unsent byte for this time is closed. Default: 10 s.
    pub unsent_time_max: Duration,
    /// How long an attempt to connect may take. Default: 10 s.
    pub connect_timeout: Duration,
    /// How many attempts to connect may run at a time, each on a thread. Default: 16.
    pub connecting_max: usize,
    /// Whether to keep the time that each message and each call took, for [`Engine::timings`](super::Engine::timings).
    /// Default: no.
    pub timings: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            interface: Choice::Epoll,
            busy_poll: false,
            budget_messages: 64,
            turn_time_max: Duration::from_micros(100),
            connections_max: 4096,
            strangers_max: 1024,
            strangers_of_an_address_max: 256,
            dynamic_sessions_max: 4096,
            first_message_timeout: Duration::from_secs(5),
            first_message_bytes_max: 16 << 10,
            unsent_bytes_max: 4 << 20,
            unsent_time_max: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(10),
            connecting_max: 16,
            timings: false,
        }
    }
}
