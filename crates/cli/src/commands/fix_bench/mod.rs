//! `perfkit fix-bench`: nanoseconds a message, by every instruction set; every answer compared with

mod deferred;
mod encode;
pub(crate) mod flags;
mod parse;
pub(crate) mod run;
mod scan;
mod sides;
mod spsc;
mod store;
mod techniques;
#[cfg(target_os = "linux")]
mod transport;

pub(crate) use run::run;
