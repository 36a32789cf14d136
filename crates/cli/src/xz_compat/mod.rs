//! perfkit under the names `xz`, `unxz`, `xzcat`, `lzma`, `unlzma` and `lzcat`: the command line, the files and the
//! exit codes of xz.
//!
//! [`flags`] parses, [`plan`] says which file becomes which, and [`run`](mod@run) has perfkit's own transfers do that.

mod flags;
mod plan;
mod run;

pub(crate) use flags::{HELP, Name};
pub(crate) use run::run;
