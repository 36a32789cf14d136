//! `perfkit fix orders`: what became of each order.

pub(crate) mod flags;
mod read;
mod run;
mod watch;

pub(super) use run::run;
