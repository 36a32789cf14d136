//! `perfkit report`: reports written before, rendered again, laid side by side, or added up.

mod combine;
pub(crate) mod flags;
mod load;
pub(crate) mod run;

pub(crate) use run::run;
