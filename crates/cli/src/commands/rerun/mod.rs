//! `perfkit rerun`: the run that a report states, once more.

pub(crate) mod flags;
pub(crate) mod run;

pub(crate) use run::run;
