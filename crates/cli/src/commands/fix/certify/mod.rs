//! `perfkit fix certify`: scenarios of sessions driven against a FIX engine, and a verdict for each.

mod drive;
pub(crate) mod flags;
mod listening;
mod plan;
mod results;
mod run;

pub(super) use run::run;
