//! `perfkit compress`.

mod adapt;
pub(crate) mod flags;
mod formats;
mod patch;
mod press;
pub(crate) mod run;
mod stage;
pub(crate) mod train;

pub(crate) use run::run;
