//! Sessions under load: an acceptor of fixsession that returns orders, compared with a loop that returns the same
//! bytes, and with another engine.
//!
//! [`run()`] lets all sides take turns in random order. `acceptor` and `raw` are the sides that answer, `client` opens
//! sessions with any of them; `closed`, `open` and `resend` are what it does then. Every answer is compared with what
//! was sent.

mod acceptor;
mod client;
mod closed;
mod conversation;
mod line;
mod memory;
mod open;
mod plan;
mod raw;
mod resend;
mod run;
mod side;
mod tables;

pub use plan::{Other, Plan, SESSIONS_MAX, Transport};
pub use run::run;
