//! `perfkit compress`.

pub(crate) mod flags;
pub(crate) mod run;
mod stage;
pub(crate) mod train;

pub(crate) use run::run;
