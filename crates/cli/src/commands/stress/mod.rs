//! `perfkit stress`: codecs and pools under load.

#[cfg(feature = "workers")]
mod agents;
pub(crate) mod flags;
mod follow;
mod lines;
mod metrics;
pub(crate) mod run;

pub(crate) use run::run;
