//! `perfkit zip`.

mod carry;
mod conclude;
pub(super) mod edit;
mod entry_name;
pub(crate) mod flags;
mod listed;
mod pack;
mod repair;
pub(crate) mod run;
mod sources;
mod verify;

pub(crate) use run::run;
