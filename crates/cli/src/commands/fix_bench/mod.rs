//! `perfkit fix-bench`: nanoseconds a message, by every instruction set.

pub(crate) mod flags;
pub(crate) mod run;
mod shapes;

pub(crate) use run::run;
