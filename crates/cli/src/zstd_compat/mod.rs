//! perfkit under the name `zstd` (and `unzstd`, `zstdcat`, `xz`, `lz4`, …): its command line and its messages.

mod bench;
mod cores;
pub(crate) mod flags;
mod messages;
mod pipes;
mod run;
mod trace;

pub(crate) use messages::help_text;
pub(crate) use run::run;
