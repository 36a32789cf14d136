//! perfkit under the name `zstd` (and `unzstd`, `zstdcat`, `gunzip`, `zcat`): its command line and its messages.

pub(crate) mod flags;
mod messages;
mod run;

pub(crate) use run::run;
