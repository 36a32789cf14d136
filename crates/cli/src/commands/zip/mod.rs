//! `perfkit zip`.

mod carry;
mod conclude;
pub(super) mod edit;
pub(crate) mod flags;
mod pack;
mod repair;
pub(crate) mod run;
mod sources;
mod verify;

pub(crate) use run::run;
