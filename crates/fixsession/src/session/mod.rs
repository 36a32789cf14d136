//! The session: a state machine that bytes, times and messages to send go into, and bytes, call-backs
//! and the next deadline come out of.
//!
//! `api` is what callers use. `core` has the state; `receive` checks what comes, in the order in which a
//! session has to; `logon`, `admin` and `application` handle it; `missing` asks for what is missing,
//! `resend` answers who asks; `send` numbers, stores and writes; `timers` does what time demands.

mod admin;
mod api;
mod application;
mod checked;
mod core;
mod logon;
mod missing;
mod output;
mod receive;
mod resend;
mod send;
mod timers;

pub use api::{Progress, SendError, Sent, Session, Status};
