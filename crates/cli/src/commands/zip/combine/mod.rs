//! `perfkit zip --merge` and `--split`: new archives of entries as they are.

mod combined;
pub(super) mod flags;
mod local;
#[cfg(feature = "cloud")]
mod remote;
mod run;
mod stale;

pub(super) use run::run;
