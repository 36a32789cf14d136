//! `perfkit compress-bench`: levels and recipes against each other on the user's data.

pub(crate) mod flags;
mod input;
pub(crate) mod run;

pub(crate) use run::run;
