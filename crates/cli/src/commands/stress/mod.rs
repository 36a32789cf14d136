//! `perfkit stress`: codecs and pools under load.

pub(crate) mod flags;
mod lines;
mod metrics;
mod rank;
mod row;
pub(crate) mod run;
mod runner;
mod sweep;
mod tables;
mod turns;
mod verdict;

pub(crate) use run::run;
