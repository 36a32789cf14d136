//! `perfkit decompress`: write, test (`-t`), or hand over to the listing (`-l`).

pub(crate) mod flags;
mod passing;
pub(crate) mod run;
mod stage;

pub(crate) use run::run;
