//! `perfkit advise`: what may run in an event loop on this machine, and what it does to one.

pub(crate) mod flags;
pub(crate) mod run;

pub(crate) use run::run;
