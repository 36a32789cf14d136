//! `perfkit zip-bench`: the writer for files against the one for tokio.

pub(crate) mod flags;
mod memory;
pub(crate) mod run;

pub(crate) use run::run;
