//! `perfkit fix-bench`: nanoseconds a message, by every instruction set.

pub(crate) mod flags;
pub(crate) mod run;
mod session;
pub(crate) mod session_flags;
mod shapes;

pub(crate) use run::run;
