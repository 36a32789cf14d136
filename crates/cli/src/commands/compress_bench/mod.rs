//! `perfkit compress-bench`: levels and recipes against each other on the user's data.

mod codec;
pub(crate) mod flags;
mod input;
mod matrix;
mod measure;
mod rank;
pub(crate) mod run;
mod runner;
mod tables;

pub(crate) use run::run;
