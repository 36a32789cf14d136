//! `perfkit fix`: messages of logs and streams parsed, validated, printed and counted.

mod conclude;
mod diff;
pub(crate) mod flags;
mod generate;
mod read;
mod replay;
pub(crate) mod run;
mod store;
pub(crate) mod store_flags;
mod tables;

pub(crate) use run::run;
