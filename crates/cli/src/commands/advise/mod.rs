//! `perfkit advise`: what may run in an event loop on this machine, and what it does to one.

mod cost;
mod data;
pub(crate) mod flags;
pub(crate) mod run;
#[cfg(feature = "async")]
mod stall;

pub(crate) use run::run;
