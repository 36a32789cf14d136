//! The programs `unzip` and `zipinfo`.

mod archives;
mod ask;
mod choice;
mod contents;
mod extract;
mod flags;
mod info;
mod list;
mod open;
mod rows;
mod run;
mod selection;

pub(super) use run::run;
