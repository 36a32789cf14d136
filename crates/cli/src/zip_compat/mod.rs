//! perfkit under the names `zip`, `unzip` and `zipinfo`: their command lines, messages and exit codes.

mod ended;
mod matching;
mod newest;
mod program;
mod shown;
mod unzip;
mod words;
mod zip;

pub(crate) use program::{Name, run};
pub(crate) use unzip::HELP as UNZIP_HELP;
pub(crate) use zip::HELP as ZIP_HELP;
