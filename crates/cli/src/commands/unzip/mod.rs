//! `perfkit unzip`.

mod extract;
pub(crate) mod flags;
mod keys;
mod list;
mod pipe;
mod place;
pub(crate) mod run;

pub(crate) use run::run;
