//! `perfkit unzip`.

mod extract;
pub(crate) mod flags;
mod keys;
mod list;
mod messages;
mod objects;
mod observe;
mod one_entry;
pub(crate) mod run;

pub(crate) use run::run;
