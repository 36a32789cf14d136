//! `perfkit advise`: which calls may run in an event loop on this machine, and how they affect it.

pub(crate) mod flags;
pub(crate) mod run;

pub(crate) use run::run;
