//! `perfkit report`: reports written before, rendered again, laid side by side, or added up.

pub(crate) mod flags;
pub(crate) mod run;

pub(crate) use run::run;
