//! `perfkit completions` and `perfkit man`: documents made from the command line's own definition.

pub(crate) mod flags;
pub(crate) mod run;
