//! `perfkit fix orders`: what became of each order.

mod chains;
pub(crate) mod flags;
mod follower;
mod remarks;
mod run;
mod watch;

pub(super) use run::run;
