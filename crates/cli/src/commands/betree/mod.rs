//! `perfkit betree`: expressions from files, events from a file or a pipe, matches as they come.

mod build;
mod check;
mod explain;
pub(crate) mod flags;
mod generate;
mod lines;
mod lint;
mod matching;
mod print;
mod priorities;
pub(crate) mod run;
#[cfg(feature = "serve")]
mod serve;
mod snapshot;
mod worker;
#[cfg(feature = "workers")]
mod workers;

pub(crate) use run::run;
