//! `perfkit zip`.

pub(super) mod edit;
pub(crate) mod flags;
mod pack;
mod repair;
pub(crate) mod run;
mod sources;

pub(crate) use run::run;
