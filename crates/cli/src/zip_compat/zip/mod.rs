//! The program `zip`.

mod apply;
mod decide;
mod flags;
mod held;
mod help;
mod input;
mod log;
mod make;
mod options;
mod repair;
mod run;
mod say;
mod sources;
mod split;
mod values;
mod warnings;
mod write;

pub(crate) use help::HELP;
pub(super) use run::run;
