//! `perfkit compare`: two reports, two columns of numbers, or two commands.

mod files;
pub(crate) mod flags;
mod interleave;
mod judge;
pub(crate) mod run;

pub(crate) use run::run;
