//! `perfkit zip`.

mod carry;
mod combine;
mod conclude;
pub(super) mod edit;
mod entry_name;
pub(crate) mod flags;
mod listed;
mod moved;
mod pack;
mod plan;
mod refuse;
mod repair;
pub(crate) mod run;
mod sources;
mod verify;

pub(crate) use run::run;
