//! perfkit under the names `xz`, `unxz`, `xzcat`, `lzma`, `unlzma` and `lzcat`: the command line, the files and the
//! exit codes of xz.
//!
//! [`flags`] parses, [`plan`] says which file becomes which, and [`run`](mod@run) has perfkit's own transfers do that.
//! [`list`] lists files by their indexes, as [`table`] shows them.

mod flags;
mod list;
mod plan;
mod run;
mod table;

pub(crate) use flags::{HELP, Name};
pub(crate) use run::run;
