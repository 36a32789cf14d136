//! `perfkit fix`: messages of logs and streams parsed, validated, printed and counted.

mod blocks;
mod crew;
mod diff;
mod faults;
pub(crate) mod flags;
mod generate;
mod input;
mod lines;
mod read;
mod replay;
pub(crate) mod run;
mod stats;
mod store;
pub(crate) mod store_flags;
mod texts;
mod veil;

pub(crate) use run::run;
