//! `perfkit completions` and `perfkit man`: generated from the definition of the command line.

pub(crate) mod flags;
mod names;
pub(crate) mod run;
