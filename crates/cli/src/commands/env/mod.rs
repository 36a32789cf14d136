//! `perfkit env`: the machine as reports see it, and what measuring itself costs on it.

pub(crate) mod flags;
pub(crate) mod run;

pub(crate) use run::run;
