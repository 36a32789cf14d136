//! `perfkit compare`: two reports, two columns of numbers, or two commands.

pub(crate) mod flags;
pub(crate) mod run;

pub(crate) use run::run;
