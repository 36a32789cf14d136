//! `perfkit decompress`: writes, tests (`-t`) or lists (`-l`).

pub(crate) mod flags;
mod gzip;
pub(crate) mod only;
mod other;
mod passing;
mod patch;
pub(crate) mod run;
mod stage;

pub(crate) use run::run;
