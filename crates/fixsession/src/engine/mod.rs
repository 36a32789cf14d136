//! Many sessions on one thread: connections, timers and schedules around the state machines (feature `net`, Linux).
//!
//! [`Engine::open`] makes sessions of settings, [`Engine::turn`] does what is due. Each turn takes a bounded number
//! of messages of each session, and a bounded time for those that are behind, so that one session cannot hold the
//! thread, and no timer waits for input or output. Sockets are read and written without blocking, over
//! [`fixcore::io::Streams`] (`epoll` or `io_uring`); accepting, reading Logons, looking up names and connecting are
//! done on threads of their own.
//!
//! Not here: what a session answers (`session`), what keys mean (`settings`).

mod check;
mod clock;
mod connection;
mod core;
mod dial;
mod dialing;
mod dictionaries;
mod ends;
mod error;
mod events;
mod first;
mod happening;
mod hosts;
mod listen;
mod lobby;
mod logged;
mod open;
mod options;
mod proxy;
mod scheduled;
mod slot;
mod status;
mod strangers;
mod timers;
mod timing;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "no_tls.rs"]
mod tls;
mod wake;
mod within;

pub use self::clock::{Clock, SystemClock};
pub use self::core::Engine;
pub use self::error::EngineError;
pub use self::happening::{Happening, Slow};
pub use self::options::EngineOptions;
pub use self::status::SessionState;
pub use self::timing::Timing;
