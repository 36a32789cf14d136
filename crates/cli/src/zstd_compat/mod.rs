//! perfkit under the name `zstd` (and `unzstd`, `zstdcat`, `xz`, `lz4`, …): its command line and its messages.

pub(crate) mod flags;
mod messages;
mod pipes;
mod run;

pub(crate) use run::run;
