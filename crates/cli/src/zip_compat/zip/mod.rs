//! The program `zip`.

mod apply;
mod decide;
mod flags;
mod held;
mod help;
mod input;
mod make;
mod options;
mod run;
mod say;
mod sources;
mod warnings;
mod write;

pub(super) use run::run;
