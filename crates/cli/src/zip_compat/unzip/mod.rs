//! The programs `unzip` and `zipinfo`.

mod archives;
mod ask;
mod attributes;
mod backup;
mod choice;
mod climb;
mod contents;
mod extract;
mod flags;
mod info;
mod list;
mod open;
mod pages;
mod rows;
mod run;
mod selection;

pub(crate) use run::HELP;
pub(super) use run::run;
