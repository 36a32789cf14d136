//! `perfkit fix health`: what became of the sessions of logs.

mod chart;
pub(crate) mod flags;
mod sessions;

pub(super) use sessions::Sessions;
