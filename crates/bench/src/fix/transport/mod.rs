//! What carries bytes: rings with and without flags, many connections by `io_uring` and by `epoll`,
//! and a round trip that polls beside a plain loop that does.

mod carry;
mod cpus;
mod rings;
mod round;
mod run;

pub(crate) use cpus::cpus;
pub(crate) use rings::flags;
pub(crate) use round::{Trips, serve_plain, turn};
pub(crate) use run::run;
