//! `perfkit env`: the machine as reports show it, and the cost of measuring on it.

pub(crate) mod flags;
pub(crate) mod run;

pub(crate) use run::run;
