//! `perfkit betree-bench`: searches in one call against the same searches in slices.

pub(crate) mod flags;
pub(crate) mod run;
#[cfg(feature = "serve")]
mod serve;
mod shapes;

pub(crate) use run::run;
