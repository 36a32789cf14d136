//! `perfkit explain`: how numbers are made and what they mean.

pub(crate) mod flags;
pub(crate) mod run;

pub(crate) use run::run;
