//! perfkit under the names `gzip`, `gunzip`, `zcat` and `gzcat`: the command line, the files and the exit codes of gzip.
//!
//! [`flags`] parses, [`plan`] says which file becomes which, [`run`](mod@run) has perfkit's own transfers do that, and
//! [`list`] prints tables. Files are compressed by all processors; the bytes do not depend on it.

mod ended;
mod flags;
mod list;
mod name;
mod plan;
mod program;
mod run;

pub(crate) use ended::Code;
pub(crate) use flags::HELP;
pub(crate) use name::Name;
pub(crate) use program::run;
