//! `perfkit tour`: every component on generated data, checked and measured.

mod betree;
mod fix;
pub(crate) mod flags;
pub(crate) mod run;
mod stage;
mod store;
mod stress;
mod words;
mod zip;
mod zstd;

pub(crate) use run::run;
