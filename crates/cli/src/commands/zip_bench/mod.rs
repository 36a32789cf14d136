//! `perfkit zip-bench`: the writer for files against the one for tokio.

mod beside;
pub(crate) mod flags;
mod memory;
mod pack;
pub(crate) mod run;

pub(crate) use run::run;
