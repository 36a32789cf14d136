//! `perfkit compress --train`: a dictionary out of samples, and what it is worth on those of them

pub(crate) mod flags;
pub(crate) mod run;

pub(crate) use run::run;
