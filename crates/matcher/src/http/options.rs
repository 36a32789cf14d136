//! What a server is asked to do, and its limits.

use std::time::Duration;

/// Limits of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerOptions {
    /// Threads that answer requests.
    pub threads: usize,
    /// Reductions after which a search lets other requests of its thread go on.
    pub budget: u64,
    /// Whether attributes of events that the domain lacks are skipped.
    pub ignore_unknown: bool,
    /// The most connections at a time; further ones are answered with status 503.
    pub connections_max: usize,
    /// How long a connection may go without a byte in the direction that is awaited: the head of a request, its
    /// body, or room for the answer.
    pub idle: Duration,
    /// How long requests may go on once the server is asked to stop.
    pub grace: Duration,
    /// The longest event, in bytes.
    pub event_bytes_max: usize,
    /// How long the search for an event may take, once the event is read, if its request says nothing else. It is
    /// looked at after each step of the budget. An event whose time is over is answered with an error.
    pub timeout: Option<Duration>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            budget: 20_000,
            ignore_unknown: false,
            connections_max: 4_096,
            idle: Duration::from_secs(60),
            grace: Duration::from_secs(10),
            event_bytes_max: 1 << 20,
            timeout: None,
        }
    }
}

/// The longest head of a request.
pub(super) const HEAD_BYTES_MAX: usize = 64 << 10;
/// Most headers of a request.
pub(super) const HEADERS_MAX: usize = 64;
